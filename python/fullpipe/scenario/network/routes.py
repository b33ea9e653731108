"""Routes of flows: shortest paths, reroutes, and routes that controllers can choose."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.routing import RerouteModel, RouteController, Ways, reroutes_of
from fullpipe.scenario.model.topology import GraphLink
from fullpipe.scenario.network.parts import Link, Reroute, Route, Steering, Way

# Shortest paths through a graph of links and media.


BACKWARD = "-reverse"
"""Suffix of the name of a link's opposite direction."""


@dataclass(frozen=True)
class Edge:
    """A link, or a port of a medium together with a node that the port reaches."""

    source: str
    target: str
    delay_ns: int
    hop: int
    """Hop index of the link or port."""
    name: str
    """Name of the edge in `via`."""


_Step = tuple[str, int]
"""The previous node, and the index of the edge from the previous node."""


class NoRouteError(ValueError):
    """No route connects one node to the next."""


class Router:
    """Shortest paths by delay, then by number of edges, then by the order of edges."""

    def __init__(self, edges: Sequence[Edge]) -> None:
        self._edges = edges
        self._places = {edge.name: place for place, edge in enumerate(edges)}
        self._leaving: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
        for place, edge in enumerate(edges):
            self._leaving[edge.source].append((place, edge))
        self._trees: dict[str, dict[str, _Step]] = {}
        self._routes: dict[tuple[str, str], tuple[int, ...]] = {}

    def route(self, stops: Sequence[str]) -> tuple[int, ...]:
        """Return the hops from the first stop to the last through all stops in order.

        The first and the last stop are nodes; stops in between can also be links or ports.

        Raises:
            NoRouteError: If two stops are not connected in that direction.
        """
        hops: list[int] = []
        here = stops[0]
        for stop in stops[1:]:
            place = None if stop in self._leaving else self._places.get(stop)
            there = stop if place is None else self._edges[place].source
            hops.extend(self._shortest(here, there))
            here = there
            if place is not None:
                hops.append(self._edges[place].hop)
                here = self._edges[place].target
        return tuple(hops)

    def back(self, stops: Sequence[str]) -> tuple[int, ...]:
        """Return the route of ACKs, from the last stop to the first, over the opposite links.

        Raises:
            NoRouteError: If two stops are not connected in that direction, or a link has no opposite.
        """
        return self.route([self._opposite(stop) for stop in reversed(stops)])

    def _opposite(self, stop: str) -> str:
        if stop in self._leaving or stop not in self._places:
            return stop
        opposite = stop.removesuffix(BACKWARD) if stop.endswith(BACKWARD) else f"{stop}{BACKWARD}"
        if opposite not in self._places:
            raise NoRouteError(
                f'link "{stop}" has no way back for ACKs; make it duplex, or write ways = "data"'
            )
        return opposite

    def _shortest(self, source: str, target: str) -> tuple[int, ...]:
        """Return the shortest path. Raises NoRouteError."""
        if (source, target) not in self._routes:
            steps = self._from(source)
            if target != source and target not in steps:
                raise NoRouteError(f'no path of links leads from "{source}" to "{target}"')
            hops: list[int] = []
            here = target
            while here != source:
                here, place = steps[here]
                hops.append(self._edges[place].hop)
            self._routes[source, target] = tuple(reversed(hops))
        return self._routes[source, target]

    def _from(self, source: str) -> dict[str, _Step]:
        """Return the last step of the shortest path to every reachable node, by Dijkstra's algorithm."""
        if source not in self._trees:
            steps: dict[str, _Step] = {}
            costs, done = {source: (0, 0)}, set[str]()
            waiting = [(0, 0, source)]
            while waiting:
                delay_ns, hops, node = heapq.heappop(waiting)
                if node in done:
                    continue
                done.add(node)
                for place, edge in self._leaving[node]:
                    there, cost = edge.target, (delay_ns + edge.delay_ns, hops + 1)
                    known = costs.get(there, cost)
                    if there in done or cost > known:
                        continue
                    if there not in steps or cost < known or _is_before((node, place), steps[there], steps):
                        costs[there], steps[there] = cost, (node, place)
                        heapq.heappush(waiting, (*cost, there))
            self._trees[source] = steps
        return self._trees[source]


def _is_before(one: _Step, other: _Step, steps: Mapping[str, _Step]) -> bool:
    """Whether one of two paths of equal length takes the earlier edge where they diverge."""
    while one[0] != other[0]:
        one, other = steps[one[0]], steps[other[0]]
    return one[1] < other[1]


# Changes of the routes of flows: reroutes of the flows themselves, and reroutes of links that they cross.


@dataclass(frozen=True)
class Replacement:
    """A reroute of a link: from a time on, packets that would cross the link cross other hops instead."""

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
        router: Router that finds the routes.
        duration_s: Duration of the run.

    Raises:
        ProblemsError: If a reroute of a link does not connect the ends of the link.
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
    """Yield the route that replaces a link, and for a duplex link the route that replaces the opposite
    direction."""
    there, *again = both
    yield router.route([there.source, *reroute.via, there.target]) if reroute.via else (number,)
    for back in again:
        yield router.back([back.target, *reroute.via, back.source]) if reroute.via else (number + 1,)


def fixed_reroutes(
    flow: Flow, router: Router, replaced: Sequence[Replacement], duration_s: float
) -> Iterator[Reroute]:
    """Yield every change of a flow's routes in the order of time. At equal times, the flow's own reroutes are
    first.

    Raises:
        NoRouteError: If the route of a change does not exist.
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


# The routes from which route controllers choose.


def steers(controller: RouteController, flow: Flow) -> bool:
    """Whether a controller chooses the route of an entry of `flows`."""
    return controller.flows is None or flow.name in controller.flows


def steering(controllers: Sequence[RouteController], flow: Flow, router: Router) -> Steering | None:
    """Return the controller that chooses the route of a flow and the possible routes, or None.

    Raises:
        NoRouteError: If one of the possible routes does not exist.
    """
    for number, controller in enumerate(controllers):
        if steers(controller, flow):
            return Steering(number, tuple(_way(controller, via, flow, router) for via in controller.vias))
    return None


def _way(controller: RouteController, via: Sequence[str], flow: Flow, router: Router) -> Way:
    stops = [flow.source or "", *via, flow.target or ""]
    data = None if controller.ways == "acks" else router.route(stops)
    return Way(data, None if controller.ways == "data" else router.back(stops))
