"""Fairness: evenness of shares, and the harm that one flow does to another."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from fullpipe.analysis.metrics.samples import spacing_s
from fullpipe.lazy import pl


def jain(rates: Iterable[float | None]) -> float | None:
    """Jain's fairness index: 1 if all rates are equal, 1/n if one of n flows has everything.

    Formula: (Σ x)² / (n Σ x²).
    Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.

    Returns:
        None if there is no rate, or all of them are zero.

    >>> jain([1.0, 1.0, 1.0, 0.0])
    0.75
    """
    known = [rate for rate in rates if rate is not None]
    squares = sum(rate * rate for rate in known)
    return sum(known) ** 2 / (len(known) * squares) if squares else None


def jain_of_some(delivered: Mapping[str, float], flows: Container[str]) -> float | None:
    """Jain's index of the amounts that some flows delivered over the same time; None for fewer than two.

    Formula: (Σ x)² / (n Σ x²) over the n amounts.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.

    Args:
        delivered: Amounts of flows whose data go the same way, by name: see `spans.compared`.
        flows: Names of those that compete.

    >>> jain_of_some({"a": 2.0, "b": 2.0, "call": 1.0}, ["a", "b"])
    1.0
    """
    own = [amount for name, amount in delivered.items() if name in flows]
    return jain(own) if len(own) > 1 else None


def jain_among(flows: pl.DataFrame) -> float | None:
    """Jain's index of the goodput of flows, each over its own time; None for fewer than two.

    Formula: (Σ x)² / (n Σ x²) over the n goodputs.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.

    Args:
        flows: Rows of the table of flows: those that compete, as `bulk_flows` gives them.
    """
    return jain(flows["goodput_bps"]) if flows.height > 1 else None


def jain_of(rate: pl.Expr) -> pl.Expr:
    """Jain's index as an aggregate of a column; NaN if all rates are zero. `jain` takes a list instead."""
    return rate.sum() ** 2 / (rate.len() * (rate**2).sum())


def jain_over_time(series: pl.DataFrame, flows: pl.DataFrame, slack_s: float = 0.0) -> pl.DataFrame:
    """Jain's index of the goodput in every sample, over the flows that were active for all of it.

    Formula: (Σ x)² / (n Σ x²) over the n flows with start ≤ t - interval and end ≥ t.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984, sample by sample. The shorter the interval, the lower the
    index: an interval below the RTT is too short for flows to share the link.

    Args:
        series: Table of samples.
        flows: Rows of the table of flows, with their starts and ends: those that compete, as `bulk_flows`
            gives them.
        slack_s: Time of a sample that a flow may miss at its start, for flows with a random start.

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
    """Number of flows that starve: their goodput is below a threshold (default: 1 Mbit/s).

    Formula: #{i: goodput_i < threshold}.
    Source: the count of starved flows in Kato et al., AFIN 2025.

    Args:
        flows: Rows of the table of flows: those that compete, as `bulk_flows` gives them. A flow that sends
            little by itself does not starve.
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
