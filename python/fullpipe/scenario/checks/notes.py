"""Notes on a scenario: valid settings that are probably unintended.

Commands print the notes and run the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from fullpipe.scenario import catalogue
from fullpipe.scenario.checks.links import named_states
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network import resolve
from fullpipe.scenario.quantities import RATE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullpipe.scenario.model.cells.cellular import Cellular
    from fullpipe.scenario.model.flows import Flow
    from fullpipe.scenario.model.scenario import ScenarioModel
    from fullpipe.scenario.network.parts import Hop, Link, Network, Port


_MOST_NODES = 5
"""Maximum number of nodes that a note names."""


def notes_of(scenario: ScenarioModel) -> list[str]:
    """Return notes, one line each: changes after the end of the run, moves without effect, shapers with
    default values, queues that starve uploads, nodes without a link, and loads above 1."""
    end_s = scenario.duration_s
    lines: list[str] = []
    network = resolve(scenario, each=1)  # all flows of an entry give the same notes
    for link in network.links:
        lines += _late(f"{link.where}.changes", (change.at_s for change in link.changes), end_s)
    lines += _shaping_notes(network)
    if scenario.cells:
        lines += _grant_notes(scenario, network)
    if scenario.mobility:
        lines += _late("mobility", (move.at_s for move in scenario.mobility), end_s)
        lines += _idle_move_notes(scenario, network)
    moving = scenario.topology.links if isinstance(scenario.topology, Graph) else ()
    for i, described in enumerate(moving):
        times_s = (reroute.at_s for reroute in described.reroutes or ())
        lines += _late(f"topology.links[{i}].reroutes", times_s, end_s)
    lines += _idle_nodes(scenario, network)
    for i, flow in enumerate(scenario.flows):
        if _is_overloaded(flow):
            lines.append(f"flows[{i}].workload.load: more than 1: transfers accumulate until the end")
        lines += _late(f"flows[{i}].reroutes", (reroute.at_s for reroute in flow.reroutes or ()), end_s)
    return list(dict.fromkeys(lines))


def _idle_nodes(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """A note on nodes of a graph without a link and without a cell."""
    if isinstance(scenario.topology, Graph):
        used = {node for link in network.links for node in (link.source, link.target)}
        used |= {port.node for medium in network.media for port in medium.ports}
        idle = [node for node in scenario.topology.nodes if node not in used]
        if idle:
            more = f" and {len(idle) - _MOST_NODES:,} more" if len(idle) > _MOST_NODES else ""
            yield f"topology.nodes: no link begins or ends at {', '.join(idle[:_MOST_NODES])}{more}"


def _is_overloaded(flow: Flow) -> bool:
    if flow.workload is None:
        return False
    # imported here, as most flows have no workload
    from fullpipe.scenario.model.workloads.transfers import Poisson

    return isinstance(flow.workload, Poisson) and flow.workload.load is not None and flow.workload.load > 1


def _late(path: str, times_s: Iterable[float], end_s: float) -> Iterator[str]:
    for n, at_s in enumerate(times_s):
        if at_s >= end_s:
            yield f"{path}[{n}].at: {at_s:g} s is not before the end, {end_s:g} s: this change never happens"


# Notes on shapers: default rates and limits, and rate changes without effect.


_BUCKET = "tbf"
"""The shaper whose rate `changes` can set. By default, its backlog has no limit."""


def _shaping_notes(network: Network) -> Iterator[str]:
    """Yield notes on shapers with their default rate or limit, and on rate changes without effect."""
    for hop in network.hops:
        if isinstance(hop.queue, Discipline):
            yield from _left_out(hop, hop.queue)
    for link in network.links:
        yield from _hidden(link)


def _left_out(hop: Hop, queue: Discipline) -> Iterator[str]:
    where, entry = f"{hop.where}.queue", catalogue.queue(queue.kind)
    for param in entry.with_role("rate"):
        if param.default is not None and param.name not in queue.params:
            default = f"its default, {RATE.format(param.default)}, whatever the link's rate"
            yield f"{where}: {queue.kind} shapes to {default}; write {param.name}"
    limits = [param.name for param in entry.with_role("limit")]
    if queue.kind == _BUCKET and not queue.params.keys() & set(limits):
        yield f"{where}: {queue.kind} has no limit and never drops; write {' or '.join(limits)}"


def _hidden(link: Link) -> Iterator[str]:
    """Yield notes on rate changes without effect: a shaper gets a higher rate than the device that it feeds,
    or a wire gets a higher rate than the shaper in front of it."""
    queue = link.queue
    if not isinstance(queue, Discipline):
        return
    if queue.kind == _BUCKET and (link.rate_bps is None or link.device_packets is not None):
        whose, other, most_bps = f"the {queue.kind}", "the device that it feeds sends", link.rate_bps
    else:
        whose, other, most_bps = "the wire", f"the {queue.kind} in front of it passes", queue.rate_bps
    for place, state in named_states(link):
        if most_bps is not None and state.rate_bps is not None and state.rate_bps > most_bps:
            rate = f"{RATE.format(state.rate_bps)} is the new rate of {whose}"
            yield f"{link.where}.{place}.rate: {rate}, but {other} at most {RATE.format(most_bps)}"


# Notes on AQMs with a target delay below the grant delay of their uplink: such AQMs drop too many packets.


_RTTS_OF_CAKE = 20
"""Ratio of CAKE's RTT parameter to its target (Linux `cake_set_rate`)."""
_TARGETS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "codel": ("target_ms", lambda target_ms: target_ms),
    "fq_codel": ("target_ms", lambda target_ms: target_ms),
    "cake": ("rtt_ms", lambda rtt_ms: rtt_ms / _RTTS_OF_CAKE),
}
"""The parameter, by queue, from which the queue derives its target delay, and the function that converts the
parameter's value to this delay in ms."""


def _grant_notes(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield uplinks whose grant delay exceeds the target delay of their queue."""
    from fullpipe.scenario.model.cells.cellular import (
        Cellular,  # imported here, as most scenarios have no cells
    )

    for cell, medium in zip(scenario.cells or (), network.media, strict=True):
        if isinstance(cell, Cellular):
            for port in medium.ports[1::2]:
                yield from _too_short(cell, port)


def _too_short(cell: Cellular, port: Port) -> Iterator[str]:
    queue, uplink = port.queue, cell.uplink
    if not isinstance(queue, Discipline) or queue.kind not in _TARGETS:
        return
    name, target_of = _TARGETS[queue.kind]
    target_ms = target_of(float(queue.params.get(name, catalogue.queue(queue.kind).params[name].default)))
    least_ms, most_ms = 1e3 * uplink.grant_delay_s, 1e3 * (uplink.grant_delay_s + uplink.request_period_s)
    if target_ms < least_ms:
        enough = most_ms / target_of(1.0)
        yield (
            f"{port.where}.queue: {queue.kind} drops packets if the queueing delay stays above {target_ms:g} "
            f"ms, and a grant takes {least_ms:g} to {most_ms:g} ms, so uploads starve; write "
            f"{name} = {enough:g} or more"
        )


# Notes on moves without effect.


def _idle_move_notes(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield a note on every move that changes no route."""
    from fullpipe.scenario.checks.mobility import idle_moves, told  # imported here, as most have no moves

    yield from (told(i, move) for i, move in idle_moves(scenario, network).items())
