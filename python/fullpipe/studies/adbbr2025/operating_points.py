"""Counterparts of Figures 2 and 3: delivery rate and RTT over data in flight, and operating points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.runs import Run
from fullpipe.scenario import resolve
from fullpipe.studies.adbbr2025.measures import MBPS, MS, SETTLED_S
from fullpipe.studies.experiments import dumbbell_of

POINT = {"run": pl.String, "flow": pl.String, "point": pl.String} | dict.fromkeys(
    ("inflight_mb", "rate_mbps", "rtt_ms"), pl.Float64
)
MB = 1e-6
GRID_MB = 0.02
"""Width of the bins of data in flight; each is drawn as the median of its samples."""


def figure_2(lone: Mapping[str, Run], folder: Path) -> list[Path]:
    """Draw a lone flow of each algorithm: medians over data in flight, and its operating point."""
    figure, (rates, rtts) = plots.new_figure(2, row_height=2.2)
    bdp_mb = max(_bdp_mb(run) for run in lone.values())
    frames = []
    for name, run in lone.items():
        found = over_inflight(run)
        frames.append(found.select(pl.lit(name).alias("algorithm"), pl.all()))
        for place, column in ((rates, "rate_mbps"), (rtts, "rtt_ms")):
            (dots,) = place.plot(found["inflight_mb"].to_numpy(), found[column].to_numpy(), ".", label=name)
            (at,) = operating(run)
            place.plot(at["inflight_mb"], at[column], "s", color=dots.get_color())
    for place in (rates, rtts):
        place.axvline(bdp_mb, color="#999999", linewidth=0.5, linestyle=":")
        place.legend()
    _label(rates, rtts)
    rates.set_title("one flow: medians of samples; square: mean after start-up; dotted: one BDP")
    return plots.save(figure, pl.concat(frames), folder, "figure-2")


def figure_3(run: Run, folder: Path) -> list[Path]:
    """Draw a short and a long flow: A and B are fair shares, C and D the operating points."""
    figure, (rates, rtts) = plots.new_figure(2, row_height=2.2)
    found = points(run)
    for row in found.iter_rows(named=True):
        for place, column in ((rates, "rate_mbps"), (rtts, "rtt_ms")):
            ideal = row["point"] in ("A", "B")
            place.plot(
                row["inflight_mb"], row[column], "o", fillstyle="none" if ideal else "full", color="#333333"
            )
            place.annotate(
                f"{row['point']}: {row['flow']}",
                (row["inflight_mb"], row[column]),
                (4, 4),
                textcoords="offset points",
            )
    _label(rates, rtts)
    rates.set_title("BBRv1, 5 BDP; hollow: fair share without a queue; filled: means after start-up")
    return plots.save(figure, found, folder, "figure-3")


def over_inflight(run: Run) -> pl.DataFrame:
    """Return the median delivery rate and RTT of a lone flow, by data in flight."""
    samples = run.series.filter(pl.col("in_flight_bytes") > 0, pl.col("delivery_bps") > 0)
    step = (pl.col("in_flight_bytes") * MB / GRID_MB).round() * GRID_MB
    return (
        samples.group_by(inflight_mb=step)
        .agg(rate_mbps=pl.col("delivery_bps").median() * MBPS, rtt_ms=pl.col("srtt_s").median() * MS)
        .sort("inflight_mb")
    )


def operating(run: Run) -> list[dict[str, float]]:
    """Return the mean data in flight, rate and RTT of every flow after start-up."""
    settled_s = min(SETTLED_S, run.scenario.duration_s / 2)
    settled = run.series.filter(pl.col("time_s") > settled_s)
    means = settled.group_by("flow", maintain_order=True).agg(
        inflight_mb=pl.col("in_flight_bytes").mean() * MB,
        rate_mbps=pl.col("goodput_bps").mean() * MBPS,
        rtt_ms=pl.col("srtt_s").mean() * MS,
    )
    return list(means.drop("flow").iter_rows(named=True))


def points(run: Run) -> pl.DataFrame:
    """Return the points of both flows: A and B with a fair share, the base RTT and one BDP in flight; C and D
    as measured."""
    names = list(run.flows["flow"])
    share_mbps = _rate_mbps(run) / len(names)
    smallest = run.series.group_by("flow").agg(pl.col("min_rtt_s").min())
    rtt_s: dict[str, float] = dict(smallest.iter_rows())
    ideal = [
        (name, label, share_mbps * rtt_s[name] / 8, share_mbps, rtt_s[name] * MS)
        for name, label in zip(names, ("A", "B"), strict=True)
    ]
    actual = [
        (name, label, at["inflight_mb"], at["rate_mbps"], at["rtt_ms"])
        for name, label, at in zip(names, ("C", "D"), operating(run), strict=True)
    ]
    rows = [("BBRv1", *row) for row in (*ideal, *actual)]
    return pl.DataFrame(rows, schema=POINT, orient="row")


def _bdp_mb(run: Run) -> float:
    network = resolve(run.scenario)
    return _rate_mbps(run) * network.base_rtt_s(network.flows[0]) / 8


def _rate_mbps(run: Run) -> float:
    return float(dumbbell_of(run.scenario).bottleneck.rate_bps or 0) * MBPS


def _label(rates: Axes, rtts: Axes) -> None:
    rates.set_ylabel("delivery rate (Mbit/s)")
    rtts.set_ylabel("RTT (ms)")
    rtts.set_xlabel("in flight (MB)")
