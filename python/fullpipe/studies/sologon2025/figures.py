"""Counterparts of Figures 3 to 20: throughput and windows over time, one run each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe import files, plots
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.experiments import Value
from fullpipe.studies.sologon2025.measures import MBPS, WITH_HEADERS

Drawn = dict[tuple[str, str, Value], Run]
"""Runs by experiment, algorithm and interval."""

SMOOTH_S = 1.0
"""Window over which samples (every 100 ms) are averaged in figures; the table has every sample."""
THROUGHPUT = "throughput (Mbit/s)"
WINDOW = "cwnd (kB)"
ROUTES = {"BBRv3": ("figures-3-5-7", "figures-4-6-8"), "CUBIC": ("figures-9-11-13", "figures-10-12-14")}
LINKS = {
    "BBRv3": ("figure-15", "figure-16", "figure-17"),
    "CUBIC": ("figure-18", "figure-19", "figure-20"),
}


@plots.in_house_style
def draw(runs: Drawn, folder: Path) -> list[Path]:
    """Write all figures, and the throughput of every flow every 100 ms."""
    written = []
    for algorithm, stems in ROUTES.items():
        of = {key[2]: run for key, run in runs.items() if key[:2] == ("routes", algorithm)}
        changing = {f"{algorithm}, every {n} s": run.series for n, run in of.items() if n != "never"}
        written += _panels(changing, folder, *stems)
    for algorithm, (rates, windows, totals) in LINKS.items():
        run = runs["links", algorithm, ""]
        groups = ("BBR", "CUBIC", "dynamic")
        series = {_whose(g, algorithm): run.series.filter(pl.col("flow").str.starts_with(g)) for g in groups}
        written += _panels(series, folder, rates, windows)
        written += _totals(run, algorithm, folder, totals)
    return [*written, _samples(runs, folder)]


def _whose(group: str, algorithm: str) -> str:
    return {"BBR": "BBRv3 flows, link 1", "CUBIC": "CUBIC flows, link 2"}.get(group, f"dynamic, {algorithm}")


def _panels(series: Mapping[str, pl.DataFrame], folder: Path, rates: str, windows: str) -> list[Path]:
    """Draw a panel per series: throughput in one figure, windows in another."""
    throughput = {title: _per_second(_with_headers(frame)) for title, frame in series.items()}
    written = _figure(throughput, "goodput", THROUGHPUT, folder, rates)
    return written + _figure(series, "cwnd", WINDOW, folder, windows)


def _figure(
    panels: Mapping[str, pl.DataFrame], quantity: str, label: str, folder: Path, stem: str
) -> list[Path]:
    figure, axes = plots.new_figure(len(panels), row_height=1.5)
    frames = []
    for place, (title, frame) in zip(axes, panels.items(), strict=True):
        data = plots.time_series(place, {title: {"series": frame}}, quantity, legend_up_to=0)
        place.set_title(title)
        place.set_ylabel(label)
        if place is not axes[-1]:
            place.set_xlabel("")
        frames.append(data)
    _legend_of(figure, axes[0])
    return plots.save(figure, pl.concat(frames), folder, stem)


def _totals(run: Run, algorithm: str, folder: Path, stem: str) -> list[Path]:
    """Draw the throughput of both links and of the dynamic flow.

    Links have 100 Mbit/s, so that their utilisation in per cent is also their rate in Mbit/s.
    """
    figure, (place,) = plots.new_figure(row_height=2.4)
    links = run.links.filter(pl.col("link").is_in(["link 1", "link 2"]))
    carried = links.select("time_s", flow=pl.col("link"), goodput_bps=pl.col("utilisation") * 1e8)
    dynamic = _with_headers(run.series.filter(pl.col("flow") == "dynamic"))
    both = pl.concat([carried, dynamic.select("time_s", "flow", "goodput_bps")])
    data = plots.time_series(place, {algorithm: {"series": _per_second(both)}}, "goodput", legend_up_to=0)
    place.set_ylabel(THROUGHPUT)
    place.set_title(f"dynamic flow: {algorithm}")
    _legend_of(figure, place)
    return plots.save(figure, data, folder, stem)


def _samples(runs: Drawn, folder: Path) -> Path:
    """Write every sample of the throughput, without and with headers."""
    goodput = pl.col("goodput_bps") * MBPS
    frames = [
        run.series.select(
            pl.lit(experiment).alias("experiment"),
            pl.lit(algorithm).alias("algorithm"),
            pl.lit(str(interval)).alias("interval"),
            "flow",
            "time_s",
            goodput_mbps=goodput,
            with_headers_mbps=goodput * WITH_HEADERS,
        )
        for (experiment, algorithm, interval), run in runs.items()
    ]
    return files.write_csv(folder / "throughput.csv", pl.concat(frames), digits=3)


def _with_headers(series: pl.DataFrame) -> pl.DataFrame:
    return series.with_columns(pl.col("goodput_bps") * WITH_HEADERS)


def _per_second(series: pl.DataFrame) -> pl.DataFrame:
    span = (pl.col("time_s") / SMOOTH_S - 1e-9).floor() * SMOOTH_S + SMOOTH_S
    return series.group_by("flow", span.alias("time_s"), maintain_order=True).agg(
        pl.col("goodput_bps").mean()
    )


def _legend_of(figure: Figure, place: Axes) -> None:
    entries = legend_entries(place)
    plots.shared_legend(figure, {_short(label): handle for label, handle in entries.items()})


def _short(label: str) -> str:
    """Return a label without the algorithm, which is in the title of the panel."""
    return label.removeprefix("BBR ").removeprefix("CUBIC ")
