"""Shortest paths through a graph of links and media."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BACKWARD = "-reverse"
"""Suffix of the name of a link's opposite direction."""


@dataclass(frozen=True)
class Edge:
    """A link, or a port of a medium together with one node that it reaches."""

    source: str
    target: str
    delay_ns: int
    hop: int
    """Index of the link or port as a hop."""
    name: str
    """Name of the edge in `via`."""


_Step = tuple[str, int]
"""The previous node, and the index of the edge from it."""


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

        The first and the last stop are nodes; the others can also be links or ports.

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
        """Return the route of ACKs, from the last stop to the first, with opposite links.

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
                raise NoRouteError(f'no link leads from "{source}" to "{target}", directly or not')
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
