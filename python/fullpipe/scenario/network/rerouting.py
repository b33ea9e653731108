"""Routes of flows over time: their own changes, and those of the links that they cross."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.rerouting import Reroute, Ways, ways_of
from fullpipe.scenario.model.topology import GraphLink
from fullpipe.scenario.network.parts import Link, NewWay, Path
from fullpipe.scenario.network.shortest_paths import NoRouteError, Router


@dataclass(frozen=True)
class Replacement:
    """From a time on, what would cross a link crosses others instead."""

    at_s: float
    ways: Ways
    instead: Mapping[int, Path]


def replacements(
    described: Iterable[tuple[GraphLink, int]], links: Sequence[Link], router: Router, duration_s: float
) -> list[Replacement]:
    """Everything that is moved from one link to others, in the order of time.

    Args:
        described: Links as the scenario describes them, each with its number; that of the other direction
            of a duplex link is the next.
        links: As they are laid out.
        router: Finds the ways.
        duration_s: Of the run.

    Raises:
        ProblemsError: If the ends of a link are not connected by one of its ways.
    """
    found = []
    for i, (link, number) in enumerate(described):
        both = links[number : number + 1 + link.duplex]
        try:
            for way in ways_of(link, duration_s):
                instead = dict(enumerate(_instead(both, number, router, way), number))
                found.append(Replacement(way.at_s, way.ways, instead))
        except NoRouteError as error:
            raise ProblemsError(f"topology.links[{i}]: {error}") from None
    return sorted(found, key=lambda replaced: replaced.at_s)


def _instead(both: Sequence[Link], number: int, router: Router, way: Reroute) -> Iterator[Path]:
    """What is crossed instead of a link, and of its other direction if it has one."""
    there, *again = both
    yield router.route([there.source, *way.via, there.target]) if way.via else (number,)
    for back in again:
        yield router.back([back.target, *way.via, back.source]) if way.via else (number + 1,)


def new_ways(
    flow: Flow, router: Router, replaced: Sequence[Replacement], duration_s: float
) -> Iterator[NewWay]:
    """Every change of the way of a flow, in the order of time; at equal times its own come first.

    Raises:
        NoRouteError: If there is no such way.
    """
    planned = dict(zip(("data", "acks"), _both(flow, flow.via, router), strict=True))
    instead: dict[str, dict[int, Path]] = {"data": {}, "acks": {}}
    taken = dict(planned)
    changes: list[Reroute | Replacement] = [*ways_of(flow, duration_s), *replaced]
    for change in sorted(changes, key=lambda change: change.at_s):
        whose = ("data", "acks") if change.ways == "both" else (change.ways,)
        if isinstance(change, Replacement):
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
