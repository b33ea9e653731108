"""Checks of mobility: its nodes and media exist, and moves change routes of flows."""

from collections.abc import Iterator, Sequence

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.checks.order import in_order
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.mobility import Move
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.mobility import left_by, media_of_nodes
from fullpipe.scenario.network.parts import Network
from fullpipe.scenario.network.shortest_paths import BACKWARD


def mobility_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of moves. A node moves to a cell in which it is a station, or to a link of its own."""
    moves, graph = scenario.mobility or (), scenario.topology
    if not moves:
        return
    if not isinstance(graph, Graph):
        yield 'mobility: only with topology.kind = "graph"'
        return
    if any(link.reroutes or link.alternate for link in graph.links):
        yield "mobility: links have reroutes or take turns as well; leave out one of them"
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
            yield f'{_told(i, move)}; name the medium that it leaves, too, as in at = "0 s"'
            working.add(move.node)


def idle_move_notes(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield every move that changes no route."""
    yield from (_told(i, move) for i, move in idle_moves(scenario, network).items())


def idle_moves(scenario: ScenarioModel, network: Network) -> dict[int, Move]:
    """Return the moves at whose time no flow changes its route, by their index.

    A move at time 0 sets where a node begins. It counts as effective if the node has another medium.
    """
    changed_s = {reroute.at_s for routed in network.flows for reroute in routed.reroutes}
    media = media_of_nodes(scenario)
    return {
        i: move
        for i, move in enumerate(scenario.mobility or ())
        if move.at_s not in changed_s and (move.at_s > 0 or len(media[move.node]) == 1)
    }


def _told(i: int, move: Move) -> str:
    return f"mobility[{i}]: {shown(move.node)} moves to {shown(move.to)}, and no flow changes its route"


def _media_of(scenario: ScenarioModel, graph: Graph, node: str) -> Iterator[str]:
    """Yield the cells in which a node is a station, and the links that begin or end at it."""
    for cell in scenario.cells or ():
        if any(station.node == node for station in cell.stations):
            yield cell.name
    for link in graph.links:
        if node in (link.source, link.target):
            yield link.known_as
            if link.duplex:
                yield f"{link.known_as}{BACKWARD}"
