"""Delay: RTT, queueing, and throughput relative to delay. All functions take the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from fullpipe.analysis.metrics.samples import EDGE_S, between, mean, real
from fullpipe.lazy import pl


def rtt_percentiles_s(
    series: pl.DataFrame, percentiles: Sequence[float] = (5, 50, 95), warmup_s: float = 0.0
) -> pl.DataFrame:
    """Percentiles over time of the smoothed RTT of every flow, s.

    Every moment has the same weight. The percentiles in the table of flows (rtt_p50_s, rtt_p95_s, rtt_p99_s)
    are of unsmoothed RTT samples, one per ACK, so that busy moments weigh more.

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

    Engines that sample at the same times can be compared by it. The mean in the table of flows is of RTT
    samples, which are more frequent when more is sent. Their frequency also differs between engines. If a
    path slows down in mid-run, the two means differ by 10 % and more.

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

    Engines can be compared by it for the reason that `mean_srtt_s` gives.

    Formula: the percentile of the samples of the smoothed RTT after the warm-up and until the flow ended, by
    linear interpolation between them.
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
    Source: RFC 6349, buffer delay, here as a ratio of the 95th percentile.

    Args:
        flows: Table of flows.
        base_s: RTT of the empty path. Left out: the smallest sample of each flow, which is too large if the
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
    """Mean and 95th percentile of the sojourn time in a link's queue, s; None if no packet came.

    Formula: mean and percentile over the packets that left the queue of (time out - time in).
    Source: RFC 8289, the sojourn time of a packet.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    mean_s, p95_s = rows["sojourn_mean_s"][0], rows["sojourn_p95_s"][0]
    return None if mean_s is None or p95_s is None else (float(mean_s), float(p95_s))


def power(throughput_bps: float, delay_s: float) -> float:
    """Kleinrock's power, bit/s per second of delay: a change that raises it is worth its extra delay.

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
