"""Counterparts of Figures 2 to 15, one run each: throughput by two definitions, and windows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.analysis.metrics import cumulative_goodput, interval_goodput
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.experiments import Value
from fullpipe.studies.gniaz2025.measures import PHASES, START_S, WITH_HEADERS

Drawn = dict[tuple[str, str, str, Value | None], Run]
"""Runs by experiment, setting, algorithm and delay."""

SMOOTH_S = 0.5
"""Window over which samples (every 100 ms) are averaged in figures; the cumulative mean is not smoothed."""
CODED, LARGE = "as coded", "large sockets"
THROUGHPUT = "throughput (Mbit/s)"
FIGURES: Mapping[str, tuple[str, str]] = {
    "large step": ("figure-2", "figure-3"),
    "small step": ("figure-4", "figure-5"),
    "small spikes": ("figure-10", "figure-11"),
    "big spike": ("figure-12", "figure-13"),
    "rate and delay": ("figure-14", "figure-15"),
}
TWO_FLOWS: Mapping[int, tuple[str, str]] = {50: ("figure-6", "figure-7"), 100: ("figure-8", "figure-9")}


@plots.in_house_style
def draw(runs: Drawn, folder: Path) -> list[Path]:
    """Write all figures."""
    written = []
    for name, (rates, windows) in FIGURES.items():
        lines = _lines(runs, name, CODED)
        written += _throughput(lines, name, folder, rates) + _windows(lines, name, folder, windows)
    for delay, (rates, windows) in TWO_FLOWS.items():
        lines = runs["two flows", CODED, "both", delay].series
        written += _throughput(lines, "two flows", folder, rates)
        written += _windows(lines, "two flows", folder, windows)
    compared = any(setting == LARGE for _, setting, _, _ in runs)
    return written + (sockets(runs, folder) if compared else [])


def sockets(runs: Drawn, folder: Path) -> list[Path]:
    """Draw the effect of socket buffers on the large step."""
    figure, axes = plots.new_figure(1, 2, row_height=2.4, share_y=True)
    frames = []
    for place, setting in zip(axes, (CODED, LARGE), strict=True):
        title = "sockets of 1 MiB" if setting == CODED else "sockets that never limit"
        lines = interval_goodput(_lines(runs, "large step", setting), SMOOTH_S)
        data = _panel(place, lines, "large step", title)
        frames.append(data.select(pl.lit(setting).alias("setting"), pl.all()))
    axes[1].set_ylabel("")
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, "sockets")


def _lines(runs: Drawn, name: str, setting: str) -> pl.DataFrame:
    """Return the samples of every algorithm and delay, with both as the name of the flow."""
    frames = []
    for (experiment, of_setting, algorithm, delay), run in runs.items():
        if (experiment, of_setting) == (name, setting):
            label = f"{algorithm}, {delay} ms" if delay else algorithm
            frames.append(run.series.with_columns(pl.lit(label).alias("flow")))
    return pl.concat(frames)


def _throughput(lines: pl.DataFrame, name: str, folder: Path, stem: str) -> list[Path]:
    """Draw the mean over half a second, and the mean since the start."""
    figure, (now, since) = plots.new_figure(1, 2, row_height=2.4)
    kinds = {
        "instantaneous": (now, interval_goodput(lines, SMOOTH_S)),
        "mean since the start": (since, cumulative_goodput(lines, START_S)),
    }
    frames = []
    for kind, (place, frame) in kinds.items():
        data = _panel(place, frame, name, kind)
        frames.append(data.select(pl.lit(kind).alias("kind"), pl.all()))
    since.set_ylabel("")
    plots.shared_legend(figure, legend_entries(now))
    return plots.save(figure, pl.concat(frames), folder, stem)


def _windows(lines: pl.DataFrame, name: str, folder: Path, stem: str) -> list[Path]:
    figure, (place,) = plots.new_figure(row_height=2.4)
    data = plots.time_series(place, {name: {"series": lines}}, "cwnd", legend_up_to=0)
    place.set_title(name)
    _changes(place, name)
    plots.shared_legend(figure, legend_entries(place))
    return plots.save(figure, data, folder, stem)


def _panel(place: Axes, lines: pl.DataFrame, name: str, title: str) -> pl.DataFrame:
    with_headers = lines.with_columns(pl.col("goodput_bps") * WITH_HEADERS)
    data = plots.time_series(place, {name: {"series": with_headers}}, "goodput", legend_up_to=0)
    place.set_ylabel(THROUGHPUT)
    place.set_title(f"{name}: {title}")
    _changes(place, name)
    return data


def _changes(place: Axes, name: str) -> None:
    """Draw dashed lines at changes of the link, as in the thesis."""
    for time_s in PHASES[name].edges[1:-1]:
        place.axvline(time_s, color="#999999", linewidth=0.5, linestyle="--")
