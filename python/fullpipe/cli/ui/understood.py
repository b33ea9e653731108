"""Data with which the page shows a run: samples, packets, reference lines, figures, and the network."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fullpipe.analysis.expected import Expected, buffer_packets, common, expected, narrow_hops
from fullpipe.analysis.layout import air, layout
from fullpipe.analysis.metrics.groups import flows_in
from fullpipe.analysis.metrics.paths import base_rtts_s, rate_varies
from fullpipe.analysis.packets import journeys, points_in_order
from fullpipe.cli.ui.inputs import toml_of
from fullpipe.errors import FullpipeError
from fullpipe.report.svg.marks import of_flows
from fullpipe.scenario import Network, RoutedFlow, Scenario, resolve
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.parts import Hop, Link, Port
from fullpipe.scenario.read.files import inline

# Binary format of columns of numbers, little-endian:
#
# - 4 bytes: length of the header in bytes, a multiple of 4;
# - header in JSON, such as {"rows": 100, "columns": ["time_s", "goodput/0"]}, padded with spaces;
# - one column after the other, each with `rows` 4-byte floats; NaN is a missing value.


_FLOAT = np.dtype("<f4")
_ALIGNED = 4


def packed(columns: Mapping[str, pl.Series]) -> bytes:
    """Encode columns of equal length in the binary format that the comment before `_FLOAT` describes.

    Raises:
        ValueError: If the columns have different lengths.
    """
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns: have different numbers of rows: {sorted(lengths)}")
    header = json.dumps({"rows": next(iter(lengths), 0), "columns": list(columns)}).encode()
    header += b" " * (-len(header) % _ALIGNED)
    parts = [column.cast(pl.Float64).to_numpy().astype(_FLOAT).tobytes() for column in columns.values()]
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])


# Captured packets as columns. The page draws the packets in one lane per capture point.
MOST_PACKETS = 400_000
"""Maximum number of captured packets in a response."""
_KINDS = {"data": 0, "datagram": 0, "reply": 0, "ack": 1}
"""Codes of packets: 0 with payload, 1 for an ACK without payload. Other kinds, such as SYN, have code 2."""
_PART = 1 << 20
"""Bytes per unit of byte positions. A position is sent as units and a remainder, as 4-byte floats are exact
only up to 16 units."""


def lanes_of(scenario: Scenario, network: Network) -> list[str]:
    """Capture points of a scenario, ordered from the sender to the receiver."""
    return points_in_order(network, scenario.record.packets or ())


def packets_of(scenario: Scenario, packets: pl.DataFrame, flows: Sequence[str], since_s: float = 0) -> bytes:
    """The first `MOST_PACKETS` captured packets from a time on, in the order of time, in the format of
    `packed`.

    Args:
        scenario: The scenario of the run.
        packets: The table `packets` of the run.
        flows: Flows of the page, numbered in their order. All other flows share the next number.
        since_s: Time of the first packet, in s.

    Returns:
        second, fraction: the time in s, as a sum; takes_s: time in s to the next capture point, NaN if there
        is none; lane, to: indices of the two points in `lanes_of`; flow: number of the flow; is_reply:
        whether the receiver sent the packet; kind: code from `_KINDS`; is_again (retransmitted), is_lost,
        is_marked; high, low: position of the first byte, or of the acknowledged byte, in units of `_PART` and
        a remainder; len: payload in bytes.
    """
    network = resolve(scenario)
    lanes, lane_type = lanes_of(scenario, network), pl.Float64
    found = journeys(packets, network).filter(pl.col("time_ns") >= round(since_s * 1e9)).head(MOST_PACKETS)
    byte = pl.when(pl.col("kind") == "ack").then("ack").otherwise("seq")
    numbers = {name: number for number, name in enumerate(lanes)}
    known = {name: number for number, name in enumerate(flows)}
    columns = found.select(
        second=pl.col("time_ns") // 1_000_000_000,
        fraction=pl.col("time_ns") % 1_000_000_000 / 1e9,
        takes_s=(pl.col("next_ns") - pl.col("time_ns")) / 1e9,
        lane=pl.col("point").replace_strict(numbers, default=None, return_dtype=lane_type),
        to=pl.col("next_point").replace_strict(numbers, default=None, return_dtype=lane_type),
        flow=pl.col("flow").replace_strict(known, default=len(flows), return_dtype=lane_type),
        is_reply=pl.col("source") == "receiver",
        kind=pl.col("kind").replace_strict(_KINDS, default=2, return_dtype=lane_type),
        is_again="is_again",
        is_lost="is_lost",
        is_marked=pl.col("ecn") == "ce",
        high=byte // _PART,
        low=byte % _PART,
        len="len",
    )
    return packed(columns.to_dict())


# Reference lines of the page's figures: theoretical values that are valid for every line of a figure.


def marks_of(network: Network, rows: Sequence[Expected], links: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The reference line of each figure, by the column of samples that the figure draws, in its unit.

    A figure has no reference line if the value differs between its lines, or is unknown for one of them.

    Args:
        network: The network of all flows.
        rows: Values that theory expects on the network.
        links: Names of the links whose queues are drawn.
    """
    tcp = [routed for routed in network.flows if routed.flow.cca]
    held = sum(row.flows for row in rows)
    are_bulk = held == len(tcp)
    shares = [row.fair_share_bps for row in rows] if are_bulk and held == len(network.flows) > 1 else []
    windows = [row.window_packets for row in rows] if are_bulk else []
    answering = [
        rtt_s
        for routed, rtt_s in zip(network.flows, base_rtts_s(network), strict=True)
        if routed.flow.datagrams is None or routed.flow.datagrams.echo
    ]
    is_one_link = len(rows) == 1
    of_flows = f"fair share of {held}" if is_one_link else "fair share"
    is_whole = is_one_link and not rows[0].datagrams_bps
    window = "BDP per flow" if not is_whole else "BDP" if held == 1 else f"BDP / {held}"
    found = {
        "goodput_bps": (common(shares), of_flows),
        "srtt_s": (common(answering), "base RTT"),
        "backlog_packets": (common([_full_packets(network, link) for link in links]), "full"),
        "cwnd_bytes": (common(windows), window),
    }
    return {column: {"value": value, "label": label} for column, (value, label) in found.items() if value}


def _full_packets(network: Network, name: str) -> float | None:
    """Number of packets in a full queue; None if the number depends on the sizes of the packets."""
    number, hop = next(each for each in enumerate(network.hops) if each[1].name == name)
    if isinstance(hop.queue, DropTail) and hop.queue.packets is not None:
        return buffer_packets(hop, 1)
    of_data = [routed for routed in network.flows if number in routed.forward]
    sizes = {routed.tcp.segment_bytes if routed.flow.cca else 0 for routed in of_data}
    has_acks = any(number in routed.reverse for routed in network.flows)
    return None if has_acks or len(sizes) != 1 or 0 in sizes else buffer_packets(hop, sizes.pop())


# The lines of the page's figures: one per flow or, with many flows, one per algorithm.
MOST_LINES = 12
"""Maximum number of flows for which each flow has a line of its own."""
_MSS_BYTES = 1_448
"""MSS that is assumed for a flow that the scenario does not name."""


class Drawn(NamedTuple):
    """A flow, with the properties that flows on the same line of a figure share."""

    name: str
    cca: str | None
    kind: str
    """Algorithm and workload of the flow, such as "cubic web"; without the workload if it is bulk."""
    is_upload: bool
    mss_bytes: int


def drawn(network: Network, flows: Iterable[tuple[str, str | None]] | None = None) -> list[Drawn]:
    """All flows, with the properties of their lines.

    Args:
        network: The network of the scenario.
        flows: Names and algorithms of the measured flows; if None, the flows of the scenario.
    """
    known = {routed.name: routed for routed in network.flows}
    if flows is None:
        flows = [(name, routed.flow.cca.kind if routed.flow.cca else None) for name, routed in known.items()]
    return [_drawn(name, cca, known.get(name)) for name, cca in flows]


def _drawn(name: str, cca: str | None, routed: RoutedFlow | None) -> Drawn:
    workload = routed.flow.workload if routed else None
    words = [cca or "", workload.kind if workload and workload.kind != "bulk" else ""]
    kind = " ".join(filter(None, words)) or "unknown algorithm"
    if routed is None:
        return Drawn(name, cca, kind, False, _MSS_BYTES)
    return Drawn(name, cca, kind, routed.flow.is_upload, routed.tcp.mss_bytes)


def lines_of(
    flows: Sequence[Drawn], words: Mapping[str, str] | None = None
) -> tuple[list[dict[str, Any]], list[int]]:
    """The lines with their looks, and the number of the line of each flow. `words` has labels of flows.

    Up to `MOST_LINES` flows have a line each. More flows share a line if they have the same algorithm,
    workload, direction and MSS.
    """
    keys: list[tuple[Any, ...]] = [
        (number,) if len(flows) <= MOST_LINES else (flow.kind, flow.is_upload, flow.mss_bytes)
        for number, flow in enumerate(flows)
    ]
    groups: dict[tuple[Any, ...], list[Drawn]] = {}
    for key, flow in zip(keys, flows, strict=True):
        groups.setdefault(key, []).append(flow)
    called = words or {}
    labels = [
        called.get(group[0].name, group[0].name) if len(group) == 1 else _label(key, group, groups)
        for key, group in groups.items()
    ]
    firsts = [group[0] for group in groups.values()]
    looks = of_flows([first.cca for first in firsts])
    lines = [
        {"label": label, "cca": first.cca, "flows": len(group), "mss_bytes": first.mss_bytes, **asdict(look)}
        for label, first, group, look in zip(labels, firsts, groups.values(), looks, strict=True)
    ]
    numbers = {key: number for number, key in enumerate(groups)}
    return lines, [numbers[key] for key in keys]


def _label(key: tuple[Any, ...], group: Sequence[Drawn], keys: Iterable[tuple[Any, ...]]) -> str:
    """The label of a line of several flows: their kind and number.

    The direction and the MSS are added if lines of the same kind differ in them.
    """
    kind, is_upload, mss_bytes = key
    beside = [other for other in keys if other[0] == kind]
    words = [kind]
    if len({other[1] for other in beside}) > 1:
        words.append("uploads" if is_upload else "downloads")
    if len({other[2] for other in beside}) > 1:
        words.append(f"{mss_bytes} B")
    return f"{', '.join(words)} ×{len(group)}"


# The command line that repeats a run of the page.


_BASE = "single-cubic"
_TOP = ("duration", "warmup", "flows", "tcp", "record")


def command_of(scenario: Scenario, seed: int) -> str:
    """A command that makes the same run without a scenario file; empty if no such command is found.

    The command runs a bundled scenario, and sets all values that differ from it.
    """
    base = Scenario.named(_BASE)
    values = dict(_changes(base.to_dict(), scenario.to_dict()))
    try:
        if base.with_values(values).digest != scenario.digest:
            return ""
    except FullpipeError:
        return ""
    words = ["fullpipe", "run", _BASE, "--seed", str(seed)]
    for path, value in values.items():
        words += ["--set", f"{path}={inline(value)}"]
    return shlex.join(words)


def _changes(base: Mapping[str, Any], tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Paths and values in which a scenario differs from the base scenario."""
    there, wanted = base["topology"], tree["topology"]
    for key in _TOP:
        if key in tree and tree[key] != base.get(key):
            yield key, tree[key]
    for key, value in wanted.items():
        if isinstance(value, Mapping) and isinstance(there.get(key), Mapping):
            changed = ((inner, part) for inner, part in value.items() if there[key].get(inner) != part)
            yield from ((f"topology.{key}.{inner}", part) for inner, part in changed)
        elif value != there.get(key):
            yield f"topology.{key}", value


# Properties of a scenario that need no run: its network, theoretical values, and the command of the run.
MOST_LINKS = 3
"""Maximum number of links that are drawn over time."""


def understood(
    scenario: Scenario, seed: int, measured: Sequence[tuple[str, str | None]] | None = None
) -> dict[str, Any]:
    """The data with which the page shows a scenario without a sweep, in base units.

    Args:
        scenario: The scenario to show.
        seed: Seed of the run.
        measured: Names and algorithms of the flows of a run; if None, the flows of the scenario.

    Returns:
        Keys include `flows`: every flow with the number of its line; `lines`: the lines of the figures, with
        their looks; `marks`: the reference lines of the figures, if the run has the flows of the scenario.
    """
    network = resolve(scenario)
    flows = drawn(network, measured)
    words = Labels(scenarios=[scenario.to_dict()]).flows(flows_in(scenario)) if scenario.labels else {}
    lines, numbers = lines_of(flows, words)
    line_of = {flow.name: number for flow, number in zip(flows, numbers, strict=True)}
    links = [hop.name for hop in islice(narrow_hops(network), MOST_LINKS)]
    rows = expected(network)
    is_whole = line_of.keys() == {routed.name for routed in network.flows}
    return {
        "name": scenario.name,
        "digest": scenario.digest,
        "duration_s": scenario.duration_s,
        "warmup_s": scenario.warmup_s,
        "seed": seed,
        "lines": lines,
        "flows": [
            {"name": flow.name, "label": words.get(flow.name, flow.name), "line": line}
            for flow, line in zip(flows, numbers, strict=True)
        ],
        "links": links,
        "expected": [asdict(each) for each in rows[:MOST_LINKS]],
        "expected_in_all": len(rows),
        "marks": marks_of(network, rows, links) if is_whole else {},
        "path": path_of(scenario, network, line_of),
        "lanes": lanes_of(scenario, network),
        "notes": scenario.notes(),
        "toml": toml_of(scenario),
        "command": command_of(scenario, seed),
    }


# The drawing of the network.


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
    return told if is_dumbbell or not is_whole else {**told, **_nodes_and_routes(network, line_of)}


def _nodes_and_routes(network: Network, line_of: Mapping[str, int]) -> dict[str, Any]:
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
