"""Latency under load: round trips per minute, latency increase, and the bufferbloat grade."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from math import inf

from fullpipe.lazy import pl
from fullpipe.runs.spans import Span

_KEPT = 0.95
_MINUTE_S = 60.0
_GRADES = (("A+", 0.005), ("A", 0.030), ("B", 0.060), ("C", 0.200), ("D", 0.400))
_WORST = "F"


def responsiveness(rtts_s: Sequence[float]) -> float | None:
    """Round trips per minute (RPM), a measure of latency under load: more is better.

    Formula: 60 s / the mean of the shortest 95 % of round-trip times.
    Source: draft-ietf-ippm-responsiveness, "Aggregating the Measurements": 60,000 over a mean in ms of means
    that are trimmed at the 95th percentile. There, half of the weight is on probes with connections of their
    own (TCP, TLS and HTTP in equal parts), half on HTTP over the connections that load the path. Here only
    separate probes and pings exist, and have the whole weight.

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


def latency_increase_s(rtts_s: Sequence[float], least_s: float) -> float | None:
    """Increase of the mean RTT under load over the RTT of the idle path, s.

    Formula: mean of the round-trip times under load - that of the idle path.
    Source: the measure that `bufferbloat_grade` grades.

    Args:
        rtts_s: Round-trip times of pings or probes under load, s.
        least_s: Round-trip time of the idle path, s.

    Returns:
        None without any.

    >>> latency_increase_s([0.25, 0.75], 0.125)
    0.375
    """
    return sum(rtts_s) / len(rtts_s) - least_s if len(rtts_s) else None


def bufferbloat_grade(increase_s: float) -> str:
    """Grade of a line by its latency increase under load: A+, A, B, C, D or F.

    The grade ignores rate, loss, the idle RTT and the variation of the queueing delay. It also depends on the
    flow that loads the line: one that keeps the queue short has a good grade where another has a bad one.

    Formula: A+ below 5 ms, A below 30, B below 60, C below 200, D below 400, else F.
    Source: DSLReports, "Bufferbloat Grades" (www.dslreports.com/faq/17930), which grades the mean of
    downloads and uploads.

    >>> [bufferbloat_grade(each) for each in (0.0, 0.03, 0.199, 2.0)]
    ['A+', 'B', 'C', 'F']
    """
    return next((grade for grade, most_s in _GRADES if increase_s < most_s), _WORST)


def under_load(probes: pl.DataFrame, load: pl.DataFrame, warmup_s: float = 0.0) -> pl.DataFrame:
    """Return the probes that were sent after the warm-up while a flow loaded the path.

    Args:
        probes: Rows of the table of probes.
        load: Rows of the table of flows for the flows that load the path.
        warmup_s: Length of the warm-up.
    """
    spans_s = _joined(load.select("start_s", "end_s").drop_nulls().iter_rows())
    if not spans_s:
        return probes.clear()
    starts_s, ends_s = (pl.Series(ends, dtype=pl.Float64) for ends in zip(*spans_s, strict=True))
    times_s = probes["time_s"]
    last = starts_s.search_sorted(times_s, side="right").cast(pl.Int64) - 1
    is_loaded = (last >= 0) & (times_s < ends_s.gather(last.clip(lower_bound=0)))
    return probes.filter(is_loaded & (times_s >= warmup_s))


def idle_times(flows: pl.DataFrame) -> list[Span]:
    """Return the spans in which none of some flows is active, s. The first span begins at -infinity.

    Args:
        flows: Rows of the table of flows. Those without a start were never active.
    """
    spans_s = _joined(flows.select("start_s", pl.col("end_s").fill_null(inf)).drop_nulls().iter_rows())
    return list(pairwise([-inf, *chain.from_iterable(spans_s), inf]))[::2]


def of_idle_path(probes: pl.DataFrame, idle_s: Iterable[Span]) -> pl.DataFrame:
    """Return the pings of a flow that met a path without other traffic.

    Before the first traffic, such a ping has its reply before the traffic begins. Afterwards, it is also
    sent no earlier than the first reply to a ping from after the traffic: by then the queues have drained.

    Args:
        probes: Rows of the table of probes that have a reply, all of one flow.
        idle_s: See `idle_times`.
    """
    sent_s, back_s = pl.col("time_s"), pl.col("time_s") + pl.col("rtt_s")
    found = [probes.clear()]
    for from_s, until_s in idle_s:
        own = probes.filter((sent_s >= from_s) & (back_s <= until_s))
        found.append(own.filter(sent_s >= back_s.min()) if from_s > -inf else own)
    return pl.concat(found)


def _joined(spans_s: Iterable[Span]) -> list[Span]:
    """Merge overlapping and adjacent spans, in the order of time.

    >>> _joined([(4.0, 6.0), (0.0, 2.0), (1.0, 3.0), (3.0, 3.5)])
    [(0.0, 3.5), (4.0, 6.0)]
    """
    joined: list[Span] = []
    for start_s, end_s in sorted(spans_s):
        if joined and start_s <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end_s))
        elif start_s < end_s:
            joined.append((start_s, end_s))
    return joined
