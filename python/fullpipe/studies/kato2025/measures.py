"""Quantities of the paper, from the tables of our runs. Rates are in Mbit/s."""

from __future__ import annotations

import polars as pl

from fullpipe.analysis.metrics import jain_of
from fullpipe.runs import Run

CAPACITY_MBPS = 1000.0
SETTLED_S = 10.0
"""The paper describes pacing rates after the first ten seconds."""
LATE_S = 10.0
"""Length of the end of a run."""

MBPS = 1e-6

# BBRv1 cycles through eight phases: one at 1.25 times its estimate, one at 0.75 times, and six at the
# estimate. The middles of the lower and upper eighth of all samples are thus the lower and the upper level.
LEVELS = {"pacing_low": 1 / 16, "pacing_cruise": 0.5, "pacing_high": 15 / 16}


def of_run(run: Run) -> dict[str, float]:
    """Quantities of the sixteen flows and, for a run with samples, their pacing rates."""
    return of_flows(run.flows) | ({} if run.series.is_empty() else of_samples(run.series))


def of_flows(flows: pl.DataFrame) -> dict[str, float]:
    """Statistics of the column goodput_bps.

    They are mean, sample standard deviation, total, extremes, Jain's index, the numbers of flows below 1,
    above 50 and between 1 and 50 Mbit/s, and the efficiency.

    The total is sixteen times the mean, as in Table II. Flows start within the first 10 ms of 50 s, so
    that one span for all would give at most 0.02 % less.
    """
    rate = pl.col("goodput_bps") * MBPS
    row = flows.select(
        mean_mbps=rate.mean(),
        sd_mbps=rate.std(ddof=1),
        total_mbps=rate.sum(),
        min_mbps=rate.min(),
        max_mbps=rate.max(),
        jain=jain_of(rate),
        below_1=(rate < 1).sum(),
        above_50=(rate > 50).sum(),
        in_between=rate.is_between(1, 50).sum(),
        efficiency_percent=100 * rate.sum() / CAPACITY_MBPS,
    ).row(0, named=True)
    return {name: float(value) for name, value in row.items()}


def of_samples(series: pl.DataFrame) -> dict[str, float]:
    """Pacing rates after start-up, and the number of flows that retransmit during start-up.

    The pacing rates are the levels of the median flow, those of the slowest flow, and the ratio of the
    fastest to the slowest flow.

    `series` has the columns time_s, flow, pacing_bps and retransmitted_packets.
    """
    settled = series.filter((pl.col("time_s") > SETTLED_S) & pl.col("pacing_bps").is_not_null())
    late = settled.filter(pl.col("time_s") > float(series["time_s"].to_numpy().max()) - LATE_S)
    levels, at_end = _levels(settled), _levels(late)
    early = series.filter((pl.col("time_s") <= SETTLED_S) & (pl.col("retransmitted_packets") > 0))
    slowest, fastest = levels["pacing_cruise"].min(), levels["pacing_cruise"].max()
    return {
        **{name: _number(levels[name].median()) for name in LEVELS},
        "pacing_slowest": _number(slowest),
        "pacing_slowest_late": _number(at_end["pacing_cruise"].min()),
        "pacing_spread": _number(fastest) / _number(slowest),
        "early_losers": float(early["flow"].n_unique()),
    }


def _levels(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the levels of the pacing rate, one row per flow."""
    rate = pl.col("pacing_bps") * MBPS
    return samples.group_by("flow", maintain_order=True).agg(
        **{name: rate.quantile(share, "linear") for name, share in LEVELS.items()}
    )


def _number(value: object) -> float:
    """Return a number as float, and NaN without one: the run is too short to settle."""
    return float(value) if isinstance(value, int | float) else float("nan")
