"""Captured packets along their routes: the next capture of each, retransmissions and losses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from fullpipe.scenario import Network, RoutedFlow

_SAME = ("flow", "connection", "source", "kind", "seq", "len", "ack", "window", "sacks", "ts_val", "ts_ecr")
"""Header fields that no router changes: they identify a packet at every point."""
_OF_ONE_WAY = ("flow", "source", "point")
_PAYLOAD = pl.col("kind") == "data"
_ENDS = ("sender", "receiver")


def points_in_order(network: Network, points: Collection[str]) -> list[str]:
    """Sort points of capture from the sender to the receiver; links of ACKs by their mirrored position."""
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

    Packets with equal headers are matched from the end: the last one sent is taken as the last to arrive.

    Args:
        packets: The table of a run.
        network: The network of the run.

    Returns:
        The same rows in the same order, with four more columns. next_ns and next_point are null if there is
        no later capture. is_again marks retransmitted payload. is_lost marks packets that did not arrive; it
        is set only if the far end was captured, and not for packets that may have been in flight at the end.
    """
    rows = packets.with_row_index("row").join(
        _places(network, packets["point"].unique()), on=_OF_ONE_WAY, how="left", maintain_order="left"
    )
    rows = rows.with_columns(packet=pl.struct(_SAME).hash(), is_again=_went_by_before())
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
    """Whether, at the sender, a byte of the payload was sent before; elsewhere, whether its sequence number
    was captured before."""
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
    """Return the position of each point on the route of a flow's data or ACKs.

    `is_last`: the end of the route was not captured, or the point is that end. A packet without a later
    capture may then have arrived.
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
    """Return both ends and the links between them in the order in which packets from one end cross them.

    Links of later routes follow those of the first.
    """
    first, last = _ENDS if source == "sender" else _ENDS[::-1]
    return [first, *dict.fromkeys(network.hops[hop].name for hop in _hops(routed, source)), last]


def _hops(routed: RoutedFlow, source: str) -> Iterator[int]:
    for way in (routed, *routed.later):
        yield from (way.forward if source == "sender" else way.reverse) or ()
