"""Shortest paths through a graph of links."""

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


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

    def __init__(self, edges: Sequence[Edge]) -> None:
        self._leaving: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
        for number, edge in enumerate(edges):
            self._leaving[edge.source].append((number, edge))
        self._trees: dict[str, dict[str, tuple[int, ...]]] = {}

    def route(self, stops: Sequence[str]) -> tuple[int, ...]:
        """The numbers of the links from the first stop to the last, past all others in order.

        Raises:
            NoRouteError: If two stops are not connected in that direction.
        """
        links: list[int] = []
        for here, there in pairwise(stops):
            if there not in self._from(here):
                raise NoRouteError(f'no link leads from "{here}" to "{there}", directly or not')
            links.extend(self._from(here)[there])
        return tuple(links)

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
