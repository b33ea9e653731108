"""One-way delays of data and times of ACKs, from packets captured at both ends."""

from __future__ import annotations

import polars as pl

_SAME = ("flow", "connection", "kind", "seq", "len")
"""Columns that identify a packet at either end."""
_NS = 1e-9


def delays(packets: pl.DataFrame) -> pl.DataFrame:
    """Return the one-way delay of every data packet.

    Retransmissions are matched from the end: the last transmission is taken as the last to arrive. Packets
    that did not arrive have no row.

    Args:
        packets: The table of a run that has captured at "sender" and "receiver".

    Returns:
        flow, sent_s, arrived_s, delay_s, bytes; in the order of arrival.

    Raises:
        ValueError: If no packet was captured at both ends.
    """
    sent, arrived = (_data(packets, point) for point in ("sender", "receiver"))
    found = (
        arrived.join(sent, on=[*_SAME, "left"], nulls_equal=True, suffix="_sent")
        .filter(pl.col("time_ns") >= pl.col("time_ns_sent"))
        .select(
            "flow",
            sent_s=pl.col("time_ns_sent") * _NS,
            arrived_s=pl.col("time_ns") * _NS,
            delay_s=(pl.col("time_ns") - pl.col("time_ns_sent")) * _NS,
            bytes="size",
        )
    )
    if found.is_empty():
        raise ValueError('no packet was captured at both ends; write record.packets = ["sender", "receiver"]')
    return found.sort("arrived_s", maintain_order=True)


def acks(packets: pl.DataFrame) -> pl.DataFrame:
    """Return the times at which ACKs arrived at the sender of their flow: flow, time_s.

    Raises:
        ValueError: If no ACK was captured at a sender.
    """
    chosen = (pl.col("point") == "sender") & (pl.col("source") == "receiver") & (pl.col("kind") == "ack")
    found = packets.filter(chosen).select("flow", time_s=pl.col("time_ns") * _NS).sort("time_s")
    if found.is_empty():
        raise ValueError('no ACKs were captured; write record.packets = ["sender"]')
    return found


def _data(packets: pl.DataFrame, point: str) -> pl.DataFrame:
    """Return the sender's data at a point, with the number of later captures of the same packet (`left`)."""
    chosen = (
        (pl.col("point") == point)
        & (pl.col("source") == "sender")
        & pl.col("kind").is_in(["data", "datagram"])
    )
    rows = packets.filter(chosen).sort("time_ns", maintain_order=True)
    return rows.with_columns(left=pl.int_range(pl.len()).reverse().over(_SAME))
