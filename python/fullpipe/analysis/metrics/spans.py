"""Rates of several flows together over one span, and their amounts over the same time."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from fullpipe.analysis.metrics.samples import EDGE_S, spacing_s
from fullpipe.lazy import pl
from fullpipe.runs.spans import Span, span_of


def together_of_rows(column: str = "goodput_bps") -> pl.Expr:
    """Return `together_bps` of the rows of a table of flows as an aggregate of its columns.

    Rows lack the warm-up, so the span of a flow is derived from what it delivered and its goodput. A flow
    that delivered nothing begins with the others. Pings and probes do not set the span of other flows.

    Args:
        column: Column of rates, each a mean over the span of its flow.
    """
    bits, goodput, rates = 8 * pl.col("delivered_bytes"), pl.col("goodput_bps"), pl.col(column)
    is_echo = pl.col("cca").is_null() & pl.col("rtt_min_s").is_not_null()
    sets = ~is_echo | (is_echo | rates.is_null()).all()
    start_s, end_s = pl.col("end_s") - bits / goodput, pl.col("end_s")
    first_s = start_s.filter((goodput > 0) & sets).min()
    last_s = end_s.filter(rates.is_not_null() & sets).max()
    own_bits = pl.when(goodput > 0).then(bits * (rates / goodput)).otherwise(rates * (end_s - first_s))
    within_s = (pl.min_horizontal(end_s, last_s) - pl.max_horizontal(start_s, first_s)).clip(lower_bound=0)
    counted = pl.when(sets).then(own_bits).otherwise(rates * within_s)
    length_s = last_s - first_s
    return pl.when(length_s > 0).then(counted.sum() / length_s).otherwise(rates.sum())


def compared(
    rows: Sequence[Mapping[str, Any]],
    bulk: Container[str],
    series: Callable[[], pl.DataFrame],
    warmup_s: float,
) -> dict[str, float]:
    """Return the amounts that several flows delivered over the same time, by name, in one unspecified unit.

    The time is that in which all bulk flows among them are active. Without a bulk flow it is the whole
    measured time. The result is empty if there is no such time. It is also empty if flows have different
    spans and a run has neither counts nor samples of that time.

    Args:
        rows: Rows of the table of flows.
        bulk: Names of the bulk flows of the run.
        series: Returns the table of samples, which is read only if needed.
        warmup_s: Length of the warm-up.
    """
    known = [row for row in rows if row["goodput_bps"] is not None]
    spans = {row["flow"]: span_of(row, warmup_s) for row in known}
    if len(set(spans.values())) <= 1:
        return {row["flow"]: row["goodput_bps"] for row in known}
    bulk_spans = list[Span]()
    for row in known:
        span = spans[row["flow"]]
        if span is None:
            return {}
        if row["flow"] in bulk:
            bulk_spans.append(span)
    if not bulk_spans:
        return {row["flow"]: row["goodput_bps"] * _length(spans[row["flow"]]) for row in known}
    shared = {row["flow"]: row.get("shared_bytes") for row in known}
    is_one = len({row.get("shared_s") for row in known}) == 1  # not of downloads and uploads together
    if is_one and all(value is not None for value in shared.values()):
        return {name: float(value) for name, value in shared.items() if value is not None}
    from_s, until_s = max(s for s, _ in bulk_spans), min(e for _, e in bulk_spans)
    return _sampled(series(), list(spans), from_s, until_s)


def _length(span: Span | None) -> float:
    return 0.0 if span is None else span[1] - span[0]


def _sampled(series: pl.DataFrame, flows: Sequence[str], from_s: float, until_s: float) -> dict[str, float]:
    """Return the sum of each flow's samples within a span; empty if there are none."""
    interval_s = spacing_s(series)
    if interval_s is None or from_s >= until_s:
        return {}
    time_s = pl.col("time_s")
    is_within = (time_s - interval_s >= from_s - EDGE_S) & (time_s <= until_s + EDGE_S)
    sums = dict(series.filter(is_within).group_by("flow").agg(pl.col("goodput_bps").sum()).rows())
    return {flow: float(sums[flow]) for flow in flows if sums.get(flow) is not None}
