"""Figures of operating points and of radio paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.scenario import resolve
from fullpipe.studies.adbbr2025 import mobile, wifi
from fullpipe.studies.adbbr2025.measures import MBPS, MS, SETTLED_S
from fullpipe.studies.experiments import Measurements, dumbbell_of
from fullpipe.studies.text import bounds_of

# Counterparts of Figures 2 and 3: delivery rate and RTT over data in flight, and operating points.


POINT = {"run": pl.String, "flow": pl.String, "point": pl.String} | dict.fromkeys(
    ("inflight_mb", "rate_mbps", "rtt_ms"), pl.Float64
)
MB = 1e-6
GRID_MB = 0.02
"""Width of the bins of data in flight, MB. A bin is drawn as the median of its samples."""


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


# Counterparts of Figures 6, 7, 12 and 13: every algorithm in every cell of the grids, both buffers.


QUANTITIES = {"goodput_mbps": "Mbit/s", "short_share": "share of 10 ms", "jain": "Jain's index"}

SHARES = ("short_share", "jain")
"""Quantities that are at most 1."""


@dataclass(frozen=True)
class Figure:
    """A figure with a row per cell of its experiments, and a column per value of a condition."""

    stem: str
    quantity: str
    experiments: tuple[str, ...]
    across: str
    where: dict[str, str] = field(default_factory=dict)


FILES_5G, PAIRS_5G = (mobile.DOWNLOAD, mobile.LTE_DOWNLOAD), (mobile.FAIRNESS, mobile.LTE_FAIRNESS)
FIGURES = (
    Figure("figure-6", "goodput_mbps", FILES_5G, "rtt"),
    *(
        Figure(f"figure-7-{rtt_ms}ms", "goodput_mbps", (wifi.DOWNLOAD,), "errors", {"rtt": f"{rtt_ms} ms"})
        for rtt_ms in wifi.RTTS_MS
    ),
    Figure("figure-12-share", "short_share", PAIRS_5G, "receivers"),
    Figure("figure-12-index", "jain", PAIRS_5G, "receivers"),
    Figure("figure-13-share", "short_share", (wifi.FAIRNESS,), "errors"),
    Figure("figure-13-index", "jain", (wifi.FAIRNESS,), "errors"),
)


@plots.in_house_style
def draw(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw download rates, shares of the flow of 10 ms, and Jain's index, for all cells with runs."""
    of = [figure for figure in FIGURES if any(found.choices(e, "cell") for e in figure.experiments)]
    return [path for figure in of for path in grid(found, names, figure, folder)]


def grid(found: Measurements, names: Sequence[str], said: Figure, folder: Path) -> list[Path]:
    """Draw bars of both buffers for every algorithm."""
    cells = [(e, cell) for e in said.experiments for cell in found.choices(e, "cell")]
    values, buffers = (found.choices(cells[0][0], key) for key in (said.across, "buffer"))
    label = QUANTITIES[said.quantity]
    figure, axes = plots.new_figure(len(cells), len(values), row_height=1.25, share_y="row")
    frames = []
    for place, ((experiment, cell), value) in zip(axes, product(cells, values), strict=True):
        where = {**said.where, "cell": cell, said.across: value}
        groups = {
            str(buffer).replace("bdp", "BDP"): {
                name: found.at(experiment, said.quantity, name, {**where, "buffer": buffer}) for name in names
            }
            for buffer in buffers
        }
        bounds = bounds_of(said.quantity)
        data = plots.grouped_bars(place, groups, label=label, legend=False, bounds=bounds)
        place.set_title(f"{cell}: {said.across} {value}")
        place.tick_params(axis="x", labelrotation=90, labelbottom=cell == cells[-1][1])
        place.set_ylabel(label if value == values[0] else "")
        frames.append(
            data.select(pl.lit(str(cell)).alias("cell"), pl.lit(value).alias(said.across), pl.all())
        )
    for row in range(0, len(axes), len(values)):
        patches = [patch for place in axes[row : row + len(values)] for patch in place.patches]
        tops = [patch.get_height() for patch in patches if isinstance(patch, Rectangle)]
        axes[row].set_ylim(0, 1.05 * max(1.0 if said.quantity in SHARES else 0.0, *tops))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, said.stem)
