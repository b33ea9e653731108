"""Figures of the rerun: boxes over seeds, distributions of pings, windows and backlogs over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import polars as pl

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.ahsan2025 import rerun, rerun_wireless
from fullpipe.studies.ahsan2025.rerun_wired import DIRECT, ENDED
from fullpipe.studies.experiments import Measurements, Value
from fullpipe.studies.quantities import bounds_of
from fullpipe.sweeps import Job

Runs = Sequence[tuple[Job, Run]]
COMPARED = (DIRECT, ENDED)
LABELS = {"upload": "upload (Mbit/s)", "download": "download (Mbit/s)", "ping": "ping (ms)"}
OVER_TIME = ("BBRv3", "BBR-n+", "CUBIC")
UPLINK = "nat-switch"


def draw(found: Measurements, runs: Runs, folder: Path) -> list[Path]:
    """Draw counterparts of Figures 3, 10 to 12, 13, 14, 15 and 16, and windows and backlogs over time."""
    return [
        *_boxes(found, rerun.FAIR, folder, "again-figure-3"),
        *_boxes(found, rerun.BEST_EFFORT, folder, "again-figure-15"),
        *_streams(found, rerun_wireless.NAME, {}, folder, "again-figures-10-12"),
        *_streams(found, rerun.UPLOADS, {rerun.KEY: DIRECT}, folder, "again-figures-13-14"),
        *_pings(runs, folder),
        *_over_time(runs, folder),
    ]


@plots.in_house_style
def _boxes(found: Measurements, test: str, folder: Path, stem: str) -> list[Path]:
    """Draw uploads, downloads and pings of every algorithm over seeds, with direct and with ended TCP."""
    figure, axes = plots.new_figure(len(LABELS), len(COMPARED), row_height=1.9, share_y="row")
    frames = []
    for place, (quantity, path) in zip(axes, product(LABELS, COMPARED), strict=True):
        groups = {name: found.at(test, quantity, name, {rerun.KEY: path}) for name in rerun.ALGORITHMS}
        groups = {name: values for name, values in groups.items() if values}
        if not groups:
            continue
        data = plots.boxes(place, groups, label=LABELS[quantity] if path == COMPARED[0] else "")
        place.set_title(f"{path}")
        place.tick_params(axis="x", labelrotation=60)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.lit(path).alias("path"), pl.all()))
    return plots.save(figure, pl.concat(frames), folder, stem) if frames else []


@plots.in_house_style
def _streams(
    found: Measurements, experiment: str, where: Mapping[str, Value], folder: Path, stem: str
) -> list[Path]:
    """Draw uploads and median pings by the number of streams."""
    counts = [count for count in found.choices(experiment, "streams") if isinstance(count, int)]
    if not counts:
        return []
    figure, axes = plots.new_figure(1, 2, row_height=2.8)
    frames = []
    for place, (quantity, label) in zip(axes, (("upload", "Mbit/s"), ("median", "ping (ms)")), strict=True):
        lines: dict[str, dict[float, Sequence[float]]] = {
            name: {
                float(count): values
                for count in counts
                if (values := found.at(experiment, quantity, name, {**where, "streams": count}))
            }
            for name in rerun.ALGORITHMS
        }
        bounds = bounds_of(quantity)
        data = plots.lines_with_intervals(place, lines, label=label, legend=False, bounds=bounds)
        place.set_xlabel("streams")
        if quantity == "median":
            place.set_yscale("log")
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, stem)


@plots.in_house_style
def _pings(runs: Runs, folder: Path) -> list[Path]:
    """Draw the distribution of pings in every first run of rtt_fair and rrul_be."""
    figure, axes = plots.new_figure(2, len(COMPARED), row_height=2.2)
    frames = []
    for place, (test, path) in zip(axes, product((rerun.FAIR, rerun.BEST_EFFORT), COMPARED), strict=True):
        groups = {name: _answers(run) for name, run in _first(runs, test, {rerun.KEY: path}).items()}
        if groups:
            data = plots.cumulative(place, groups, label="ping (ms)")
            place.set_title(f"{test}, {path}")
            place.set_ylabel("share")
            frames.append(data.select(pl.lit(test).alias("test"), pl.lit(path).alias("path"), pl.all()))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, "again-figures-7-16") if frames else []


@plots.in_house_style
def _over_time(runs: Runs, folder: Path) -> list[Path]:
    """Draw the window of one upload, and the backlog of the uplink."""
    chosen = _first(runs, rerun.UPLOADS, {rerun.KEY: DIRECT, "streams": 1})
    chosen = {name: run for name, run in chosen.items() if name in OVER_TIME}
    if not chosen:
        return []
    figure, axes = plots.new_figure(2, 1, row_height=2.2)
    tables = {name: run.tables for name, run in chosen.items()}
    frames = []
    for place, quantity, only in ((axes[0], "cwnd", "TCP upload"), (axes[1], "queue", UPLINK)):
        data = plots.time_series(place, tables, quantity, only=[only])
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
    return plots.save(figure, pl.concat(frames), folder, "again-window-and-backlog")


def _first(runs: Runs, experiment: str, where: Mapping[str, Value]) -> dict[str, Run]:
    """Return the run of the first seed under these conditions, by algorithm."""
    found: dict[str, Run] = {}
    for job, run in runs:
        point = job.point
        if point["experiment"] == experiment and all(point.get(key) == value for key, value in where.items()):
            found.setdefault(str(point["algorithm"]), run)
    return found


def _answers(run: Run) -> list[float]:
    """Return the RTT of every answered ping, in ms."""
    pings = run.probes.filter(pl.col("flow").str.starts_with("Ping ICMP"))["rtt_s"].drop_nulls()
    return [1e3 * rtt for rtt in pings]
