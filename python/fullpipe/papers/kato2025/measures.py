"""From the tables of our runs to the quantities that the paper prints."""

from __future__ import annotations

import polars as pl

from fullpipe.metrics import jain_of

SETTLED_S = 10.0
"""The paper describes pacing rates after the first ten seconds."""

MBPS = 1e-6

# BBRv1 cycles through eight phases, one at 1.25 and one at 0.75 times the estimate and six at it: the middles
# of the lower and upper eighth of all samples are the lower and the upper level.
LEVELS = {"pacing_low": 1 / 16, "pacing_cruise": 0.5, "pacing_high": 15 / 16}


def per_run(flows: pl.DataFrame, capacity_mbps: float) -> pl.DataFrame:
    """One row per run, from one row per flow with the columns buffer, sockets, seed, flow, goodput_bps.

    Adds mean, sample standard deviation, total, extremes, Jain's index, the flows below 1 and above 50
    Mbit/s, and the efficiency; rates in Mbit/s.
    """
    rate = pl.col("goodput_bps") * MBPS
    return (
        flows.group_by("buffer", "sockets", "seed")
        .agg(
            mean_mbps=rate.mean(),
            sd_mbps=rate.std(ddof=1),
            total_mbps=rate.sum(),
            min_mbps=rate.min(),
            max_mbps=rate.max(),
            jain=jain_of(rate),
            below_1=(rate < 1).sum().cast(pl.Float64),
            above_50=(rate > 50).sum().cast(pl.Float64),
            efficiency_percent=100 * rate.sum() / capacity_mbps,
        )
        .sort("sockets", "buffer", "seed")
    )


def pacing_levels(series: pl.DataFrame) -> dict[str, list[float]]:
    """The levels of every flow's pacing rate once settled, in Mbit/s, one value per flow, and the slowest
    flow's median.

    `series` has the columns time_s, flow, pacing_bps.
    """
    settled = series.filter((pl.col("time_s") > SETTLED_S) & pl.col("pacing_bps").is_not_null())
    rate = pl.col("pacing_bps") * MBPS
    levels = (
        settled.group_by("flow", maintain_order=True)
        .agg(**{name: rate.quantile(share, "linear") for name, share in LEVELS.items()})
        .drop_nulls()
    )
    found = {name: [float(value) for value in levels[name]] for name in LEVELS}
    found["pacing_slowest"] = [min(found["pacing_cruise"])] if found["pacing_cruise"] else []
    return found
