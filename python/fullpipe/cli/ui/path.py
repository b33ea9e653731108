"""Data from which the page draws a network: nodes, links and routes of flows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from fullpipe.analysis.layout import air, layout
from fullpipe.analysis.metrics.paths import rate_varies
from fullpipe.scenario import Network, Scenario
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.parts import Hop, Link, Port

_MOST_ROUTES = 24
"""Maximum number of drawn routes. A route has the colour of its flows in the figures."""
_MOST_PARTS = 60
"""Maximum number of drawn nodes, and of drawn links."""


def path_of(scenario: Scenario, network: Network, line_of: Mapping[str, int]) -> dict[str, Any]:
    """Return the data for the drawing of a network. Nodes are given by their indices.

    Args:
        scenario: The scenario of the network.
        network: The network.
        line_of: Index of the line in figures, by the name of the flow.

    Returns:
        shape: "dumbbell" if all flows share one link, "graph" otherwise; links: the first `_MOST_PARTS`
        links, with their nodes; rtts_s: the shortest and the longest base RTT of the flows at the beginning
        of the run. A graph that is small enough also has nodes: column `x`, and position `y` in the column
        around 0; cells: the edges over the air; routes: indices of lines in figures, each with the nodes that
        its flows cross.
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
    drawn = layout(network)
    numbers = {node.name: number for number, node in enumerate(network.nodes)}
    of_lines = dict.fromkeys(
        (line_of[routed.name], *(numbers[name] for name in route))
        for routed, route in zip(network.flows, drawn.routes, strict=True)
        if routed.name in line_of
    )
    return {
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind,
                "x": drawn.columns[node.name],
                "y": drawn.places[node.name],
            }
            for node in network.nodes
        ],
        "cells": [
            {
                "name": medium.name,
                "kind": medium.kind,
                "ports": [_port(port) for port in medium.ports],
                "edges": sorted({tuple(sorted(edge)) for edge in air(network, medium.ports)}),
            }
            for medium in network.media
        ],
        "routes": [{"line": line, "nodes": nodes} for line, *nodes in islice(of_lines, _MOST_ROUTES)],
    }


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
    """Time for which the rate of a link is valid: "on average" or "at first"; empty if always."""
    if link.frames or (link.trace and link.trace.kind == "mahimahi"):
        return "on average"
    return "at first" if rate_varies(link) else ""


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "node": port.node, "rate_bps": port.limit_bps, "queue": _queue(port)}


def _queue(hop: Hop) -> str:
    """The kind of a queue, or the size of a drop-tail queue; empty without a queue or size."""
    queue = hop.queue
    if queue is None:
        return ""
    if not isinstance(queue, DropTail):
        return queue.kind
    if queue.packets is not None:
        return f"{queue.packets:,} packets"
    return "" if queue.limit_bytes is None else f"{queue.limit_bytes:,} bytes"
