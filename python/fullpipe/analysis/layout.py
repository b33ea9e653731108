"""The layout of a network in a drawing: a column and a place for each node, and the nodes of each route."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fullpipe.scenario import Network
from fullpipe.scenario.network.parts import Hop, Link, Port, RoutedFlow

_SWEEPS = 4
"""Number of passes. Each pass sorts the nodes of every column by the places of their neighbours."""

_Edge = tuple[str, str]


@dataclass(frozen=True)
class Layout:
    """Nodes and routes of a drawing."""

    columns: Mapping[str, int]
    """Column of each node by its name; data goes from left to right."""
    places: Mapping[str, float]
    """Position of each node in its column, in steps of 1; the middle of the column is 0."""
    routes: Sequence[Sequence[str]]
    """Nodes that each flow's data crosses, ends included."""


def layout(network: Network) -> Layout:
    """Lay out a network: data from left to right, nodes near nodes with which they share an edge."""
    routes = [nodes_of(network, routed) for routed in network.flows]
    columns = _columns([node.name for node in network.nodes], routes, network.links)
    edges = [edge for route in routes for edge in pairwise(route)]
    return Layout(columns, _places(columns, edges), routes)


def nodes_of(network: Network, routed: RoutedFlow) -> list[str]:
    """Return the nodes that a flow's data crosses, ends included."""
    names = [routed.source]
    for hop in (network.hops[number] for number in routed.forward):
        names += [begin(hop), hop.target] if isinstance(hop, Link) else [begin(hop)]
    return list(dict.fromkeys([*names, routed.target]))


def begin(hop: Hop) -> str:
    return hop.source if isinstance(hop, Link) else hop.node


def air(network: Network, ports: Iterable[Port]) -> Iterator[_Edge]:
    """Yield the edges of a cell: from the node of a port to the next node of its packets."""
    of_cell = {port.name for port in ports}
    for routed in network.flows:
        for way, last in ((routed.forward, routed.target), (routed.reverse, routed.source)):
            ends = [*(begin(network.hops[hop]) for hop in way), last]
            for hop, edge in zip(way, pairwise(ends), strict=True):
                if network.hops[hop].name in of_cell:
                    yield edge


def _columns(
    names: Sequence[str], routes: Iterable[Sequence[str]], links: Iterable[Link]
) -> Mapping[str, int]:
    """Return the column of each node, so that data goes from left to right.

    The route of a flow is reversed if more of its edges contradict the routes of earlier flows than agree
    with them.
    """
    after: dict[str, set[str]] = {name: set() for name in names}
    for route in routes:
        edges = list(pairwise(route))
        against = sum(begin in after[end] for begin, end in edges) - sum(e in after[b] for b, e in edges)
        for begin, end in edges:
            _add(after, *((end, begin) if against > 0 else (begin, end)))
    for link in links:
        _add(after, link.source, link.target)
    column = dict.fromkeys(names, 0)
    for _ in names:  # enough rounds: a path has fewer edges than there are nodes
        for begin in names:
            for end in after[begin]:
                column[end] = max(column[end], column[begin] + 1)
    for name in names:  # a node without predecessors goes next to its nearest successor
        before = any(name in ends for ends in after.values())
        if after[name] and not before:
            column[name] = min(column[end] for end in after[name]) - 1
    return column


def _add(after: dict[str, set[str]], begin: str, end: str) -> None:
    """Add an edge from left to right, unless it would close a cycle."""
    seen, waiting = {end}, [end]
    while waiting:
        for name in after[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    if begin not in seen:
        after[begin].add(end)


def _places(columns: Mapping[str, int], edges: Iterable[_Edge]) -> Mapping[str, float]:
    """Return the place of each node in its column, near the nodes with which it shares an edge."""
    beside: dict[str, set[str]] = {name: set() for name in columns}
    for begin, end in edges:
        beside[begin].add(end)
        beside[end].add(begin)
    rows: dict[int, list[str]] = {}
    for name, column in columns.items():
        rows.setdefault(column, []).append(name)
    place = dict.fromkeys(columns, 0.0)
    for sweep in range(_SWEEPS):
        for column in sorted(rows, reverse=bool(sweep % 2)):
            if sweep:
                middle = {
                    name: sum(place[one] for one in beside[name]) / max(len(beside[name]), 1)
                    for name in rows[column]
                }
                rows[column].sort(key=lambda name: middle[name])
            for number, name in enumerate(rows[column]):
                place[name] = number - (len(rows[column]) - 1) / 2
    return place
