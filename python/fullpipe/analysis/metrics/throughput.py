"""Throughput and goodput, and how flows share them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from fullpipe.analysis.metrics.samples import between, means_over, real, spacing_s, together_of_rows
from fullpipe.lazy import pl
from fullpipe.runs.spans import rows_together_bps

# Fairness: how evenly flows share the goodput (Jain's index), and the harm that one flow does to another.


def jain(rates: Iterable[float | None]) -> float | None:
    """Jain's fairness index: 1 if all rates are equal, 1/n if one of n flows has everything.

    Formula: (Σ x)² / (n Σ x²).
    Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.

    Returns:
        None if there is no rate, or all rates are zero.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    """
    known = [rate for rate in rates if rate is not None]
    squares = sum(rate * rate for rate in known)
    return sum(known) ** 2 / (len(known) * squares) if squares else None


def jain_of_some(delivered: Mapping[str, float], flows: Container[str]) -> float | None:
    """Jain's index of the amounts that some flows delivered in the same time span; None for fewer than two
    flows.

    Formula: (Σ x)² / (n Σ x²) over the n amounts.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.

    Args:
        delivered: Amounts of flows with the same direction, by flow name: see `samples.compared`.
        flows: Names of the competing flows.

    >>> jain_of_some({"a": 2.0, "b": 2.0, "call": 1.0}, ["a", "b"])
    1.0
    """
    own = [amount for name, amount in delivered.items() if name in flows]
    return jain(own) if len(own) > 1 else None


def jain_among(flows: pl.DataFrame) -> float | None:
    """Jain's index of the goodput of flows, each from its start to its end; None for fewer than two flows.

    Formula: (Σ x)² / (n Σ x²) over the n goodputs.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.

    Args:
        flows: Rows of the competing flows in the table of flows, as `bulk_flows` gives them.
    """
    return jain(flows["goodput_bps"]) if flows.height > 1 else None


def jain_of(rate: pl.Expr) -> pl.Expr:
    """Jain's index as an aggregate of a column; NaN if all rates are zero. `jain` takes a list instead."""
    return rate.sum() ** 2 / (rate.len() * (rate**2).sum())


def jain_over_time(series: pl.DataFrame, flows: pl.DataFrame, slack_s: float = 0.0) -> pl.DataFrame:
    """Jain's index of the goodput in every sample, over the flows that were active during the whole interval
    of the sample.

    Formula: (Σ x)² / (n Σ x²) over the n flows with start ≤ t - interval and end ≥ t.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984, sample by sample. The shorter the interval, the lower the
    index: an interval below the RTT is too short for flows to share the link.

    Args:
        series: Table of samples.
        flows: Rows of the competing flows in the table of flows, as `bulk_flows` gives them.
        slack_s: A flow counts in a sample if it starts at most this time after the sample's interval begins.
            Set this time if flows start at random times.

    Returns:
        The columns time_s and jain, null if no flow was active or none delivered anything. Samples of the
        warm-up are included.
    """
    interval_s = spacing_s(series) or 0.0
    present = (pl.col("time_s") - interval_s >= pl.col("start_s") - slack_s) & (
        pl.col("time_s") <= pl.col("end_s")
    )
    return (
        series.join(flows.select("flow", "start_s", "end_s"), on="flow")
        .filter(present)
        .group_by("time_s", maintain_order=True)
        .agg(jain=jain_of(pl.col("goodput_bps")))
        .with_columns(pl.col("jain").fill_nan(None))
        .sort("time_s")
    )


def starved_flows(flows: pl.DataFrame, below_bps: float = 1e6) -> int:
    """Number of starved flows: flows with a goodput below a threshold (default: 1 Mbit/s).

    Formula: #{i: goodput_i < threshold}.
    Source: the count of starved flows in Kato et al., AFIN 2025.

    Args:
        flows: Rows of the competing flows in the table of flows, as `bulk_flows` gives them. Leave out flows
            that have little to send: they do not starve.
        below_bps: The threshold.
    """
    return int((flows["goodput_bps"] < below_bps).sum())


def throughput_ratio(first_bps: Iterable[float], second_bps: Iterable[float]) -> float | None:
    """Ratio of the mean goodputs of two kinds of flows; None if the second kind gets nothing.

    Formula: mean goodput of the first / mean goodput of the second.
    Source: De Schepper, Bondarenko, Tsang and Briscoe, "PI²: a linearized AQM for both classic and scalable
    TCP", CoNEXT 2016, rate balance.

    >>> throughput_ratio([6e6], [2e6, 4e6])
    2.0
    """
    first, second = list(first_bps), list(second_bps)
    if not first or not second or sum(second) == 0:
        return None
    return (sum(first) / len(first)) / (sum(second) / len(second))


def harm(alone: float, together: float, *, more_is_better: bool = True) -> float | None:
    """Harm: the share of a flow's performance that a competitor takes, from 0 (nothing) to 1 (everything).

    Two runs are needed: one with the flow alone, one with the competitor. A value below 0 is a benefit.

    Formula: (alone - together) / alone if more is better, such as throughput; (together - alone) / together
    if less is better, such as delay and loss.
    Source: Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's fairness index: setting the bar for the
    deployment of congestion control algorithms", HotNets 2019, section 4.

    Returns:
        None if the denominator is zero.

    >>> harm(10e6, 4e6)
    0.6
    >>> harm(0.02, 0.08, more_is_better=False)
    0.75
    """
    whole, lost = (alone, alone - together) if more_is_better else (together, together - alone)
    return lost / whole if whole else None


# Throughput of flows and links. Goodput counts payload once; all functions take the tables of a run.


def total_goodput_bps(flows: pl.DataFrame, warmup_s: float | None = None) -> float:
    """Goodput of all flows together over one span, bit/s; 0 if none is known.

    Formula: Σ delivered payload_i / (last end - first start), without the warm-up.
    Source: RFC 2647, section 3.17, goodput.

    Args:
        flows: Table of flows. Without the columns start_s and end_s, all flows are taken to have the same
            span.
        warmup_s: Length of the warm-up. None: derived from the delivered bytes and the goodput of each flow.
    """
    return _together_bps(flows, "goodput_bps", warmup_s)


def mean_goodput_bps(flows: pl.DataFrame) -> float | None:
    """Mean goodput per flow, bit/s; None without flows.

    Formula: Σ goodput_i / n.
    Source: RFC 2647, section 3.17, goodput.
    """
    return real(flows["goodput_bps"].mean())


def standard_deviation_bps(flows: pl.DataFrame, ddof: int = 1) -> float | None:
    """Standard deviation of the goodput between the flows of one run, bit/s.

    Formula: sqrt(Σ (goodput_i - mean)² / (n - ddof)).
    Source: the spread of flows in Kato et al., AFIN 2025, Table II.

    Args:
        flows: Table of flows.
        ddof: 1 for a sample of flows (divide by n - 1), 0 for the population (divide by n).

    Returns:
        None with fewer than two flows; if `ddof` is 0, None only without flows.
    """
    return real(flows["goodput_bps"].std(ddof=ddof))


def throughput_percentiles_bps(
    series: pl.DataFrame, percentiles: Sequence[float] = (5, 50, 95), warmup_s: float = 0.0
) -> pl.DataFrame:
    """Percentiles over time of the goodput of every flow, bit/s.

    Formula: the p-th percentile of the samples after the warm-up, by linear interpolation between them.
    Source: Hyndman and Fan 1996, "Sample quantiles in statistical packages", definition 7.

    Args:
        series: Table of samples.
        percentiles: From 0 to 100.
        warmup_s: Leaves out the samples up to this time.

    Returns:
        One row per flow in the order of the table, with the columns flow, p5_bps, p50_bps and so on.
    """
    goodput = pl.col("goodput_bps")
    columns = [goodput.quantile(p / 100, "linear").alias(f"p{p:g}_bps") for p in percentiles]
    return series.filter(pl.col("time_s") > warmup_s).group_by("flow", maintain_order=True).agg(columns)


def interval_goodput(series: pl.DataFrame, interval_s: float) -> pl.DataFrame:
    """Goodput of every flow in consecutive intervals, bit/s: the instantaneous throughput of figures.

    Formula: payload delivered in (t - interval, t], over the interval; the mean of the samples in it.
    Source: RFC 2647, section 3.17, goodput. State the interval with the values, because values depend on the
    interval.

    Args:
        series: Table of samples.
        interval_s: A multiple of the time between samples; intervals begin at 0.

    Returns:
        The columns flow, time_s (end of the interval) and goodput_bps.
    """
    return means_over(series, "flow", "goodput_bps", interval_s)


def cumulative_goodput(series: pl.DataFrame, since_s: float = 0.0) -> pl.DataFrame:
    """Mean goodput of every flow from `since_s` until each later sample, bit/s.

    All samples weigh the same, so the later a change of the path, the smaller its effect on the mean.

    Formula: Σ goodput_k / n over the n samples of equal length in (since, t].
    Source: the throughput in the figures of Gniaz, TU Delft 2025.

    Returns:
        The samples after `since_s`, in the order of time, with goodput_bps replaced.
    """
    after = between(series, since_s, float("inf")).sort("time_s", maintain_order=True)
    total = pl.col("goodput_bps").cum_sum() / pl.int_range(1, pl.len() + 1)
    return after.with_columns(total.over("flow").alias("goodput_bps"))


def interval_wire_throughput(packets: pl.DataFrame, interval_s: float, point: str = "sender") -> pl.DataFrame:
    """Rate of every flow's data packets on the wire in consecutive intervals, bit/s.

    Headers and retransmissions count. Packets must be captured at `point`: "sender" for packets that enter
    the path, the name of a link for packets that leave the link.

    Formula: 8 Σ size of the data packets in [t - interval, t), over the interval.
    Source: RFC 2285, section 3.5.2, offered load, of one flow.

    Returns:
        The columns flow, time_s (end of the interval) and wire_bps; intervals without a packet have no row.
    """
    end = (pl.col("time_ns") / 1e9 / interval_s).floor() * interval_s + interval_s
    return (
        packets.filter((pl.col("point") == point) & (pl.col("kind") == "data"))
        .group_by("flow", end.alias("time_s"), maintain_order=True)
        .agg(wire_bps=8 * pl.col("size").sum() / interval_s)
    )


def cumulative_wire_bps(flows: pl.DataFrame, warmup_s: float | None = None) -> float:
    """Rate at which all flows put bytes on the wire over one span, bit/s; 0 if it is unknown.

    Formula: 8 Σ bytes sent_i / (last end - first start), headers and retransmissions included, the warm-up
    left out.
    Source: RFC 2285, section 3.5.2, offered load.

    Args:
        flows: Table of flows. Without the columns start_s and end_s, all flows are taken to have the same
            span.
        warmup_s: Length of the warm-up. None: derived from the delivered bytes and the goodput of each flow.
    """
    return _together_bps(flows, "wire_bps", warmup_s)


def _together_bps(flows: pl.DataFrame, column: str, warmup_s: float | None) -> float:
    if not {"start_s", "end_s"} <= set(flows.columns):
        return float(flows[column].sum())
    if warmup_s is None:
        missing = {"cca", "rtt_min_s"} - set(flows.columns)
        whole = flows.with_columns(pl.lit(None).alias(name) for name in missing)
        return float(whole.select(together_of_rows(column)).item() or 0.0)
    return rows_together_bps(flows.to_dicts(), column, warmup_s) or 0.0


def utilisation(links_summary: pl.DataFrame, link: str = "bottleneck") -> float | None:
    """Share of the time in which a link sent; None if its rate is unlimited.

    The rate of the link counts, not the rate of a shaper in its queue: a link of 100 Mbit/s behind a token
    bucket of 10 Mbit/s reaches at most 0.1.

    Formula: time in which a packet was being sent, over the time after the warm-up.
    Source: RFC 5166, section 2.1, throughput as the utilisation of a link.

    Raises:
        KeyError: If there is no such link.
    """
    rows = links_summary.filter(pl.col("link") == link)
    if rows.is_empty():
        raise KeyError(link)
    return real(rows["utilisation"][0])
