"""The drawing of a network: where every node stands, what links two of them, and the routes of flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from fullpipe.analysis.metrics.paths import rate_varies
from fullpipe.scenario import Network, Scenario
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.parts import Hop, Link, Port, RoutedFlow

_MOST_ROUTES = 24
"""Routes that are drawn, each of a line of the figures."""
_MOST_PARTS = 60
"""Nodes, and links, that a drawing has room for."""
_SWEEPS = 4
"""Times that the order of the nodes of every column follows that of their neighbours."""

_Edge = tuple[str, str]


def path_of(scenario: Scenario, network: Network, line_of: Mapping[str, int]) -> dict[str, Any]:
    """What is drawn of a network, nodes by their numbers.

    Args:
        scenario: What the network was made from.
        network: The network.
        line_of: The number of the line in figures, by the name of each flow.

    Returns:
        shape: "dumbbell" if all flows share one link, "graph" otherwise; links: the first of them, with their
        nodes; of a graph that is small enough, nodes with columns `x` and places `y` in them around 0; cells:
        the edges over the air; routes: lines of figures, each with the nodes that its flows cross; rtts_s:
        the shortest and the longest round trip of flows at the beginning while no packet waits.
    """
    is_dumbbell = isinstance(scenario.topology, Dumbbell) and not network.media
    is_whole = max(len(network.nodes), len(network.links)) <= _MOST_PARTS
    rtts_s = [network.base_rtt_s(routed) for routed in network.flows]
    told = {
        "shape": "dumbbell" if is_dumbbell else "graph",
        "links": [_link(link) for link in network.links[:_MOST_PARTS]],
        "is_whole": is_whole,
        "rtts_s": [min(rtts_s, default=0.0), max(rtts_s, default=0.0)],
    }
    return told if is_dumbbell or not is_whole else {**told, **_drawn(network, line_of)}


def _drawn(network: Network, line_of: Mapping[str, int]) -> dict[str, Any]:
    routes = [_nodes_of(network, routed) for routed in network.flows]
    columns = _columns([node.name for node in network.nodes], routes, network.links)
    places = _places(columns, [edge for route in routes for edge in _edges(route)])
    numbers = {node.name: number for number, node in enumerate(network.nodes)}
    of_lines = dict.fromkeys(
        (line_of[routed.name], *(numbers[name] for name in route))
        for routed, route in zip(network.flows, routes, strict=True)
        if routed.name in line_of
    )
    return {
        "nodes": [
            {"name": node.name, "kind": node.kind, "x": columns[node.name], "y": places[node.name]}
            for node in network.nodes
        ],
        "cells": [
            {
                "name": medium.name,
                "kind": medium.kind,
                "ports": [_port(port) for port in medium.ports],
                "edges": sorted({tuple(sorted(edge)) for edge in _air(network, medium.ports)}),
            }
            for medium in network.media
        ],
        "routes": [{"line": line, "nodes": nodes} for line, *nodes in islice(of_lines, _MOST_ROUTES)],
    }


def _nodes_of(network: Network, routed: RoutedFlow) -> list[str]:
    """The nodes that data crosses, its ends included."""
    begins = [_begin(network.hops[hop]) for hop in routed.forward]
    return list(dict.fromkeys([routed.source, *begins, routed.target]))


def _begin(hop: Hop) -> str:
    return hop.source if isinstance(hop, Link) else hop.node


def _edges(route: Sequence[str]) -> Iterator[_Edge]:
    return pairwise(route)


def _air(network: Network, ports: Iterable[Port]) -> Iterator[_Edge]:
    """The edges of a cell: from where a port is to where packets go that leave it."""
    of_cell = {port.name for port in ports}
    for routed in network.flows:
        for way, last in ((routed.forward, routed.target), (routed.reverse, routed.source)):
            ends = [*(_begin(network.hops[hop]) for hop in way), last]
            for hop, edge in zip(way, _edges(ends), strict=True):
                if network.hops[hop].name in of_cell:
                    yield edge


def _columns(
    names: Sequence[str], routes: Iterable[Sequence[str]], links: Iterable[Link]
) -> Mapping[str, int]:
    """The column of each node: data goes from left to right. A flow against most of those before it is taken
    the other way round."""
    after: dict[str, set[str]] = {name: set() for name in names}
    for route in routes:
        edges = list(_edges(route))
        against = sum(begin in after[end] for begin, end in edges) - sum(e in after[b] for b, e in edges)
        for begin, end in edges:
            _add(after, *((end, begin) if against > 0 else (begin, end)))
    for link in links:
        _add(after, link.source, link.target)
    column = dict.fromkeys(names, 0)
    for _ in names:  # as often as a way can be long
        for begin in names:
            for end in after[begin]:
                column[end] = max(column[end], column[begin] + 1)
    for name in names:  # what only begins something stands beside it
        before = any(name in ends for ends in after.values())
        if after[name] and not before:
            column[name] = min(column[end] for end in after[name]) - 1
    return column


def _add(after: dict[str, set[str]], begin: str, end: str) -> None:
    """An edge from left to right, unless it would lead back."""
    seen, waiting = {end}, [end]
    while waiting:
        for name in after[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    if begin not in seen:
        after[begin].add(end)


def _places(columns: Mapping[str, int], edges: Iterable[_Edge]) -> Mapping[str, float]:
    """The place of each node in its column, near those with which it shares an edge."""
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


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "from": link.source,
        "to": link.target,
        "rate_bps": link.limit_bps,
        "delay_s": link.delay_s,
        "queue": _queue(link),
        "changes": bool(link.steps or link.trace or link.shapes),
        "holds": _holds(link),
    }


def _holds(link: Link) -> str:
    """When the rate of a link holds, in words; empty if always."""
    if link.frames or (link.trace and link.trace.kind == "mahimahi"):
        return "on average"
    return "at first" if rate_varies(link) else ""


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "node": port.node, "rate_bps": port.limit_bps, "queue": _queue(port)}


def _queue(hop: Hop) -> str:
    """The queue in words."""
    queue = hop.queue
    if queue is None:
        return ""
    if not isinstance(queue, DropTail):
        return queue.kind
    if queue.packets is not None:
        return f"{queue.packets:,} packets"
    return "" if queue.limit_bytes is None else f"{queue.limit_bytes:,} bytes"
