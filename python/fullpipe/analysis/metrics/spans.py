"""Time spans of flows: what several deliver is counted over one span, never added over unlike ones."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from fullpipe.analysis.metrics.samples import EDGE_S, spacing_s
from fullpipe.lazy import pl

Span = tuple[float, float]
"""Start and end, s."""
_BLOCK = 128


def span_of(row: Mapping[str, Any], warmup_s: float) -> Span | None:
    """Return the time over which a row of the table of flows is measured; None if it is unknown or empty."""
    start_s, end_s = max(row["start_s"] or 0.0, warmup_s), row["end_s"]
    return (start_s, end_s) if end_s is not None and end_s > start_s else None


def together_bps(rates_bps: Sequence[float | None], spans: Sequence[Span | None]) -> float | None:
    """Return the rate of several flows together over one span, from the first start to the last end, bit/s.

    Formula: Σ rate_i · time_i / (last end - first start).
    Source: RFC 2647, section 3.17, goodput, of all flows.

    Args:
        rates_bps: The mean rate of every flow over its own span.
        spans: These spans.

    Returns:
        None if no rate is known, or if a span is not known and spans may differ.

    >>> together_bps([19e6, 19e6], [(0.0, 5.0), (5.0, 10.0)])
    19000000.0
    """
    known = [(rate, span) for rate, span in zip(rates_bps, spans, strict=True) if rate is not None]
    if not known:
        return None
    if len({span for _, span in known}) == 1:
        return added([rate for rate, _ in known])
    if any(span is None for _, span in known):
        return None
    bits = added([rate * (span[1] - span[0]) for rate, span in known if span])
    return bits / (max(span[1] for _, span in known if span) - min(span[0] for _, span in known if span))


def together_of_rows() -> pl.Expr:
    """Return `together_bps` of the rows of a table of flows as an aggregate of its columns.

    The span of a flow is worked out of what it delivered and its rate, as rows do not have the warm-up. A
    flow that delivered nothing begins with the others.
    """
    bits, rates = 8 * pl.col("delivered_bytes").sum(), pl.col("goodput_bps")
    starts_s = pl.col("end_s") - 8 * pl.col("delivered_bytes") / rates
    length_s = pl.col("end_s").filter(rates.is_not_null()).max() - starts_s.filter(rates > 0).min()
    return pl.when(length_s > 0).then(bits / length_s).otherwise(rates.sum())


def added(numbers: Sequence[float]) -> float:
    """Return a sum, added in the order in which polars adds a column: in blocks of 128.

    `sum` adds otherwise from Python 3.12 on.
    """
    if len(numbers) < _BLOCK:
        return reduce(add, numbers, 0.0)
    return float(pl.Series(numbers).sum())


def compared(
    rows: Sequence[Mapping[str, Any]],
    bulk: Container[str],
    series: Callable[[], pl.DataFrame],
    warmup_s: float,
) -> dict[str, float]:
    """Return what each of several flows delivered over the same time, in any unit, by its name.

    The time is that in which all bulk flows among them are active; of flows without a bulk flow it is the
    whole time that is measured. Empty if there is no such time, or if it cannot be told what was delivered in
    it: of flows with unlike spans, engines that do not count it need samples.

    Args:
        rows: Rows of the table of flows.
        bulk: Names of the bulk flows of the run.
        series: Returns the table of samples, which is read if it is needed.
        warmup_s: The time that is left out.
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
    """Return the sums of the samples of each flow that are within a span; empty if there is none."""
    interval_s = spacing_s(series)
    if interval_s is None or from_s >= until_s:
        return {}
    time_s = pl.col("time_s")
    is_within = (time_s - interval_s >= from_s - EDGE_S) & (time_s <= until_s + EDGE_S)
    sums = dict(series.filter(is_within).group_by("flow").agg(pl.col("goodput_bps").sum()).rows())
    return {flow: float(sums[flow]) for flow in flows if sums.get(flow) is not None}
