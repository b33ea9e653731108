"""Routes of flows of nodes that move from one medium to another."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.rerouting import reroutes_of
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network.parts import Reroute
from fullpipe.scenario.network.shortest_paths import BACKWARD, Edge, NoRouteError, Router


@dataclass(frozen=True)
class Attachment:
    """The routes that are valid from a time on."""

    at_s: float
    router: Router


def media_of_nodes(scenario: ScenarioModel) -> dict[str, list[str]]:
    """Return the media of every moving node: the cells in which it is a station, and links in `mobility`."""
    found: dict[str, dict[str, None]] = {move.node: {} for move in scenario.mobility or ()}
    for cell in scenario.cells or ():
        for station in cell.stations:
            if station.node in found:
                found[station.node][cell.name] = None
    for move in scenario.mobility or ():
        found[move.node][move.to] = None
    return {node: list(media) for node, media in found.items()}


def left_by(scenario: ScenarioModel, number: int) -> str | None:
    """Return the medium that a node leaves with an entry of `mobility`, or None if it is not unique."""
    moves = scenario.mobility or ()
    move = moves[number]
    before = [earlier.to for earlier in moves[:number] if earlier.node == move.node]
    media = before[-1:] or [medium for medium in media_of_nodes(scenario)[move.node] if medium != move.to]
    return media[0] if len(media) == 1 and media[0] != move.to else None


def attachments(scenario: ScenarioModel, edges: Sequence[Edge]) -> list[Attachment]:
    """Return the routers from time 0 and from every time at which nodes move, in the order of time."""
    media = media_of_nodes(scenario)
    cells = {cell.name for cell in scenario.cells or ()}
    places = {edge.name: place for place, edge in enumerate(edges)}
    owners = {
        (node, medium): frozenset(_edges_of(cells, places, node, medium))
        for node, all_of_them in media.items()
        for medium in all_of_them
    }
    moves = scenario.mobility or ()
    first = {move.node: move.to for move in reversed(moves)}
    lost = {node: owners[node, to] for node, to in first.items()}
    times_s = sorted({0.0, *(move.at_s for move in moves)})
    made: dict[frozenset[int], Router] = {}
    found = []
    for at_s in times_s:
        for move in (move for move in moves if move.at_s == at_s):
            others = (owners[move.node, medium] for medium in media[move.node] if medium != move.to)
            lost[move.node] = frozenset().union(*others)
        without: frozenset[int] = frozenset().union(*lost.values())
        if without not in made:
            made[without] = Router([edge for i, edge in enumerate(edges) if i not in without])
        found.append(Attachment(at_s, made[without]))
    return found


def mobile_reroutes(flow: Flow, found: Sequence[Attachment], duration_s: float) -> Iterator[Reroute]:
    """Yield every change of a flow's routes in the order of time: its own reroutes, and moves of nodes.

    Raises:
        NoRouteError: If no such route exists.
    """
    reroutes = list(reroutes_of(flow, duration_s))
    data, acks = flow.via, flow.via
    source, target = flow.source or "", flow.target or ""
    routers = {attached.at_s: attached.router for attached in found}
    router = found[0].router
    before = router.route([source, *data, target]), router.back([source, *acks, target])
    for at_s in sorted({*list(routers)[1:], *(reroute.at_s for reroute in reroutes)}):
        router = routers.get(at_s, router)
        for reroute in (reroute for reroute in reroutes if reroute.at_s == at_s):
            data = data if reroute.ways == "acks" else reroute.via
            acks = acks if reroute.ways == "data" else reroute.via
        try:
            now = router.route([source, *data, target]), router.back([source, *acks, target])
        except NoRouteError as error:
            raise NoRouteError(f"{error}, from {at_s:g} s on") from None
        if now != before:
            yield Reroute(at_s, *(new if new != old else None for new, old in zip(now, before, strict=True)))
        before = now


def _edges_of(cells: Container[str], places: Mapping[str, int], node: str, medium: str) -> Iterator[int]:
    """Yield the indices of the edges between a node and a medium, in both directions."""
    name = f"{medium}-{node}" if medium in cells else medium.removesuffix(BACKWARD)
    yield from (places[edge] for edge in (name, f"{name}{BACKWARD}") if edge in places)
