"""What is known of a scenario before it is run: its path, what theory expects, and what makes it again."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Any

from fullpipe.analysis.expected import expected, narrow_hops
from fullpipe.cli.ui.inputs import toml_of
from fullpipe.cli.ui.repeat import command_of
from fullpipe.report.looks import distinct
from fullpipe.scenario import Network, Scenario, resolve
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.network.parts import Hop, Link

MOST_FLOWS = 12
"""Flows that are drawn."""
MOST_LINKS = 3
"""Links that are drawn over time."""
_MOST_PARTS = 60
"""Nodes, and links, of the drawing of a path."""


def understood(scenario: Scenario, seed: int) -> dict[str, Any]:
    """A scenario without a sweep as the page shows it, in base units."""
    network = resolve(scenario)
    return {
        "name": scenario.name,
        "digest": scenario.digest,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "seed": seed,
        "flows": flows_of(network),
        "flows_in_all": len(network.flows),
        "links": [hop.name for hop in islice(narrow_hops(network), MOST_LINKS)],
        "expected": [asdict(each) for each in islice(expected(network), MOST_LINKS)],
        "path": _path(network),
        "notes": scenario.notes(),
        "toml": toml_of(scenario),
        "command": command_of(scenario, seed),
    }


def flows_of(network: Network) -> list[dict[str, Any]]:
    """The first flows, with their looks in figures."""
    first = network.flows[:MOST_FLOWS]
    looks = distinct([routed.name for routed in first])
    return [
        {
            "name": routed.name,
            "cca": routed.flow.cca.kind if routed.flow.cca else None,
            "mss_bytes": routed.tcp.mss_bytes,
            "colour": look.colour,
            "dash": look.dash,
        }
        for routed, look in zip(first, looks, strict=True)
    ]


def _path(network: Network) -> dict[str, Any]:
    """Nodes, links and routes by their numbers, as far as a drawing has room."""
    numbers = {node.name: n for n, node in enumerate(network.nodes)}
    return {
        "nodes": [{"name": node.name, "kind": node.kind} for node in network.nodes[:_MOST_PARTS]],
        "links": [_link(link, numbers) for link in network.links[:_MOST_PARTS]],
        "media": [medium.name for medium in network.media],
        "routes": [list(routed.forward) for routed in network.flows[:MOST_FLOWS]],
        "is_whole": max(len(network.nodes), len(network.links)) <= _MOST_PARTS,
    }


def _link(link: Link, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "name": link.name,
        "from": numbers[link.source],
        "to": numbers[link.target],
        "rate_bps": link.limit_bps,
        "delay_s": link.delay_s,
        "queue": _queue(link),
        "changes": bool(link.steps or link.trace or link.shapes),
    }


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
