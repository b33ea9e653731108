"""Draws counterparts of the paper's figures from the tables of our runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from fullpipe import plots
from fullpipe.analysis.metrics import interval_goodput
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.scenario import resolve
from fullpipe.studies.adbbr2025 import mobile, wifi
from fullpipe.studies.adbbr2025.measures import MBPS, MS, SETTLED_S, jain_over_time
from fullpipe.studies.experiments import Measurements, dumbbell_of
from fullpipe.studies.text import bounds_of

# Counterparts of Figures 2 and 3: delivery rate and RTT over data in flight, and operating points.


POINT = {"run": pl.String, "flow": pl.String, "point": pl.String} | dict.fromkeys(
    ("inflight_mb", "rate_mbps", "rtt_ms"), pl.Float64
)
MB = 1e-6
GRID_MB = 0.02
"""Width in MB of the bins of data in flight. The median of the samples in each bin is drawn."""


def figure_2(lone: Mapping[str, Run], folder: Path) -> list[Path]:
    """Draw Figure 2: for a lone flow of each algorithm, delivery rate and RTT over data in flight, and the
    operating point."""
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
    """Draw Figure 3 for flows with RTTs of 10 and 50 ms. A and B are fair shares, C and D are the operating
    points."""
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
    """Return the median delivery rate and the median RTT of a lone flow, by bin of data in flight."""
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
    """Return four points: A and B, the fair shares of both flows with the base RTT and one BDP in flight, and
    C and D, the measured operating points."""
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


# Counterparts of Figures 6, 7, 12 and 13: every algorithm in every radio cell (Wi-Fi and 5G), with both
# buffers.


QUANTITIES = {"goodput_mbps": "Mbit/s", "short_share": "share of 10 ms", "jain": "Jain's index"}

SHARES = ("short_share", "jain")
"""Quantities whose maximum is 1."""


@dataclass(frozen=True)
class Figure:
    """A figure with one row of panels per cell of its experiments, and one column per value of a
    condition."""

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
def draw_radio(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw download rates, shares of the flow with the RTT of 10 ms, and Jain's index, for all cells that
    were run."""
    of = [figure for figure in FIGURES if any(found.choices(e, "cell") for e in figure.experiments)]
    return [path for figure in of for path in grid(found, names, figure, folder)]


def grid(found: Measurements, names: Sequence[str], said: Figure, folder: Path) -> list[Path]:
    """Draw a figure with bars for every algorithm and both buffers in each panel."""
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


Series = dict[tuple[str, str, str], list[Run]]
"""Runs with samples by experiment, algorithm and buffer, in the order of the seeds."""

SMOOTH_S = 0.5
"""Time in s over which samples of throughput are averaged, because in-order delivery is bursty within one
RTT."""
LONE = "a flow by itself"
HEADLINE = "Ad-BBR faithful"


@plots.in_house_style
def draw(found: Measurements, series: Series, folder: Path) -> list[Path]:
    """Write all figures."""
    names = list(dict.fromkeys(name for _, name, _ in series))
    lone = {name: series[LONE, name, ""][0] for name in names if (LONE, name, "") in series}
    written = figure_2(lone, folder)
    written += figure_3(series["fairness", "BBRv1", "5 bdp"][0], folder)
    written += figure_5(found, names, folder)
    for buffer, over_time, means in (
        ("0.5 bdp", "figure-8", "figure-10"),
        ("5 bdp", "figure-9", "figure-11"),
    ):
        written += throughput_over_time(series, names, buffer, folder, over_time)
        written += throughput_and_index(found, names, buffer, folder, means)
    written += figure_14(series, names, folder)
    written += draw_radio(found, names, folder)
    return written + figure_15(found, names, folder) + figure_16(found, names, folder)


def figure_5(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw the throughput and the latency of one flow under random loss, for both buffers."""
    figure, axes = plots.new_figure(2, 2, row_height=2.4)
    buffers, losses = found.choices("loss", "buffer"), found.choices("loss", "loss")
    frames = []
    quantities = (("goodput_mbps", "goodput (Mbit/s)"), ("rtt_ms", "mean RTT (ms)"))
    for i, (quantity, label) in enumerate(quantities):
        for j, buffer in enumerate(buffers):
            place = axes[2 * i + j]
            groups = {
                f"{loss:.0%} dropped at random": {
                    name: found.at("loss", quantity, name, {"buffer": buffer, "loss": loss}) for name in names
                }
                for loss in losses
            }
            data = plots.grouped_bars(place, groups, label=label, legend=False, bounds=bounds_of(quantity))
            place.set_title(f"buffer {_bdp(buffer)}")
            _slanted(place)
            frames.append(_of(data, quantity=quantity, buffer=str(buffer)))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, "figure-5")


def throughput_over_time(
    series: Series, names: Sequence[str], buffer: str, folder: Path, stem: str
) -> list[Path]:
    """Draw the throughput of two flows over time, from one run per algorithm."""
    figure, axes = plots.new_figure(-(-len(names) // 2), 2, row_height=1.35, share_y=True)
    frames = []
    for place, name in zip(axes, names, strict=False):
        run = series["fairness", name, buffer][0]
        smooth = {"series": interval_goodput(run.series, SMOOTH_S)}
        data = plots.time_series(place, {name: smooth}, "goodput", legend_up_to=0)
        place.set_title(name)
        place.set_ylim(0, 1000)
        frames.append(data)
    for place in axes[len(names) :]:
        place.set_visible(False)
    for place in axes[: len(names) - 2]:
        place.set_xlabel("")
    for place in axes[1::2]:
        place.set_ylabel("")
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, stem)


def throughput_and_index(
    found: Measurements, names: Sequence[str], buffer: str, folder: Path, stem: str
) -> list[Path]:
    """Draw the mean throughput of two flows, and Jain's index."""
    figure, (rates, index) = plots.new_figure(1, 2, row_height=2.5)
    where = {"buffer": buffer}
    groups = {
        label: {name: found.at("fairness", quantity, name, where) for name in names}
        for label, quantity in (("10 ms", "short_mbps"), ("50 ms", "long_mbps"))
    }
    jain = {"Jain": {name: found.at("fairness", "jain", name, where) for name in names}}
    first = plots.grouped_bars(rates, groups, label="goodput (Mbit/s)", legend=False)
    rates.set_ylim(0, 1000)
    second = plots.grouped_bars(index, jain, label="Jain's index", bounds=bounds_of("jain"))
    index.set_ylim(0.45, 1.0)
    for place in (rates, index):
        place.set_title(f"buffer {_bdp(buffer)}")
        _slanted(place)
    plots.shared_legend(figure, legend_entries(rates))
    return plots.save(figure, pl.concat([first, second]), folder, stem)


def figure_14(series: Series, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw the mean over runs of Jain's index while flows join and leave, in one panel for six algorithms and
    in one panel for the readings of Ad-BBR."""
    readings = [name for name in names if name.startswith("Ad-BBR")]
    six = [HEADLINE, *(name for name in names if name not in readings)]
    figure, axes = plots.new_figure(2, row_height=2.2)
    frames = []
    for place, chosen in zip(axes, (six, readings), strict=True):
        for name in chosen:
            data = _mean_index(series["join-leave", name, ""])
            place.plot(data["time_s"].to_numpy(), data["jain"].to_numpy(), label=name)
            frames.append(data.select(pl.lit(name).alias("algorithm"), "time_s", "jain"))
        for time_s in (30, 60, 90, 120):
            place.axvline(time_s, color="#999999", linewidth=0.5, linestyle=":")
        place.set_xlim(0, 150)
        place.set_ylim(0.2, 1.02)
        place.set_ylabel("Jain's index")
        place.legend(ncols=6, loc="lower left")
    axes[1].set_xlabel("time (s)")
    return plots.save(figure, pl.concat(frames).unique(maintain_order=True), folder, "figure-14")


def figure_15(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw the share of retransmitted packets against the number of flows."""
    buffers = found.choices("retransmissions", "buffer")
    figure, axes = plots.new_figure(1, len(buffers), row_height=2.6)
    frames = []
    for place, buffer in zip(axes, buffers, strict=True):
        data = _against_flows(
            place, found, names, "retransmissions", "retransmitted_percent", {"buffer": buffer}
        )
        place.set_ylabel("retransmitted (%)")
        place.set_title(f"buffer {_bdp(buffer)}")
        frames.append(_of(data, buffer=str(buffer)))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, "figure-15")


def figure_16(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw the mean RTT against the number of flows."""
    figure, (place,) = plots.new_figure(row_height=2.8)
    data = _against_flows(place, found, names, "latency", "rtt_ms", {})
    place.set_ylabel("mean RTT (ms)")
    place.set_title("100 Mbit/s, 50 ms, buffer 1 BDP")
    plots.shared_legend(figure, legend_entries(place))
    return plots.save(figure, data, folder, "figure-16")


def _against_flows(
    place: Axes,
    found: Measurements,
    names: Sequence[str],
    experiment: str,
    quantity: str,
    where: dict[str, str | int | float],
) -> pl.DataFrame:
    counts = [float(count) for count in found.choices(experiment, "flows")]
    lines = {
        name: {count: found.at(experiment, quantity, name, {**where, "flows": count}) for count in counts}
        for name in names
    }
    data = plots.lines_with_intervals(place, lines, label="", legend=False, bounds=bounds_of(quantity))
    place.set_xscale("log", base=2)
    place.set_xticks(counts, [f"{count:g}" for count in counts])
    place.set_xlabel("flows")
    place.set_ylim(bottom=0)
    return data


def _mean_index(runs: Sequence[Run]) -> pl.DataFrame:
    frames = pl.concat([jain_over_time(run) for run in runs])
    return frames.group_by("time_s").agg(pl.col("jain").mean()).sort("time_s")


def _bdp(buffer: object) -> str:
    return str(buffer).replace("bdp", "BDP")


def _slanted(place: Axes) -> None:
    for word in place.get_xticklabels():
        word.set_rotation(35)
        word.set_horizontalalignment("right")


def _of(data: pl.DataFrame, **where: str) -> pl.DataFrame:
    return data.select(*(pl.lit(value).alias(name) for name, value in where.items()), pl.all())
