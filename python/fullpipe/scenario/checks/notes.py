"""Notes on scenarios: valid but probably unintended settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullpipe.scenario.checks.shaping import shaping_notes
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullpipe.scenario.model.flows import Flow
    from fullpipe.scenario.model.scenario import ScenarioModel
    from fullpipe.scenario.network import Network


def notes_of(scenario: ScenarioModel) -> list[str]:
    """Return one line for each of these: changes after the end of the run, moves without effect, shapers left
    at their defaults, queues that starve uploads, and loads above 1."""
    end_s = scenario.duration_s
    lines: list[str] = []
    network = resolve(scenario, each=1)  # flows of an entry are alike, as are the links at their hosts
    for link in network.links:
        lines += _late(f"{link.where}.changes", (change.at_s for change in link.changes), end_s)
    lines += shaping_notes(network)
    lines += _of_cells_and_moves(scenario, network)
    moving = scenario.topology.links if isinstance(scenario.topology, Graph) else ()
    for i, described in enumerate(moving):
        times_s = (reroute.at_s for reroute in described.reroutes or ())
        lines += _late(f"topology.links[{i}].reroutes", times_s, end_s)
    for i, flow in enumerate(scenario.flows):
        if _is_overloaded(flow):
            lines.append(f"flows[{i}].workload.load: more than 1: transfers accumulate until the end")
        lines += _late(f"flows[{i}].reroutes", (reroute.at_s for reroute in flow.reroutes or ()), end_s)
    return list(dict.fromkeys(lines))


def _is_overloaded(flow: Flow) -> bool:
    if flow.workload is None:
        return False
    from fullpipe.scenario.model.workloads.transfers import Poisson  # here: most flows have no workload

    return isinstance(flow.workload, Poisson) and flow.workload.load is not None and flow.workload.load > 1


def _of_cells_and_moves(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    if scenario.cells:
        from fullpipe.scenario.checks.grants import grant_notes  # here, as below: most scenarios have none

        yield from grant_notes(scenario, network)
    if scenario.mobility:
        from fullpipe.scenario.checks.mobility import idle_move_notes

        yield from _late("mobility", (move.at_s for move in scenario.mobility), scenario.duration_s)
        yield from idle_move_notes(scenario, network)


def _late(path: str, times_s: Iterable[float], end_s: float) -> Iterator[str]:
    for n, at_s in enumerate(times_s):
        if at_s >= end_s:
            yield f"{path}[{n}].at: {at_s:g} s is not before the end, {end_s:g} s: it never happens"
