"""Segments of one connection at its sender: data, retransmissions, ACKs and SACK blocks over time."""

from __future__ import annotations

import numpy as np
import polars as pl

_NS = 1e-9
_COLUMNS = ("time_s", "what", "from_byte", "to_byte")


def segments(packets: pl.DataFrame, flow: str | None = None) -> pl.DataFrame:
    """Return data, ACKs and SACK blocks of the connection with most data, in the order of time.

    Args:
        packets: The table of a run that has captured at "sender".
        flow: Only connections of this flow.

    Returns:
        time_s, what ("data", "sent again", "ACK" or "SACK"), from_byte, to_byte. "sent again" is a packet
        with a byte that was sent before. An ACK has the next expected byte in both columns.

    Raises:
        ValueError: If no data of a connection were captured at a sender.
    """
    here = packets.filter(pl.col("point") == "sender", pl.col("connection").is_not_null())
    if flow is not None:
        here = here.filter(pl.col("flow") == flow)
    data = here.filter(pl.col("source") == "sender", pl.col("len") > 0)
    if data.is_empty():
        whose = f" of {flow}" if flow else ""
        raise ValueError(f'no data{whose} were captured at a sender; write record.packets = ["sender"]')
    sizes = data.group_by("flow", "connection", maintain_order=True).agg(pl.col("len").sum())
    most = sizes.sort("len", descending=True, maintain_order=True).row(0, named=True)
    chosen = (pl.col("flow") == most["flow"]) & (pl.col("connection") == most["connection"])
    acks = here.filter(chosen, pl.col("source") == "receiver", pl.col("kind").is_in(["ack", "data"]))
    parts = (_data(data.filter(chosen)), _acks(acks), _sacks(acks))
    return pl.concat(part.select(_COLUMNS) for part in parts).sort("time_s", maintain_order=True)


def round_trip_s(found: pl.DataFrame) -> float:
    """Return the median time from the first transmission of data to its ACK, s; 0 if none was acknowledged.

    Args:
        found: Rows of `segments`.
    """
    data, acks = (found.filter(pl.col("what") == what) for what in ("data", "ACK"))
    first = np.searchsorted(np.maximum.accumulate(acks["to_byte"].to_numpy()), data["to_byte"].to_numpy())
    known = first < acks.height
    took_s = acks["time_s"].to_numpy()[first[known]] - data["time_s"].to_numpy()[known]
    return float(np.median(took_s)) if len(took_s) else 0.0


def _data(data: pl.DataFrame) -> pl.DataFrame:
    end = pl.col("seq") + pl.col("len")
    before = end.cum_max().shift(1, fill_value=0)
    what = pl.when(pl.col("seq") < before).then(pl.lit("sent again")).otherwise(pl.lit("data"))
    ordered = data.sort("time_ns", maintain_order=True)
    return ordered.select(time_s=pl.col("time_ns") * _NS, what=what, from_byte="seq", to_byte=end)


def _acks(acks: pl.DataFrame) -> pl.DataFrame:
    return acks.select(time_s=pl.col("time_ns") * _NS, what=pl.lit("ACK"), from_byte="ack", to_byte="ack")


def _sacks(acks: pl.DataFrame) -> pl.DataFrame:
    """Return one row per SACK block."""
    blocks = acks.filter(pl.col("sacks") != "").with_columns(pl.col("sacks").str.split(" ")).explode("sacks")
    ends = pl.col("sacks").str.split("-")
    return blocks.select(
        time_s=pl.col("time_ns") * _NS,
        what=pl.lit("SACK"),
        from_byte=ends.list.get(0).cast(pl.Int64),
        to_byte=ends.list.get(1).cast(pl.Int64),
    )
