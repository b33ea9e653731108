"""Figures of the paper from its published data, and its differences with both intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.studies.ahsan2025 import hosts
from fullpipe.studies.ahsan2025.effective import OURS, THEIRS, Analysis, sizes
from fullpipe.studies.ahsan2025.exports import NAMES, Export, Vector
from fullpipe.studies.ahsan2025.flent_files import Uploads
from fullpipe.studies.ahsan2025.published import Published
from fullpipe.studies.document import PUBLISHED

REACH = 1.5
"""Reach of whiskers in Flent's plots, in interquartile ranges."""
FEW = 4
"""Most boxes of panels that are placed side by side."""
MBPS, MS = "throughput (Mbit/s)", "ping (ms)"
TOTALS = {
    3: ("test-fig8.csv", {"TCP upload sum": MBPS, "TCP download sum": MBPS, "Ping (ms) avg": MS}),
    15: ("test-fig20.csv", {"TCP upload sum": MBPS, "TCP download sum": MBPS, "Ping (ms) ICMP": MS}),
}
"""File and series of the panels of each figure."""
BY_HOST = {4: ("TCP upload B", MBPS), 5: ("TCP download B", MBPS), 6: (hosts.PINGS, MS)}
UPLOADS = {10: "Fig. 10", 11: "Fig. 11", 12: "Fig. 12", 13: "Fig. 13"}
Groups = Mapping[str, Vector]


@plots.in_house_style
def draw(data: Published, found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Write every figure whose data are at hand."""
    written: list[Path] = []
    for number, (file, series) in TOTALS.items():
        if file in data.exports:
            panels = {name: hosts.known(data.exports[file], name) for name in series}
            written += _boxes(f"figure-{number}", panels, series, folder)
    if hosts.FILE in data.exports:
        written += _by_host(data.exports[hosts.FILE], folder)
    if TOTALS[15][0] in data.exports:
        pings = hosts.known(data.exports[TOTALS[15][0]], "Ping (ms) ICMP")
        written += _shares("figure-16", {"ICMP": pings}, folder)
    for number, name in UPLOADS.items():
        if name in data.uploads:
            written += _uploads(number, data.uploads[name], folder)
    return written + (_sizes(found, folder) + _differences(found, folder) if found else [])


def _by_host(export: Export, folder: Path) -> list[Path]:
    """Draw Figures 4 to 9: uploads, downloads and pings to four hosts."""
    written = []
    for number, (prefix, label) in BY_HOST.items():
        names = hosts.series_of(export, prefix)
        panels = {name: hosts.known(export, name) for name in names}
        written += _boxes(f"figure-{number}", panels, dict.fromkeys(names, label), folder)
    pings = hosts.series_of(export, hosts.PINGS)
    every = {name: hosts.known(export, name) for name in pings}
    pair = {name: {of: every[name][of] for of in (THEIRS, OURS) if of in every[name]} for name in pings}
    written += _shares("figure-7", every, folder)
    written += _over_time(export, pings, folder)
    return written + _boxes("figure-9", pair, dict.fromkeys(pings, MS), folder)


def _boxes(name: str, panels: Mapping[str, Groups], labels: Mapping[str, str], folder: Path) -> list[Path]:
    """Draw a panel per series with a box per algorithm."""
    panels = _drawable(panels)
    if not panels:
        return []
    across = 2 if all(len(groups) <= FEW for groups in panels.values()) else 1
    figure, axes = plots.new_figure(-(-len(panels) // across), across, row_height=1.7)
    frames = []
    for place, (series, groups) in zip(axes, panels.items(), strict=False):
        data = plots.boxes(place, _lists(groups), label=labels[series], reach=REACH)
        place.set_title(series)
        frames.append(_of(series, data))
    return plots.save(figure, pl.concat(frames), folder, f"{PUBLISHED}-{name}")


def _shares(name: str, panels: Mapping[str, Groups], folder: Path) -> list[Path]:
    """Draw a panel per series with the distribution of pings per algorithm."""
    panels = _drawable(panels)
    if not panels:
        return []
    figure, axes = plots.new_figure(-(-len(panels) // 2), min(len(panels), 2), row_height=2.4)
    frames = []
    for place, (series, groups) in zip(axes, panels.items(), strict=False):
        frames.append(_of(series, plots.cumulative(place, _lists(groups), label=MS)))
        place.set_xscale("log")
        place.set_xlim(left=0.9 * min(float(values.min()) for values in groups.values()))
        place.xaxis.set_major_formatter("{x:g}")
        place.set_ylabel("share of pings")
        place.set_title(series)
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, f"{PUBLISHED}-{name}")


def _over_time(export: Export, pings: Sequence[str], folder: Path) -> list[Path]:
    """Draw Figure 8: pings over time, under BBR-n+ and BBRv3."""
    if not pings:
        return []
    figure, axes = plots.new_figure(-(-len(pings) // 2), min(len(pings), 2), row_height=2.0)
    times_s, frames = export.times_s(), []
    for place, series in zip(axes, pings, strict=False):
        for algorithm in (name for name in (THEIRS, OURS) if (series, name) in export.columns):
            values = export.values(series, algorithm)
            place.plot(times_s, values, label=algorithm)
            columns = {"time_s": times_s, "value": values}
            frames.append(_of(series, pl.DataFrame({"group": [algorithm] * len(values), **columns})))
        _label(place, "time (s)", MS, series)
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, f"{PUBLISHED}-figure-8")


def _uploads(number: int, of: Uploads, folder: Path) -> list[Path]:
    """Draw Figures 10 to 13: Flent's sum of all streams, and pings."""
    panels: dict[str, Groups] = {
        "TCP upload": {name: one.mbps for name, one in of.items()},
        "Ping (ms) ICMP": {name: one.ping_ms for name, one in of.items()},
    }
    labels = dict(zip(panels, (MBPS, MS), strict=True))
    return _boxes(f"figure-{number}", panels, labels, folder)


def _sizes(found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Draw the number of samples and the effective sample size of every series."""
    figure, axes = plots.new_figure(len(found), row_height=1.4)
    for place, one in zip(axes, found, strict=True):
        bars = {
            "samples": {name: [float(values.size)] for name, values in one.groups.items()},
            "effective sample size": {name: [s.n] for name, s in one.samples.items()},
        }
        plots.grouped_bars(place, bars, label="samples", legend=False)
        place.set_title(one.table)
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, sizes(found), folder, f"{PUBLISHED}-effective-samples")


def _differences(found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Draw BBR-n+ less every other algorithm, with the intervals of both tests; filled if they exclude 0."""
    rows = []
    for one in found:
        for other in NAMES.values():
            for how, pairs in (("independent", one.as_independent), ("effective", one.effective)):
                if other != OURS:
                    pair = one.pair(pairs, other, OURS)
                    apart = ("higher" if pair.difference > 0 else "lower") if 0 not in pair.interval else ""
                    ends = {"low": pair.interval.low, "high": pair.interval.high}
                    what = {"metric": one.table, "label": f"{other}, {how}", "difference": pair.difference}
                    rows.append({**what, **ends, "margin": 0.0, "verdict": apart})
    table = pl.DataFrame(rows)
    units = {one.table: f"{one.table}: {OURS} less the other" for one in found}
    figure, data = plots.forest(table, units)
    return plots.save(figure, data, folder, f"{PUBLISHED}-differences")


def _drawable(panels: Mapping[str, Groups]) -> dict[str, Groups]:
    """Return the panels that have data."""
    return {series: groups for series, groups in panels.items() if groups}


def _lists(groups: Groups) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in groups.items()}


def _label(place: Axes, across: str, up: str, title: str) -> None:
    place.set_xlabel(across)
    place.set_ylabel(up)
    place.set_ylim(bottom=0)
    place.set_title(title)


def _of(series: str, data: pl.DataFrame) -> pl.DataFrame:
    return data.select(pl.lit(series).alias("series"), pl.all())
