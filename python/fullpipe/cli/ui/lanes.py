"""Captured packets as columns: what the page draws in a lane for every point of capture."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fullpipe.analysis.journeys import journeys, points_in_order
from fullpipe.cli.ui.packed import packed
from fullpipe.scenario import Network, Scenario, resolve

MOST = 400_000
"""Captures that are sent at once."""
_KINDS = {"data": 0, "datagram": 0, "reply": 0, "ack": 1}
"""Data, or an ACK without; 2: a connection that opens."""
_PART = 1 << 20
"""Bytes are told as so many of these and the rest: a float of 4 bytes is exact up to 16 of them."""


def lanes_of(scenario: Scenario, network: Network) -> list[str]:
    """Points at which a scenario captures packets, from the sender to the receiver."""
    return points_in_order(network, scenario.record.packets or ())


def packets_of(scenario: Scenario, packets: pl.DataFrame, flows: Sequence[str], since_s: float = 0) -> bytes:
    """The first `MOST` captures from a time on, in the order of time: see `packed`.

    Args:
        scenario: What was run.
        packets: Its table.
        flows: Flows that have a number on the page; all others have the next one.
        since_s: Where to begin.

    Returns:
        second, fraction: the time, as a sum; takes_s: until the next point, NaN if there is none; lane, to:
        numbers of both points in `lanes_of`; flow; is_reply: from the receiver; kind: see `_KINDS`;
        is_again, is_lost, is_marked; high, low: of the first byte, or of the byte that is acknowledged, in
        parts of `_PART` and the rest; len: payload.
    """
    network = resolve(scenario)
    lanes, lane_type = lanes_of(scenario, network), pl.Float64
    found = journeys(packets, network).filter(pl.col("time_ns") >= round(since_s * 1e9)).head(MOST)
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
