"""Lost, retransmitted and reordered packets."""

from __future__ import annotations

from bisect import bisect_right

from fullpipe.errors import ResultError
from fullpipe.lazy import pl

# Loss: packets dropped, marked lost, retransmitted, and marked CE (ECN). All functions take the tables of a
# run.


def dropped_share(flows: pl.DataFrame) -> float | None:
    """Data packets that the network dropped, over all data packets sent; None if an engine does not count
    drops.

    Formula: min(Σ dropped_i / Σ sent_i, 1). Drops after the end of a flow and drops of duplicated packets
    count, too.
    Source: RFC 5166, section 2.1, packet loss rates, at the network.
    """
    found = _share(flows, "dropped_packets")
    return None if found is None else min(found, 1.0)


def retransmission_rate(flows: pl.DataFrame) -> float | None:
    """Data packets retransmitted, over all data packets sent, of all flows together; None if no data packet
    was sent.

    Formula: Σ retransmitted_i / Σ sent_i.
    Source: one minus the TCP efficiency of RFC 6349, section 4.2, in packets instead of bytes.
    """
    return _share(flows, "retransmitted_packets")


def loss_rate(flows: pl.DataFrame) -> float | None:
    """Data packets that senders marked lost, over all data packets sent. Packets that were marked lost by
    mistake count, too.

    Formula: Σ lost_i / Σ sent_i.
    Source: RFC 5166, section 2.1, packet loss rates, as the sender sees them.
    """
    return _share(flows, "lost_packets")


def marking_rate(flows: pl.DataFrame) -> float | None:
    """Data packets that arrived with a congestion mark, over all data packets sent.

    Formula: Σ marked_i / Σ sent_i.
    Source: RFC 8257, section 3.3: DCTCP estimates this fraction per window of data.
    """
    return _share(flows, "marked_packets")


def drop_rate(links_summary: pl.DataFrame, link: str = "bottleneck") -> float | None:
    """Packets that a link dropped, in its queue or on the wire, over all packets that arrived, ACKs included.

    None if no packet arrived, or an engine does not count drops.

    Formula: dropped / (dropped + forwarded). Packets that are in the queue when the run ends are left out.
    Source: RFC 5166, section 2.1, packet loss rates, at the router.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    dropped, forwarded = rows["dropped_packets"][0], rows["forwarded_packets"][0]
    if dropped is None or forwarded is None:
        return None
    return int(dropped) / int(dropped + forwarded) if dropped + forwarded else None


def _share(flows: pl.DataFrame, column: str) -> float | None:
    """Return the sum of a column divided by all packets sent; None if no packet was sent, or the column is
    null for a flow that sent packets."""
    each = zip(flows[column].to_list(), flows["sent_packets"].to_list(), strict=True)
    counts = [(known, sent) for known, sent in each if sent]
    if not counts or any(known is None for known, _ in counts):
        return None
    return float(sum(known for known, _ in counts) / sum(sent for _, sent in counts))


# Reordering: how a path changes the order of packets.
#
# The metrics take packets captured at both ends, `record.packets = ["sender", "receiver"]`: without the
# capture at the sender, a retransmission looks like a packet that arrived late.


_SAME = ("flow", "connection", "seq", "len", "ts_val", "copy")


def arrivals(packets: pl.DataFrame, flow: str) -> list[int]:
    """Positions of a flow's data packets in the order of sending, listed in the order of arrival.

    Lost packets are left out. Captures at sender and receiver are matched by sequence number, length and
    timestamp. Packets with equal values are matched in their order.

    Raises:
        ResultError: If data packets of the flow were not captured at both ends.
    """
    of_sender = pl.col("source").fill_null("sender") == "sender"
    data = packets.filter((pl.col("flow") == flow) & (pl.col("kind") == "data") & of_sender)
    data = data.with_columns(pl.col("connection").fill_null(1))  # null means that the flow has one connection
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

    Formula: #{i: s_i < max of s_j over j < i} / n, with s the positions in the order of sending.
    Source: RFC 4737, Type-P-Reordered and the reordered ratio.

    Raises:
        ResultError: If data packets of the flow were not captured at both ends.
    """
    extents = reordering_extents(arrivals(packets, flow))
    return sum(extent > 0 for extent in extents) / len(extents)


def reordering_extents(places: list[int]) -> list[int]:
    """Number of positions by which each packet arrived late, in the order of arrival; 0 for packets that were
    not overtaken.

    Formula: i - j for a reordered packet i, with j the first to arrive of those with s_j > s_i.
    Source: RFC 4737, reordering extent.

    >>> reordering_extents([0, 1, 3, 4, 2, 5])
    [0, 0, 0, 0, 2, 0]
    """
    highest: list[
        int
    ] = []  # running maximum; it never falls, so bisection finds the first value above a place
    extents = []
    for i, place in enumerate(places):
        extents.append(i - bisect_right(highest, place))
        highest.append(max(place, highest[-1]) if highest else place)
    return extents


def reorder_density(places: list[int], threshold: int = 64) -> dict[int, float]:
    """Distribution of the displacements of packets: negative is early, positive is late.

    Formula: share of packets with (position of arrival - position in the order of sending among those that
    arrived) = d; packets beyond the threshold count as lost and are left out.
    Source: RFC 5236, reorder density.

    >>> reorder_density([0, 2, 1, 3])
    {-1: 0.25, 0: 0.5, 1: 0.25}
    """
    order = {place: rank for rank, place in enumerate(sorted(places))}
    moved = [i - order[place] for i, place in enumerate(places)]
    kept = [d for d in moved if abs(d) <= threshold]
    return {d: kept.count(d) / len(kept) for d in sorted(set(kept))}
