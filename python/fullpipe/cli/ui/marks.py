"""Reference lines of the page's figures: values of theory that hold for every line of a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullpipe.analysis.expected import Expected, buffer_packets, common
from fullpipe.analysis.metrics.paths import base_rtts_s
from fullpipe.scenario import Network
from fullpipe.scenario.model.link.queues import DropTail


def marks_of(network: Network, rows: Sequence[Expected], links: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The reference line of each figure, by the column of samples that it draws and in its unit.

    A figure has none if its lines differ in the value, or if the value of one is unknown.

    Args:
        network: The network of all flows.
        rows: What theory expects on it.
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
    """Packets in a full queue; None if their sizes decide how many those are."""
    number, hop = next(each for each in enumerate(network.hops) if each[1].name == name)
    if isinstance(hop.queue, DropTail) and hop.queue.packets is not None:
        return buffer_packets(hop, 1)
    of_data = [routed for routed in network.flows if number in routed.forward]
    sizes = {routed.tcp.segment_bytes if routed.flow.cca else 0 for routed in of_data}
    has_acks = any(number in routed.reverse for routed in network.flows)
    return None if has_acks or len(sizes) != 1 or 0 in sizes else buffer_packets(hop, sizes.pop())
