"""Time spans of flows. The rate of several flows together is computed over one common span, as rates over
different spans cannot be added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from fullpipe.lazy import pl

Span = tuple[float, float]
"""Start and end, s."""
_BLOCK = 128


def span_of(row: Mapping[str, Any], warmup_s: float) -> Span | None:
    """Return the span over which a row of the table `flows` is measured; None if unknown or empty."""
    start_s, end_s = max(row["start_s"] or 0.0, warmup_s), row["end_s"]
    return (start_s, end_s) if end_s is not None and end_s > start_s else None


def together_bps(rates_bps: Sequence[float | None], spans: Sequence[Span | None]) -> float | None:
    """Return the rate of several flows together in bit/s, over the span from first start to last end.

    Formula: Σ rate_i · duration_i / (last end - first start), where duration_i is the length of span i.
    Source: RFC 2647, section 3.17 (goodput), applied to all flows.

    Args:
        rates_bps: The mean rate of every flow over its own span.
        spans: The span of every flow.

    Returns:
        The rate; None if no rate is known, or if spans differ and one of them is unknown.

    >>> together_bps([19e6, 19e6], [(0.0, 5.0), (5.0, 10.0)])
    19000000.0
    """
    known = [(rate, span) for rate, span in zip(rates_bps, spans, strict=True) if rate is not None]
    if not known:
        return None
    if len({span for _, span in known}) == 1:
        return _added([rate for rate, _ in known])
    if any(span is None for _, span in known):
        return None
    bits = _added([rate * (span[1] - span[0]) for rate, span in known if span])
    return bits / (max(span[1] for _, span in known if span) - min(span[0] for _, span in known if span))


def rows_together_bps(rows: Sequence[Mapping[str, Any]], column: str, warmup_s: float) -> float | None:
    """Return `together_bps` of rows of the table `flows`.

    Pings and probes do not extend the common span, as they often begin before the other flows to measure the
    idle path. Bytes that pings and probes deliver outside the common span do not count.

    Args:
        rows: Rows of the table `flows`.
        column: Column of rates, each a mean over the span of the flow after the warm-up.
        warmup_s: Duration of the warm-up, which is left out.
    """
    rates_bps, spans = [row[column] for row in rows], [span_of(row, warmup_s) for row in rows]
    others = [
        span
        for row, rate_bps, span in zip(rows, rates_bps, spans, strict=True)
        if rate_bps is not None and span is not None and not is_echo(row)
    ]
    if others:
        first_s, last_s = min(start for start, _ in others), max(end for _, end in others)
        for n, (row, span) in enumerate(zip(rows, spans, strict=True)):
            if span is not None and is_echo(row):
                start_s, end_s = max(span[0], first_s), min(span[1], last_s)
                rates_bps[n], spans[n] = (rates_bps[n], (start_s, end_s)) if end_s > start_s else (None, None)
    return together_bps(rates_bps, spans)


def is_echo(row: Mapping[str, Any]) -> bool:
    """Whether a row of the table `flows` describes pings or probes: datagrams with a measured RTT."""
    return row.get("cca") is None and row.get("rtt_min_s") is not None


def _added(numbers: Sequence[float]) -> float:
    """Return a sum with the same rounding as the sum of a polars column, which is added in blocks of 128.

    From Python 3.12 on, the built-in `sum` compensates for rounding, so its result can differ.
    """
    if len(numbers) < _BLOCK:
        return reduce(add, numbers, 0.0)
    return float(pl.Series(numbers).sum())
