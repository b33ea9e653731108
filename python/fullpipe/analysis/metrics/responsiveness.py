"""Responsiveness: how many round trips fit into a minute while the path is loaded."""

from collections.abc import Sequence

import polars as pl

_KEPT = 0.95
_MINUTE_S = 60.0


def responsiveness(rtts_s: Sequence[float]) -> float | None:
    """Round trips per minute (RPM), one number for latency under load: more is better.

    Formula: 60 s / the mean of the shortest 95 % of round-trip times.
    Source: draft-ietf-ippm-responsiveness, "Aggregating the Measurements": 60,000 over a mean in ms of means
    that are trimmed at the 95th percentile, half of probes on connections of their own (TCP, TLS and HTTP in
    equal parts) and half of HTTP on the connections that load the path. Here probes and pings of their own
    are all there is, and have the whole weight.

    Args:
        rtts_s: Round-trip times of pings or probes under load, s.

    Returns:
        None without any.

    >>> responsiveness([0.5] * 19 + [5.0])
    120.0
    """
    if not len(rtts_s):
        return None
    kept = sorted(rtts_s)[: max(1, int(_KEPT * len(rtts_s)))]
    return _MINUTE_S * len(kept) / sum(kept)


def under_load(probes: pl.DataFrame, load: pl.DataFrame, warmup_s: float = 0.0) -> pl.DataFrame:
    """The rows of the table of probes that were sent after the warm-up and while one of some flows ran.

    Args:
        probes: Rows of the table of probes.
        load: Rows of the table of flows, of those that load the path.
        warmup_s: The time that is left out.
    """
    time = pl.col("time_s")
    spans = load.select("start_s", "end_s").drop_nulls().unique().iter_rows()
    runs = [(time >= start_s) & (time < end_s) for start_s, end_s in spans]
    return probes.filter(time >= warmup_s, pl.any_horizontal(runs)) if runs else probes.clear()
