"""Reordering: how a path changes the order of packets.

They take packets captured at both ends, `record.packets = ["sender", "receiver"]`: without the sender's side
a retransmission looks like a packet that came late."""

from __future__ import annotations

from bisect import bisect_right

from fullpipe.errors import ResultError
from fullpipe.lazy import pl

_SAME = ("flow", "connection", "seq", "len", "ts_val", "copy")


def arrivals(packets: pl.DataFrame, flow: str) -> list[int]:
    """The places that the data packets of a flow have in the order of sending, in the order of arrival.

    Lost packets are missing. A packet is known again by its sequence number, its length and its timestamp,
    and several copies of one by their order.

    Raises:
        ResultError: If data packets of the flow were not captured at both ends.
    """
    of_sender = pl.col("source").fill_null("sender") == "sender"
    data = packets.filter((pl.col("flow") == flow) & (pl.col("kind") == "data") & of_sender)
    data = data.with_columns(pl.col("connection").fill_null(1))  # runs that do not say it have one
    ends = {point: data.filter(pl.col("point") == point) for point in ("sender", "receiver")}
    missing = [point for point, rows in ends.items() if rows.is_empty()]
    if missing:
        raise ResultError(
            f'flow "{flow}": no data packets captured at the {missing[0]}; '
            'record them with record.packets = ["sender", "receiver"]'
        )
    copy = pl.int_range(pl.len()).over("flow", "connection", "seq", "len", "ts_val").alias("copy")
    sent, received = (rows.sort("time_ns", maintain_order=True).with_columns(copy) for rows in ends.values())
    places = sent.with_row_index("place").select(*_SAME, "place")
    found = received.join(places, on=_SAME, how="inner", maintain_order="left")["place"]
    return [int(place) for place in found]


def reordered_ratio(packets: pl.DataFrame, flow: str) -> float:
    """Share of the arriving packets that were overtaken.

    Formula: #{i: s_i < max of s_j over j < i} / n, with s the places in the order of sending.
    Source: RFC 4737, the Type-P-Reordered singleton and the reordered ratio.

    Raises:
        ResultError: If data packets of the flow were not captured at both ends.
    """
    extents = reordering_extents(arrivals(packets, flow))
    return sum(extent > 0 for extent in extents) / len(extents)


def reordering_extents(places: list[int]) -> list[int]:
    """How many places too late every packet came, in the order of arrival; 0 if it was not overtaken.

    Formula: i - j for a reordered packet i, with j the first to arrive of those with s_j > s_i.
    Source: RFC 4737, reordering extent.

    >>> reordering_extents([0, 1, 3, 4, 2, 5])
    [0, 0, 0, 0, 2, 0]
    """
    highest: list[
        int
    ] = []  # of all that came so far; never falls, so that the first above s is found by halves
    extents = []
    for i, place in enumerate(places):
        extents.append(i - bisect_right(highest, place))
        highest.append(max(place, highest[-1]) if highest else place)
    return extents


def reorder_density(places: list[int], threshold: int = 64) -> dict[int, float]:
    """How the displacements of packets are distributed: early is negative, late is positive.

    Formula: share of packets with (place of arrival - place in the order of sending among those that
    arrived) = d; those beyond the threshold are left out, as lost.
    Source: RFC 5236, reorder density.

    >>> reorder_density([0, 2, 1, 3])
    {-1: 0.25, 0: 0.5, 1: 0.25}
    """
    order = {place: rank for rank, place in enumerate(sorted(places))}
    moved = [i - order[place] for i, place in enumerate(places)]
    kept = [d for d in moved if abs(d) <= threshold]
    return {d: kept.count(d) / len(kept) for d in sorted(set(kept))}
