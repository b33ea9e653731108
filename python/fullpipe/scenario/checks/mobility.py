"""Checks of mobility and route controllers, which few scenarios have."""

from collections.abc import Iterator, Sequence

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.checks.routes import in_order, place_problems
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.routing import Move, RouteController
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.graph import left_by, media_of_nodes
from fullpipe.scenario.network.parts import Network
from fullpipe.scenario.network.routes import BACKWARD, steers
from fullpipe.scenario.quantities import to_nanoseconds

# Checks of mobility: moving nodes and their media exist, and moves change routes of flows.


def mobility_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of moves. A node can move to a cell in which it is a station, or to one of its links."""
    moves, graph = scenario.mobility or (), scenario.topology
    if not moves:
        return
    if not isinstance(graph, Graph):
        yield 'mobility: only with topology.kind = "graph"'
        return
    if any(link.reroutes or link.alternate for link in graph.links):
        yield "mobility: links have reroutes or alternate, too; leave out mobility or these keys"
    for i, move in enumerate(moves):
        if move.node not in graph.known_nodes:
            hint = suggestion(move.node, graph.nodes[:20])
            yield f"mobility[{i}].node: unknown node {shown(move.node)}{hint}"
            continue
        media = list(dict.fromkeys(_media_of(scenario, graph, move.node)))
        if move.to not in media:
            hint = suggestion(move.to, media[:20]) if media else "; there is none"
            yield f"mobility[{i}].to: unknown cell or link {shown(move.to)} at {shown(move.node)}{hint}"
    yield from in_order("mobility", [move.at_s for move in moves])
    yield from _gap_problems(scenario, moves)


def _gap_problems(scenario: ScenarioModel, moves: Sequence[Move]) -> Iterator[str]:
    cellular = {cell.name for cell in scenario.cells or () if isinstance(cell, Cellular)}
    for i, move in enumerate(moves):
        if move.gap_s is not None and not {move.to, left_by(scenario, i)} <= cellular:
            yield f"mobility[{i}].gap: only from one LTE or NR cell to another; leave it out"


def idle_mobility_problems(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield nodes whose moves never change the route of any flow."""
    idle = idle_moves(scenario, network)
    working = {move.node for move in scenario.mobility or () if move not in idle.values()}
    for i, move in idle.items():
        if move.node not in working:
            remedy = 'add an earlier move to the medium that the node leaves, as in at = "0 s"'
            yield f"{told(i, move)}; {remedy}"
            working.add(move.node)


def idle_moves(scenario: ScenarioModel, network: Network) -> dict[int, Move]:
    """Return the moves without effect, by their index in `mobility`: moves at whose time no flow changes its
    route.

    A node's move at time 0 sets the medium with which the node starts. Such a move has an effect if the node
    has another medium.
    """
    changed_s = {reroute.at_s for routed in network.flows for reroute in routed.reroutes}
    media = media_of_nodes(scenario)
    return {
        i: move
        for i, move in enumerate(scenario.mobility or ())
        if move.at_s not in changed_s and (move.at_s > 0 or len(media[move.node]) == 1)
    }


def told(i: int, move: Move) -> str:
    """Return the line on a move without effect."""
    return f"mobility[{i}]: {shown(move.node)} moves to {shown(move.to)}, and no flow changes its route"


def _media_of(scenario: ScenarioModel, graph: Graph, node: str) -> Iterator[str]:
    """Yield the cells in which a node is a station, and the links that begin or end at the node."""
    for cell in scenario.cells or ():
        if any(station.node == node for station in cell.stations):
            yield cell.name
    for link in graph.links:
        if node in (link.source, link.target):
            yield link.known_as
            if link.duplex:
                yield f"{link.known_as}{BACKWARD}"


# Checks of route controllers: named flows and places exist, and nothing else reroutes their flows.


def route_controller_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield the mistakes of route controllers."""
    controllers, graph = scenario.route_controllers or (), scenario.topology
    if not controllers:
        return
    if not isinstance(graph, Graph):
        yield 'route_controllers: only with topology.kind = "graph"'
        return
    if scenario.mobility or any(link.reroutes or link.alternate for link in graph.links):
        yield "route_controllers: links or nodes change routes, too; leave out one of them"
    for i, controller in enumerate(controllers):
        for line in _of_controller(scenario, controller):
            yield f"route_controllers[{i}].{line}"
    for i, flow in enumerate(scenario.flows):
        by = [n for n, controller in enumerate(controllers) if steers(controller, flow)]
        if by and (flow.reroutes or flow.alternate):
            yield f"flows[{i}]: route_controllers[{by[0]}] steers it; leave out reroutes and alternate"
        if len(by) > 1:
            both = f"route_controllers[{by[0]}] and [{by[1]}]"
            yield f"flows[{i}]: {both} steer it; leave it to one of them"


def _of_controller(scenario: ScenarioModel, controller: RouteController) -> Iterator[str]:
    places = scenario.places()
    yield from place_problems(((f"via[{i}]", via) for i, via in enumerate(controller.vias)), places)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    if not interval_ns or to_nanoseconds(controller.every_s) % interval_ns:
        yield "every: counters are read with the samples; make it a multiple of record.interval"
    names = [flow.name for flow in scenario.flows if flow.name]
    for i, name in enumerate(controller.flows or ()):
        if name not in names:
            yield f"flows[{i}]: unknown flow {shown(name)}{suggestion(name, names)}"
