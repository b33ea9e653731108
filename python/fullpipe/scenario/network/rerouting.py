"""The ways of flows over time: their own changes, and those of the links that they cross."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.rerouting import Reroute, Ways, ways_of
from fullpipe.scenario.model.topology import GraphLink
from fullpipe.scenario.network.parts import NewWay, Path
from fullpipe.scenario.network.shortest_paths import NoRouteError, Router


@dataclass(frozen=True)
class Move:
    """From a time on, what would cross a link crosses others instead."""

    at_s: float
    ways: Ways
    instead: Mapping[int, Path]


def moves_of(
    links: Sequence[GraphLink], numbers: Sequence[int], router: Router, duration_s: float
) -> list[Move]:
    """Everything that is moved from one link to others, in the order of time.

    Args:
        links: As the scenario describes them.
        numbers: Of each of them; that of the other direction of a duplex link is the next.
        router: Finds the ways.
        duration_s: Of the run.

    Raises:
        ProblemsError: If the ends of a link are not connected by one of its ways.
    """
    found = []
    for i, (link, number) in enumerate(zip(links, numbers, strict=True)):
        try:
            for way in ways_of(link, duration_s):
                found.append(Move(way.at_s, way.ways, dict(_instead(link, number, router, way))))
        except NoRouteError as error:
            raise ProblemsError(f"topology.links[{i}]: {error}") from None
    return sorted(found, key=lambda move: move.at_s)


def _instead(link: GraphLink, number: int, router: Router, way: Reroute) -> Iterator[tuple[int, Path]]:
    stops = [link.source, *way.via, link.target]
    yield number, router.route(stops) if way.via else (number,)
    if link.duplex:
        yield number + 1, router.back(stops) if way.via else (number + 1,)


def new_ways(flow: Flow, router: Router, moves: Sequence[Move], duration_s: float) -> Iterator[NewWay]:
    """Every change of the way of a flow, in the order of time; at equal times its own come first.

    Raises:
        NoRouteError: If there is no such way.
    """
    planned = dict(zip(("data", "acks"), _both(flow, flow.via, router), strict=True))
    instead: dict[str, dict[int, Path]] = {"data": {}, "acks": {}}
    taken = dict(planned)
    changes: list[Reroute | Move] = [*ways_of(flow, duration_s), *moves]
    for change in sorted(changes, key=lambda change: change.at_s):
        whose = ("data", "acks") if change.ways == "both" else (change.ways,)
        if isinstance(change, Move):
            for kind in whose:
                instead[kind].update(change.instead)
        else:
            planned |= _planned(flow, change, router)
        now = {kind: _moved(planned[kind], instead[kind]) for kind in whose}
        if isinstance(change, Reroute) or any(taken[kind] != path for kind, path in now.items()):
            yield NewWay(change.at_s, now.get("data"), now.get("acks"))
        taken |= now


def _both(flow: Flow, via: Sequence[str], router: Router) -> tuple[Path, Path]:
    stops = [flow.source or "", *via, flow.target or ""]
    return router.route(stops), router.back(stops)


def _planned(flow: Flow, way: Reroute, router: Router) -> dict[str, Path]:
    stops = [flow.source or "", *way.via, flow.target or ""]
    data = {} if way.ways == "acks" else {"data": router.route(stops)}
    return data if way.ways == "data" else {**data, "acks": router.back(stops)}


def _moved(path: Path, instead: Mapping[int, Path]) -> Path:
    return tuple(number for link in path for number in instead.get(link, (link,)))
