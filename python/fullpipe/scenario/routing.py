"""Shortest paths through a graph of links."""

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

BACKWARD = "-reverse"
"""How the name of a link's other direction ends."""


@dataclass(frozen=True)
class Edge:
    """A link as the router sees it; its number is its place in the list."""

    source: str
    target: str
    delay_ns: int


class NoRouteError(ValueError):
    """There is no way from one node to the next."""


class Router:
    """Shortest paths by delay, then by number of links, then by the order in which links are written."""

    def __init__(self, edges: Sequence[Edge], names: Sequence[str] = ()) -> None:
        self._edges = edges
        self._numbers = {name: number for number, name in enumerate(names)}
        self._leaving: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
        for number, edge in enumerate(edges):
            self._leaving[edge.source].append((number, edge))
        self._trees: dict[str, dict[str, tuple[int, ...]]] = {}

    def route(self, stops: Sequence[str]) -> tuple[int, ...]:
        """The numbers of the links from the first stop to the last, past all others in order.

        The first and the last are nodes, those between may be links.

        Raises:
            NoRouteError: If two stops are not connected in that direction.
        """
        links: list[int] = []
        here = stops[0]
        for stop in stops[1:]:
            number = None if stop in self._leaving else self._numbers.get(stop)
            there = stop if number is None else self._edges[number].source
            if there not in self._from(here):
                raise NoRouteError(f'no link leads from "{here}" to "{there}", directly or not')
            links.extend(self._from(here)[there])
            here = there
            if number is not None:
                links.append(number)
                here = self._edges[number].target
        return tuple(links)

    def back(self, stops: Sequence[str]) -> tuple[int, ...]:
        """The way of the ACKs: from the last stop to the first, links the other way round.

        Raises:
            NoRouteError: If two stops are not connected in that direction, or a link has no other direction.
        """
        return self.route([self._opposite(stop) for stop in reversed(stops)])

    def _opposite(self, stop: str) -> str:
        if stop in self._leaving or stop not in self._numbers:
            return stop
        opposite = stop.removesuffix(BACKWARD) if stop.endswith(BACKWARD) else f"{stop}{BACKWARD}"
        if opposite not in self._numbers:
            raise NoRouteError(
                f'link "{stop}" has no way back for ACKs; make it duplex, or write ways = "data"'
            )
        return opposite

    def _from(self, source: str) -> dict[str, tuple[int, ...]]:
        """The shortest path to every node that can be reached, by Dijkstra's algorithm."""
        if source not in self._trees:
            found: dict[str, tuple[int, ...]] = {}
            waiting: list[tuple[int, int, tuple[int, ...], str]] = [(0, 0, (), source)]
            while waiting:
                delay_ns, hops, links, node = heapq.heappop(waiting)
                if node in found:
                    continue
                found[node] = links
                for number, edge in self._leaving[node]:
                    if edge.target not in found:
                        step = (delay_ns + edge.delay_ns, hops + 1, (*links, number), edge.target)
                        heapq.heappush(waiting, step)
            self._trees[source] = found
        return self._trees[source]
