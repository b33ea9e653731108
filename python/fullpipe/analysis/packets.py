"""Captured packets of a run: one-way delays, segments of a connection, and journeys along a route."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from fullpipe.scenario import Network, RoutedFlow

# One-way delays of data and times of ACKs, from packets captured at both ends.


_SAME_AT_ENDS = ("flow", "connection", "kind", "seq", "len")
"""Columns with equal values at sender and receiver: they identify a packet."""
_NS = 1e-9


def delays(packets: pl.DataFrame) -> pl.DataFrame:
    """Return the one-way delay of every data packet.

    Transmissions of the same data are matched from the end: the last one sent is taken as the last to arrive.
    Packets that did not arrive have no row.

    Args:
        packets: The table `packets` of a run that captured at "sender" and "receiver".

    Returns:
        Columns flow, sent_s, arrived_s, delay_s and bytes, in the order of arrival.

    Raises:
        ValueError: If no packet was captured at both ends.
    """
    sent, arrived = (_data(packets, point) for point in ("sender", "receiver"))
    found = (
        arrived.join(sent, on=[*_SAME_AT_ENDS, "left"], nulls_equal=True, suffix="_sent")
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
    """Return the times at which ACKs arrived at the sender, in columns flow and time_s.

    Raises:
        ValueError: If no ACK was captured at a sender.
    """
    chosen = (pl.col("point") == "sender") & (pl.col("source") == "receiver") & (pl.col("kind") == "ack")
    found = packets.filter(chosen).select("flow", time_s=pl.col("time_ns") * _NS).sort("time_s")
    if found.is_empty():
        raise ValueError('no ACKs were captured; write record.packets = ["sender"]')
    return found


def _data(packets: pl.DataFrame, point: str) -> pl.DataFrame:
    """Return the sender's data packets at a capture point. `left` is the number of later captures of the same
    packet at this point."""
    chosen = (
        (pl.col("point") == point)
        & (pl.col("source") == "sender")
        & pl.col("kind").is_in(["data", "datagram"])
    )
    rows = packets.filter(chosen).sort("time_ns", maintain_order=True)
    return rows.with_columns(left=pl.int_range(pl.len()).reverse().over(_SAME_AT_ENDS))


# Segments of one connection at its sender: data, retransmissions, ACKs and SACK blocks over time.


_COLUMNS = ("time_s", "what", "from_byte", "to_byte")


def segments(packets: pl.DataFrame, flow: str | None = None) -> pl.DataFrame:
    """Return data, ACKs and SACK blocks of the connection that sent most data, in the order of time.

    Args:
        packets: The table `packets` of a run that captured at "sender".
        flow: Name of the flow whose connections are considered; None for all flows.

    Returns:
        time_s, what ("data", "sent again", "ACK" or "SACK"), from_byte, to_byte. "sent again" is a packet
        with a byte that was sent before. An ACK has the next expected byte in from_byte and to_byte.

    Raises:
        ValueError: If no data of a connection were captured at a sender.
    """
    here = packets.filter(pl.col("point") == "sender", pl.col("connection").is_not_null())
    if flow is not None:
        here = here.filter(pl.col("flow") == flow)
    data, most = here.filter(pl.col("source") == "sender", pl.col("len") > 0), _busiest(packets, flow)
    chosen = (pl.col("flow") == most["flow"]) & (pl.col("connection") == most["connection"])
    acks = here.filter(chosen, pl.col("source") == "receiver", pl.col("kind").is_in(["ack", "data"]))
    parts = (_sent_segments(data.filter(chosen)), _acks(acks), _sacks(acks))
    return pl.concat(part.select(_COLUMNS) for part in parts).sort("time_s", maintain_order=True)


def flow_of_segments(packets: pl.DataFrame, flow: str | None = None) -> str:
    """Return the flow whose connection `segments` returns for the same arguments."""
    return str(_busiest(packets, flow)["flow"])


def connections_with_data(packets: pl.DataFrame, flow: str | None = None) -> int:
    """Return the number of connections among which `segments` chooses for the same arguments."""
    return _sizes(packets, flow).height


def _busiest(packets: pl.DataFrame, flow: str | None) -> dict[str, Any]:
    """Return the flow and the connection that sent most data, of a named flow if `flow` is given."""
    return _sizes(packets, flow).sort("len", descending=True, maintain_order=True).row(0, named=True)


def _sizes(packets: pl.DataFrame, flow: str | None) -> pl.DataFrame:
    """Return the bytes that were sent on each connection with data."""
    data = packets.filter(
        pl.col("point") == "sender", pl.col("connection").is_not_null(), source="sender"
    ).filter(pl.col("len") > 0, pl.lit(True) if flow is None else pl.col("flow") == flow)
    if data.is_empty():
        whose = f" of {flow}" if flow else ""
        raise ValueError(f'no data{whose} were captured at a sender; write record.packets = ["sender"]')
    return data.group_by("flow", "connection", maintain_order=True).agg(pl.col("len").sum())


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


def _sent_segments(data: pl.DataFrame) -> pl.DataFrame:
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


# Captured packets along their routes: the next capture of each packet, retransmissions and losses.


_SAME_PACKET = (
    "flow",
    "connection",
    "source",
    "kind",
    "seq",
    "len",
    "ack",
    "window",
    "sacks",
    "ts_val",
    "ts_ecr",
)
"""Header fields that no router changes: they identify a packet at every point."""
_OF_ONE_WAY = ("flow", "source", "point")
_PAYLOAD = pl.col("kind") == "data"
_ENDS = ("sender", "receiver")


def points_in_order(network: Network, points: Collection[str]) -> list[str]:
    """Sort capture points by their mean position on the routes from sender to receiver. Positions on routes
    of ACKs are mirrored."""
    found: dict[str, list[float]] = {point: [] for point in points}
    for routed in network.flows:
        for source in _ENDS:
            names = _on_the_way(network, routed, source)
            for number, name in enumerate(names):
                if name in found:
                    part = number / (len(names) - 1)
                    found[name].append(part if source == "sender" else 1 - part)
    middle = {name: sum(parts) / len(parts) if parts else 0.5 for name, parts in found.items()}
    return sorted(points, key=lambda name: middle[name])


def journeys(packets: pl.DataFrame, network: Network) -> pl.DataFrame:
    """Return every capture of a packet with the next capture of the same packet along its route.

    Captures with equal headers are matched from the end: the last packet sent is taken as the last to arrive.

    Args:
        packets: The table of a run.
        network: The network of the run.

    Returns:
        The rows of `packets` in the same order, with four more columns. next_ns and next_point are null if
        the packet has no later capture. is_again marks retransmitted payload. is_lost marks packets that did
        not arrive. is_lost is set only if the far end captured packets, and never for packets that may have
        been in flight when the run ended.
    """
    rows = packets.with_row_index("row").join(
        _places(network, packets["point"].unique()), on=_OF_ONE_WAY, how="left", maintain_order="left"
    )
    rows = rows.with_columns(packet=pl.struct(_SAME_PACKET).hash(), is_again=_went_by_before())
    rows = rows.with_columns(left=pl.int_range(pl.len()).reverse().over("packet", "point"))
    rows = rows.sort("packet", "left", "place", "time_ns", nulls_last=True)
    one = ("packet", "left")
    follows = pl.all_horizontal(pl.col(key) == pl.col(key).shift(-1) for key in one)
    follows &= pl.col("place").shift(-1).is_not_null() & (pl.col("time_ns") <= pl.col("time_ns").shift(-1))
    rows = rows.with_columns(
        next_ns=pl.when(follows).then(pl.col("time_ns").shift(-1)),
        next_point=pl.when(follows).then(pl.col("point").shift(-1)),
        is_again=pl.col("is_again").any().over(one),
    ).sort("row")
    return rows.with_columns(is_lost=_did_not_arrive()).drop("row", "place", "packet", "left", "is_last")


def _went_by_before() -> pl.Expr:
    """Whether a packet repeats payload. At the sender: a byte of the payload was sent before. At other
    points: the sequence number was captured before."""
    end = (pl.col("seq") + pl.col("len")).cum_max().shift(1).over("flow", "connection", "source", "point")
    repeated = ~pl.struct("flow", "connection", "source", "point", "kind", "seq").is_first_distinct()
    first = pl.col("place") == 0
    return _PAYLOAD & pl.when(first).then((pl.col("seq") < end).fill_null(False)).otherwise(repeated)


def _did_not_arrive() -> pl.Expr:
    latest = pl.col("time_ns").filter(pl.col("next_ns").is_not_null()).max().over(_OF_ONE_WAY)
    is_under_way = pl.col("time_ns") > latest
    is_here = pl.col("next_ns").is_null() & pl.col("place").is_not_null() & ~pl.col("is_last")
    return (is_here & ~is_under_way).fill_null(False)


def _places(network: Network, points: Collection[str]) -> pl.DataFrame:
    """Return the position of each capture point on the route of a flow's data or ACKs.

    `is_last` is true at the end of the route, and at every point if no packets were captured at that end.
    Without captures at the end, a packet that was not captured again may have arrived.
    """
    rows = [
        (routed.name, source, name, number, number == len(names) - 1 or names[-1] not in points)
        for routed in network.flows
        for source in _ENDS
        for names in [_on_the_way(network, routed, source)]
        for number, name in enumerate(names)
        if name in points
    ]
    schema = dict.fromkeys(_OF_ONE_WAY, pl.String) | {"place": pl.Int64, "is_last": pl.Boolean}
    return pl.DataFrame(rows, schema, orient="row").unique(_OF_ONE_WAY, keep="first", maintain_order=True)


def _on_the_way(network: Network, routed: RoutedFlow, source: str) -> Sequence[str]:
    """Return the sender, the links and the receiver in the order in which packets from `source` cross them.

    Links of later routes follow the links of the first route.
    """
    first, last = _ENDS if source == "sender" else _ENDS[::-1]
    return [first, *dict.fromkeys(network.hops[hop].name for hop in _hops(routed, source)), last]


def _hops(routed: RoutedFlow, source: str) -> Iterator[int]:
    for way in (routed, *routed.later):
        yield from (way.forward if source == "sender" else way.reverse) or ()
