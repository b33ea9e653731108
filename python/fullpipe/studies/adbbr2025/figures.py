"""Counterparts of the figures, from the tables of our runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.analysis.metrics import interval_goodput
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.adbbr2025 import radio_figures
from fullpipe.studies.adbbr2025.measures import jain_over_time
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import bounds_of

Series = dict[tuple[str, str, str], list[Run]]
"""Sampled runs by experiment, algorithm and buffer, in the order of the seeds."""

SMOOTH_S = 0.5
"""Window over which samples are averaged, as in-order delivery is bursty over one RTT."""
LONE = "a flow by itself"
HEADLINE = "Ad-BBR faithful"


@plots.in_house_style
def draw(found: Measurements, series: Series, folder: Path) -> list[Path]:
    """Write all figures."""
    names = list(dict.fromkeys(name for _, name, _ in series))
    lone = {name: series[LONE, name, ""][0] for name in names if (LONE, name, "") in series}
    written = radio_figures.figure_2(lone, folder)
    written += radio_figures.figure_3(series["fairness", "BBRv1", "5 bdp"][0], folder)
    written += figure_5(found, names, folder)
    for buffer, over_time, means in (
        ("0.5 bdp", "figure-8", "figure-10"),
        ("5 bdp", "figure-9", "figure-11"),
    ):
        written += throughput_over_time(series, names, buffer, folder, over_time)
        written += throughput_and_index(found, names, buffer, folder, means)
    written += figure_14(series, names, folder)
    written += radio_figures.draw(found, names, folder)
    return written + figure_15(found, names, folder) + figure_16(found, names, folder)


def figure_5(found: Measurements, names: Sequence[str], folder: Path) -> list[Path]:
    """Draw throughput and latency under random loss, for both buffers."""
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
    """Draw the throughput of both flows over time, one run per algorithm."""
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
    """Draw the mean throughput of both flows, and Jain's index."""
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
    """Draw Jain's index while flows join and leave, as the mean over runs: for six algorithms, and for the
    readings of Ad-BBR."""
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
    """Draw retransmissions against the number of flows."""
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
    """Draw latency against the number of flows."""
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
