"""Checks of the size of a scenario: steps, routes, rows and captured packets.

Steps, reroutes and rows are counted before they are generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullpipe import _native
from fullpipe.algorithms import classes
from fullpipe.errors import ScenarioError
from fullpipe.scenario.checks.links import links_of
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.model.routing import reroute_count
from fullpipe.scenario.model.topology import Dumbbell, Graph
from fullpipe.scenario.network.parts import Hop, Network, Port
from fullpipe.scenario.quantities import NANOSECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fullpipe.scenario.model.flows import Flow
    from fullpipe.scenario.model.scenario import ScenarioModel


MAX_STEPS = 1_000_000
"""Maximum number of steps of all links together."""
MAX_REROUTES = 200_000
MAX_MOVED = 100_000_000
"""Maximum of (number of moves) x (number of hops of the graph) x (number of end nodes of flows). Each move
needs a shortest-path search over all hops, from every end node."""
MAX_ROWS = _native.MAX_ROWS
"""Maximum number of rows of a sampled table."""
MAX_CAPTURED = 20_000_000
"""Maximum number of captured packets of a run, counted once per capture point. Each captured packet takes
about 150 B of memory."""
MAX_QUEUE_VARIABLES = 4
"""Maximum number of variables that a queue publishes."""
PORT_VARIABLES = 2
"""Number of variables of a port of a medium, without the variables of its queue."""
MAX_VARIABLES = 24
"""Upper bound of the variables of a connection, states included, for all algorithms of the registry."""
OWN_VARIABLES = 3
"""Number of variables of an algorithm written in Python besides its traced attributes: window, threshold and
state."""
MAX_WORK = 10_000_000
"""Maximum work for checking all points of a sweep, in the units of `work_of` (about 4 us)."""


def too_many_steps(scenario: ScenarioModel) -> Iterator[str]:
    """Yield a mistake if links change too often."""
    counts = list(_steps(scenario))
    total = sum(number for number, _ in counts)
    if total > MAX_STEPS:
        most, where = max(counts)
        makes = f"makes {most:,.0f} steps" if most > MAX_STEPS else f"makes most of the {total:,.0f} steps"
        yield f"{where}: {makes}, more than {MAX_STEPS:,}; use fewer changes, or shorten the run"


def too_many_reroutes(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes if routes change or nodes move too often."""
    changes = _reroutes(scenario)
    if changes > MAX_REROUTES:
        yield (
            f"flows: {changes:,.0f} changes of routes are more than {MAX_REROUTES:,} in all; lengthen "
            "alternate.every of flows and links, or shorten the run"
        )
    moves, hops = len(scenario.mobility or ()), _described_hops(scenario)
    ends = len({end for flow in scenario.flows for end in (flow.source, flow.target)})
    made = moves * hops * ends
    if made > MAX_MOVED:
        what = f"{moves:,} moves x {hops:,} links and ports x {ends:,} end nodes of flows"
        yield f"mobility: {what} = {made:,}, more than {MAX_MOVED:,}; leave some moves out"


def too_many_rows(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield mistakes if samples, variables or probes exceed `MAX_ROWS`. Rows for changes of an algorithm's
    state do not count."""
    probes = sum(_probes(scenario, flow) for flow in scenario.flows)
    if probes > MAX_ROWS:
        yield f"flows: {probes:,.0f} probes are more than {MAX_ROWS:,}; lengthen their intervals"
    every_s = scenario.record.interval_s
    if not every_s:
        return
    samples = scenario.duration_s / every_s
    rows = samples * (sum(flow.count for flow in scenario.flows) + _over_hops(scenario, network, _one))
    if rows > MAX_ROWS:
        yield f'record.interval: {rows:,.0f} samples are more than {MAX_ROWS:,}; lengthen it or write "off"'
    elif scenario.record.variables and rows + samples * _variables(scenario, network) > MAX_ROWS:
        rows += samples * _variables(scenario, network)
        yield (
            f"record.variables: up to {rows:,.0f} rows are more than {MAX_ROWS:,}; lengthen the interval, or "
            "leave them out"
        )


def check_grown(packets: int, variables: int, at_s: float) -> None:
    """Stop a run with too many captured packets or rows of variables. The numbers are known only during the
    run.

    Raises:
        ScenarioError: If there are more than `MAX_CAPTURED` packets, or `MAX_ROWS` rows of variables.
    """
    if variables > MAX_ROWS:
        observed = f"record.variables: {variables:,} rows were recorded by {at_s:g} s"
        what_to_do = "lengthen record.interval, or leave them out"
        raise ScenarioError([f"{observed}, more than {MAX_ROWS:,}; {what_to_do}"])
    if packets > MAX_CAPTURED:
        captured = f"record.packets: {packets:,} packets were captured by {at_s:g} s"
        what_to_do = "shorten the run, or capture at fewer points"
        raise ScenarioError([f"{captured}, more than {MAX_CAPTURED:,}; {what_to_do}"])


def work_of(scenario: ScenarioModel) -> float:
    """Return the work of resolving a scenario, in units of about 4 us."""
    hops = (1 + len(scenario.mobility or ())) * _described_hops(scenario)
    flows = sum(10 + flow.count for flow in scenario.flows)
    return 200 + flows + 10 * hops + _reroutes(scenario) + sum(number for number, _ in _steps(scenario))


def _described_hops(scenario: ScenarioModel) -> int:
    """Return the number of links, plus network interfaces, plus two hops for every station of a cell."""
    links = 2 if isinstance(scenario.topology, Dumbbell) else len(scenario.topology.links)
    return links + len(scenario.hosts or ()) + 2 * sum(len(cell.stations) for cell in scenario.cells or ())


def _reroutes(scenario: ScenarioModel) -> int:
    """Return the number of route changes: the reroutes of every flow, plus, for every flow, the reroutes of
    all links and all moves of nodes."""
    graph = scenario.topology
    if not isinstance(graph, Graph):
        return 0
    moves = sum(reroute_count(link, scenario.duration_s) for link in graph.links)
    moves += len(scenario.mobility or ())
    return sum(flow.count * (moves + reroute_count(flow, scenario.duration_s)) for flow in scenario.flows)


def _steps(scenario: ScenarioModel) -> Iterator[tuple[float, str]]:
    """Yield the number of steps of each part of a link, with the path of the part in the scenario."""
    changing = [(where, link) for where, link in links_of(scenario.topology) if link.is_changing]
    if not changing:
        return
    from fullpipe.scenario.network.timeline import step_counts  # imported here, as most links do not change

    for where, link in changing:
        yield from ((n, f"{where}.{part}") for part, n in step_counts(link, scenario.duration_s))


def _over_hops(scenario: ScenarioModel, network: Network, rows: Callable[[Hop], int]) -> int:
    """Return the rows per sample of all links and ports, including the host links of every flow of an
    entry."""
    of_hop = [rows(hop) for hop in network.hops]
    if isinstance(scenario.topology, Graph):
        return sum(of_hop)
    of_hosts = {i for i, link in enumerate(network.links) if link.host_stream is not None}
    shared = set(range(len(of_hop))) - of_hosts
    own = {
        id(routed.flow): sum(of_hop[i] for i in {*routed.forward, *routed.reverse} - shared)
        for routed in network.flows
    }
    return sum(of_hop[i] for i in shared) + sum(flow.count * own[id(flow)] for flow in scenario.flows)


def _one(_: Hop) -> int:
    return 1


def _variables(scenario: ScenarioModel, network: Network) -> int:
    """Return an upper bound of the rows of the table `variables` per sample, for one connection per flow.

    Changes of state between samples add rows.
    """
    of_flows = sum(flow.count * _variables_of(flow.cca.kind) for flow in scenario.flows if flow.cca)
    return of_flows + _over_hops(scenario, network, _variables_of_hop)


def _variables_of_hop(hop: Hop) -> int:
    of_queue = MAX_QUEUE_VARIABLES if isinstance(hop.queue, Discipline) else 0
    return of_queue + (PORT_VARIABLES if isinstance(hop, Port) else 0)


def _variables_of(kind: str) -> int:
    own = classes.find(kind)
    return MAX_VARIABLES if own is None else OWN_VARIABLES + len(own.traced)


def _probes(scenario: ScenarioModel, flow: Flow) -> float:
    """Return the number of rows that a flow adds to the table `probes`."""
    datagrams = flow.datagrams
    if datagrams is None or not datagrams.each:
        return 0.0
    return flow.count * scenario.duration_s * NANOSECONDS / datagrams.interval_ns
