"""Changes of the routes of flows: their own reroutes, and those of the links that they cross."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.rerouting import RerouteModel, Ways, reroutes_of
from fullpipe.scenario.model.topology import GraphLink
from fullpipe.scenario.network.parts import Link, Reroute, Route
from fullpipe.scenario.network.shortest_paths import NoRouteError, Router


@dataclass(frozen=True)
class Replacement:
    """A reroute of links: from a time on, packets that would cross a link cross other hops instead."""

    at_s: float
    ways: Ways
    instead: Mapping[int, Route]


def replacements(
    described: Iterable[tuple[GraphLink, int]], links: Sequence[Link], router: Router, duration_s: float
) -> list[Replacement]:
    """Return all reroutes of links in the order of time.

    Args:
        described: Links of the scenario, each with its index in `links`. The opposite direction of a duplex
            link has the next index.
        links: The links of the network.
        router: Finds the routes.
        duration_s: Duration of the run.

    Raises:
        ProblemsError: If the ends of a link are not connected by one of its reroutes.
    """
    found = []
    for i, (link, number) in enumerate(described):
        both = links[number : number + 1 + link.duplex]
        try:
            for reroute in reroutes_of(link, duration_s):
                instead = dict(enumerate(_instead(both, number, router, reroute), number))
                found.append(Replacement(reroute.at_s, reroute.ways, instead))
        except NoRouteError as error:
            raise ProblemsError(f"topology.links[{i}]: {error}") from None
    return sorted(found, key=lambda replaced: replaced.at_s)


def _instead(both: Sequence[Link], number: int, router: Router, reroute: RerouteModel) -> Iterator[Route]:
    """Yield the route that replaces a link, and the one that replaces its opposite if it is duplex."""
    there, *again = both
    yield router.route([there.source, *reroute.via, there.target]) if reroute.via else (number,)
    for back in again:
        yield router.back([back.target, *reroute.via, back.source]) if reroute.via else (number + 1,)


def fixed_reroutes(
    flow: Flow, router: Router, replaced: Sequence[Replacement], duration_s: float
) -> Iterator[Reroute]:
    """Yield every change of a flow's routes in the order of time. At equal times, its own reroutes are first.

    Raises:
        NoRouteError: If no such route exists.
    """
    planned = dict(zip(("data", "acks"), _both(flow, flow.via, router), strict=True))
    instead: dict[str, dict[int, Route]] = {"data": {}, "acks": {}}
    taken = dict(planned)
    changes: list[RerouteModel | Replacement] = [*reroutes_of(flow, duration_s), *replaced]
    for change in sorted(changes, key=lambda change: change.at_s):
        whose = ("data", "acks") if change.ways == "both" else (change.ways,)
        if isinstance(change, Replacement):
            for kind in whose:
                instead[kind].update(change.instead)
        else:
            planned |= _planned(flow, change, router)
        now = {kind: _moved(planned[kind], instead[kind]) for kind in whose}
        if isinstance(change, RerouteModel) or any(taken[kind] != route for kind, route in now.items()):
            yield Reroute(change.at_s, now.get("data"), now.get("acks"))
        taken |= now


def _both(flow: Flow, via: Sequence[str], router: Router) -> tuple[Route, Route]:
    stops = [flow.source or "", *via, flow.target or ""]
    return router.route(stops), router.back(stops)


def _planned(flow: Flow, reroute: RerouteModel, router: Router) -> dict[str, Route]:
    stops = [flow.source or "", *reroute.via, flow.target or ""]
    data = {} if reroute.ways == "acks" else {"data": router.route(stops)}
    return data if reroute.ways == "data" else {**data, "acks": router.back(stops)}


def _moved(route: Route, instead: Mapping[int, Route]) -> Route:
    return tuple(number for link in route for number in instead.get(link, (link,)))
