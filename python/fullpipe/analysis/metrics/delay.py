"""Delays of packets, and responsiveness under load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from math import inf

from fullpipe.analysis.metrics.samples import EDGE_S, between, mean, real
from fullpipe.lazy import pl
from fullpipe.runs.spans import Span

# Delay: RTT, queueing, and throughput relative to delay. All functions take the tables of a run.


def rtt_percentiles_s(
    series: pl.DataFrame, percentiles: Sequence[float] = (5, 50, 95), warmup_s: float = 0.0
) -> pl.DataFrame:
    """Percentiles over time of the smoothed RTT of every flow, s.

    Every moment has the same weight. The percentiles in the table of flows (rtt_p50_s, rtt_p95_s, rtt_p99_s)
    are of unsmoothed RTT samples, one per ACK. In these percentiles, times with many ACKs have more weight.

    Formula: the p-th percentile of the samples after the warm-up, by linear interpolation between them.
    Source: Hyndman and Fan 1996, "Sample quantiles in statistical packages", definition 7.

    Returns:
        One row per flow in the order of the table, with the columns flow, p5_s, p50_s and so on.
    """
    rtt = pl.col("srtt_s")
    columns = [rtt.quantile(p / 100, "linear").alias(f"p{p:g}_s") for p in percentiles]
    return series.filter(pl.col("time_s") > warmup_s).group_by("flow", maintain_order=True).agg(columns)


def mean_srtt_s(series: pl.DataFrame, flows: pl.DataFrame, flow: str, warmup_s: float = 0.0) -> float | None:
    """Mean over time of the smoothed RTT of a flow, s; None without samples.

    Compare engines by this mean if they sample at the same times. The mean in the table of flows (rtt_mean_s)
    is over RTT samples, which are more frequent when more is sent. The frequency of RTT samples also differs
    between engines. If a path slows down in mid-run, the two means differ by 10 % or more.

    Formula: mean of the samples of the smoothed RTT after the warm-up and until the flow ended.
    Source: the smoothed RTT of RFC 6298, section 2.

    >>> series = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "flow": ["a"] * 3, "srtt_s": [0.02, 0.04, 0.04]})
    >>> mean_srtt_s(series, pl.DataFrame({"flow": ["a"], "end_s": [2.0]}), "a")
    0.03
    """
    return real(_smoothed_s(series, flows, flow, warmup_s).mean())


def srtt_percentile_s(
    series: pl.DataFrame, flows: pl.DataFrame, flow: str, percentile: float, warmup_s: float = 0.0
) -> float | None:
    """A percentile over time of the smoothed RTT of a flow, s; None without samples.

    Compare engines by this percentile, not by the percentiles in the table of flows: see `mean_srtt_s`.

    Formula: the percentile of the samples of the smoothed RTT after the warm-up and until the flow ended, by
    linear interpolation between samples.
    Source: the smoothed RTT of RFC 6298, section 2.

    >>> series = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "flow": ["a"] * 3, "srtt_s": [0.02, 0.04, 0.09]})
    >>> srtt_percentile_s(series, pl.DataFrame({"flow": ["a"], "end_s": [2.0]}), "a", 50)
    0.03
    """
    return real(_smoothed_s(series, flows, flow, warmup_s).quantile(percentile / 100, "linear"))


def _smoothed_s(series: pl.DataFrame, flows: pl.DataFrame, flow: str, warmup_s: float) -> pl.Series:
    """Return the samples of a flow's smoothed RTT after the warm-up and until the flow ended."""
    own = series.filter(pl.col("flow") == flow)
    return smoothed_s(own, flows, warmup_s).get(flow, own["srtt_s"].clear())


def _until(own: pl.DataFrame, end_s: float) -> pl.Series:
    return own["srtt_s"].filter(own["time_s"] <= end_s + EDGE_S)


def smoothed_s(series: pl.DataFrame, flows: pl.DataFrame, warmup_s: float = 0.0) -> dict[str, pl.Series]:
    """Return the samples of each flow's smoothed RTT after the warm-up and until its end, s, by flow name."""
    ends_s = dict(zip(flows["flow"].to_list(), flows["end_s"].to_list(), strict=True))
    after = between(series.select("flow", "time_s", "srtt_s"), warmup_s, inf)
    found = {}
    for (flow,), own in after.partition_by("flow", as_dict=True).items():
        end_s = ends_s.get(flow)
        found[str(flow)] = own["srtt_s"] if end_s is None else _until(own, end_s)
    return found


def rtt_inflation(flows: pl.DataFrame, base_s: float | None = None) -> float | None:
    """Ratio of the 95th percentile of the RTT to the base RTT, mean over flows.

    Formula: mean over i of rtt_p95_i / base_i.
    Source: RFC 6349, section 4.3, buffer delay percentage. Here the 95th percentile replaces the average RTT.

    Args:
        flows: Table of flows.
        base_s: RTT of the empty path. Default: the smallest sample of each flow, which is too large if the
            queue was never empty.

    Returns:
        1 without queueing delay; None if no flow has a sample.

    >>> flows = pl.DataFrame({"rtt_min_s": [0.04, 0.02], "rtt_p95_s": [0.06, 0.06]})
    >>> round(rtt_inflation(flows), 6), round(rtt_inflation(flows, base_s=0.02), 6)
    (2.25, 3.0)
    """
    ratios = flows["rtt_p95_s"] / (flows["rtt_min_s"] if base_s is None else base_s)
    return mean(ratios.to_list())


def queue_sojourn_s(links_summary: pl.DataFrame, link: str = "bottleneck") -> tuple[float, float] | None:
    """Mean and 95th percentile of the sojourn time in a link's queue, s; None if no packet arrived.

    Formula: mean and percentile of (time out - time in) over the packets that left the queue.
    Source: RFC 8289 defines the sojourn time of a packet.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    mean_s, p95_s = rows["sojourn_mean_s"][0], rows["sojourn_p95_s"][0]
    return None if mean_s is None or p95_s is None else (float(mean_s), float(p95_s))


def power(throughput_bps: float, delay_s: float) -> float:
    """Kleinrock's power, bit/s per second of delay. A change that raises power gains more throughput than it
    costs delay.

    Formula: throughput / delay.
    Source: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
    communications", ICC 1979; first by Giessler et al., Computer Networks 1978.

    Raises:
        ValueError: If the delay is not above zero.

    >>> power(10e6, 0.04)
    250000000.0
    """
    if delay_s <= 0:
        raise ValueError(f"delay_s: {delay_s} is not above zero")
    return throughput_bps / delay_s


def normalised_power(throughput_bps: float, delay_s: float, rate_bps: float, base_s: float) -> float:
    """Power as a share of the path's maximum: 1 is a full link without a queue.

    Formula: (throughput / rate) / (delay / base).
    Source: Kleinrock, "Internet congestion control using the power metric: keep the pipe just full, but no
    fuller", Ad Hoc Networks 2018.

    Args:
        throughput_bps: Throughput of the flows.
        delay_s: Their RTT.
        rate_bps: Rate of the bottleneck.
        base_s: RTT of the empty path.

    >>> normalised_power(5e6, 0.08, rate_bps=10e6, base_s=0.04)
    0.25
    """
    return power(throughput_bps, delay_s) / power(rate_bps, base_s)


# Latency under load: round trips per minute, latency increase, and the bufferbloat grade.


_KEPT = 0.95
_MINUTE_S = 60.0
_GRADES = (("A+", 0.005), ("A", 0.030), ("B", 0.060), ("C", 0.200), ("D", 0.400))
_WORST = "F"


def responsiveness(rtts_s: Sequence[float]) -> float | None:
    """Round trips per minute (RPM), a measure of latency under load: more is better.

    Formula: 60 s / the mean of the shortest 95 % of round-trip times.
    Source: draft-ietf-ippm-responsiveness, "Aggregating the Measurements": 60,000 over a mean in ms of means
    that are trimmed at the 95th percentile. The draft gives half of the weight to probes with separate
    connections (TCP, TLS and HTTP in equal parts), and half to HTTP over the connections that load the path.
    fullpipe has only separate probes and pings, which have the whole weight.

    Args:
        rtts_s: Round-trip times of pings or probes under load, s.

    Returns:
        None without round-trip times.

    >>> responsiveness([0.5] * 19 + [5.0])
    120.0
    """
    if not len(rtts_s):
        return None
    kept = sorted(rtts_s)[: max(1, int(_KEPT * len(rtts_s)))]
    return _MINUTE_S * len(kept) / sum(kept)


def latency_increase_s(rtts_s: Sequence[float], least_s: float) -> float | None:
    """Increase of the mean RTT under load over the RTT of the idle path, s.

    Formula: mean of the round-trip times under load - round-trip time of the idle path.
    Source: the measure that `bufferbloat_grade` grades.

    Args:
        rtts_s: Round-trip times of pings or probes under load, s.
        least_s: Round-trip time of the idle path, s.

    Returns:
        None without round-trip times.

    >>> latency_increase_s([0.25, 0.75], 0.125)
    0.375
    """
    return sum(rtts_s) / len(rtts_s) - least_s if len(rtts_s) else None


def bufferbloat_grade(increase_s: float) -> str:
    """Grade of an access line by its latency increase under load: A+, A, B, C, D or F.

    The grade ignores rate, loss, the idle RTT and the variation of the queueing delay. The grade also depends
    on the flow that loads the line: the grade is better if this flow keeps the queue short.

    Formula: A+ below 5 ms, A below 30, B below 60, C below 200, D below 400, else F.
    Source: DSLReports, "Bufferbloat Grades" (www.dslreports.com/faq/17930), which grades the mean of
    downloads and uploads.

    >>> [bufferbloat_grade(each) for each in (0.0, 0.03, 0.199, 2.0)]
    ['A+', 'B', 'C', 'F']
    """
    return next((grade for grade, most_s in _GRADES if increase_s < most_s), _WORST)


def under_load(probes: pl.DataFrame, load: pl.DataFrame, warmup_s: float = 0.0) -> pl.DataFrame:
    """Return the pings and probes that were sent after the warm-up while a flow loaded the path.

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
    """Return the spans in which none of the given flows is active, s. The first span begins at -infinity.

    Args:
        flows: Rows of the table of flows. Flows without a start were never active.
    """
    spans_s = _joined(flows.select("start_s", pl.col("end_s").fill_null(inf)).drop_nulls().iter_rows())
    return list(pairwise([-inf, *chain.from_iterable(spans_s), inf]))[::2]


def of_idle_path(probes: pl.DataFrame, idle_s: Iterable[Span]) -> pl.DataFrame:
    """Return the pings of a flow that met a path without other traffic.

    A ping counts if its reply arrives before the next traffic begins. In an idle span after traffic, a ping
    counts only if it was sent at or after the arrival of the span's first reply: the queues have then
    drained.

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
