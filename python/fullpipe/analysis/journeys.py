"""Captured packets on their way: where each came by next, and which were retransmitted or dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import polars as pl

from fullpipe.scenario import Network, RoutedFlow

_SAME = ("flow", "connection", "source", "kind", "seq", "len", "ack", "window", "sacks", "ts_val", "ts_ecr")
"""What no router changes: by these a packet is known at every point."""
_OF_ONE_WAY = ("flow", "source", "point")
_PAYLOAD = pl.col("kind") == "data"
_ENDS = ("sender", "receiver")


def points_in_order(network: Network, points: Collection[str]) -> list[str]:
    """Points of capture from the sender to the receiver; links of ACKs stand where ACKs pass."""
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
    """Every capture of a packet, with the next one of the same packet along its way.

    What was sent several times with equal headers is counted from the end: the last that was sent came last.

    Args:
        packets: The table of a run.
        network: What was run.

    Returns:
        The same rows in the same order and columns, and: next_ns, next_point (null: not captured further on);
        is_again: payload that went by before; is_lost: it did not arrive, which is told only if the far end
        is captured too, and not of what may have been under way at the end.
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
    """Whether a byte of its payload was sent before; behind the sender, whether the same packet went by."""
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
    """How far along the route of a flow's data or ACKs each point is; `is_last`: there is no end behind it
    that is captured, so that what is missing there may have arrived."""
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
    """Both ends and the links between them, in the order of packets from one end; those of later routes
    behind those of the first."""
    first, last = _ENDS if source == "sender" else _ENDS[::-1]
    return [first, *dict.fromkeys(network.hops[hop].name for hop in _hops(routed, source)), last]


def _hops(routed: RoutedFlow, source: str) -> Iterator[int]:
    for way in (routed, *routed.later):
        yield from (way.forward if source == "sender" else way.reverse) or ()
