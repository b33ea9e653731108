"""Nine algorithms measured with Flent on a testbed: Ahsan et al., JCBI 2025 ("BBR-n+")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies import tables
from fullpipe.studies.ahsan2025 import exports, printed, published, recompute, rerun, rerun_measures
from fullpipe.studies.ahsan2025.exports import NAMES, Export, Vector
from fullpipe.studies.ahsan2025.published import Published, Uploads
from fullpipe.studies.ahsan2025.published import in_folder as published_in
from fullpipe.studies.ahsan2025.recompute import OURS, THEIRS, Analysis, sizes
from fullpipe.studies.ahsan2025.rerun_measures import DIRECT, ENDED
from fullpipe.studies.claim_checks import ClaimChecker
from fullpipe.studies.document import PUBLISHED
from fullpipe.studies.experiments import Measurements, Value, measured
from fullpipe.studies.report import Report, Settings, seeds_of
from fullpipe.studies.study import Plan, Transcription, claims_in, jobs_of, of_package
from fullpipe.studies.text import bounds_of
from fullpipe.sweeps import Job

__all__ = ["checker", "jobs", "plan", "published_in", "run", "transcription"]


# Figures drawn from the paper's published data: counterparts of the paper's figures, and differences of means
# with the intervals of two tests.


REACH = 1.5
"""Maximum length of whiskers in Flent's box plots, in interquartile ranges."""
FEW = 4
"""Maximum number of boxes in a panel for which two panels are placed side by side."""
MBPS, MS = "throughput (Mbit/s)", "ping (ms)"
TOTALS = {
    3: ("test-fig8.csv", {"TCP upload sum": MBPS, "TCP download sum": MBPS, "Ping (ms) avg": MS}),
    15: ("test-fig20.csv", {"TCP upload sum": MBPS, "TCP download sum": MBPS, "Ping (ms) ICMP": MS}),
}
"""File of published data, and the series of each panel with the series' unit, by figure number."""
BY_HOST = {4: ("TCP upload B", MBPS), 5: ("TCP download B", MBPS), 6: (published.PINGS, MS)}
UPLOADS = {10: "Fig. 10", 11: "Fig. 11", 12: "Fig. 12", 13: "Fig. 13"}
Groups = Mapping[str, Vector]


@plots.in_house_style
def draw_published(data: Published, found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Draw every figure whose published data are given, and return the paths of the files."""
    written: list[Path] = []
    for number, (file, series) in TOTALS.items():
        if file in data.exports:
            panels = {name: published.known(data.exports[file], name) for name in series}
            written += _boxes(f"figure-{number}", panels, series, folder)
    if published.FILE in data.exports:
        written += _by_host(data.exports[published.FILE], folder)
    if TOTALS[15][0] in data.exports:
        pings = published.known(data.exports[TOTALS[15][0]], "Ping (ms) ICMP")
        written += _shares("figure-16", {"ICMP": pings}, folder)
    for number, name in UPLOADS.items():
        if name in data.uploads:
            written += _uploads(number, data.uploads[name], folder)
    return written + (_sizes(found, folder) + _differences(found, folder) if found else [])


def _by_host(export: Export, folder: Path) -> list[Path]:
    """Draw Figures 4 to 9 with uploads, downloads and pings to four hosts."""
    written = []
    for number, (prefix, label) in BY_HOST.items():
        names = published.series_of(export, prefix)
        panels = {name: published.known(export, name) for name in names}
        written += _boxes(f"figure-{number}", panels, dict.fromkeys(names, label), folder)
    pings = published.series_of(export, published.PINGS)
    every = {name: published.known(export, name) for name in pings}
    pair = {name: {of: every[name][of] for of in (THEIRS, OURS) if of in every[name]} for name in pings}
    written += _shares("figure-7", every, folder)
    written += _over_time(export, pings, folder)
    return written + _boxes("figure-9", pair, dict.fromkeys(pings, MS), folder)


def _boxes(name: str, panels: Mapping[str, Groups], labels: Mapping[str, str], folder: Path) -> list[Path]:
    """Draw box plots with a panel per series and a box per algorithm."""
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
    """Draw the cumulative distribution of pings, with a panel per series and a line per algorithm."""
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
    """Draw Figure 8: pings over time with BBR-n+ and with BBRv3."""
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
    """Draw one of Figures 10 to 13: Flent's sum of the rates of all uploads, and pings."""
    panels: dict[str, Groups] = {
        "TCP upload": {name: one.mbps for name, one in of.items()},
        "Ping (ms) ICMP": {name: one.ping_ms for name, one in of.items()},
    }
    labels = dict(zip(panels, (MBPS, MS), strict=True))
    return _boxes(f"figure-{number}", panels, labels, folder)


def _sizes(found: Sequence[Analysis], folder: Path) -> list[Path]:
    """Draw the number of samples and the effective sample size, by table and algorithm."""
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
    """Draw the mean of BBR-n+ minus the mean of every other algorithm, with the intervals of both tests.

    A marker is filled if the interval excludes 0.
    """
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


# Figures drawn from our runs: box plots over seeds, distributions of pings, and windows and backlogs over
# time.


Runs = Sequence[tuple[Job, Run]]
COMPARED = (DIRECT, ENDED)
LABELS = {"upload": "upload (Mbit/s)", "download": "download (Mbit/s)", "ping": "ping (ms)"}
OVER_TIME = ("BBRv3", "BBR-n+", "CUBIC")
UPLINK = "nat-switch"


def draw_rerun(found: Measurements, runs: Runs, folder: Path) -> list[Path]:
    """Draw counterparts of Figures 3, 7 and 10 to 16, and windows and backlogs over time."""
    return [
        *_boxes_again(found, rerun.FAIR, folder, "again-figure-3"),
        *_boxes_again(found, rerun.BEST_EFFORT, folder, "again-figure-15"),
        *_streams(found, rerun_measures.NAME, {}, folder, "again-figures-10-12"),
        *_streams(found, rerun.UPLOADS, {rerun.KEY: DIRECT}, folder, "again-figures-13-14"),
        *_pings(runs, folder),
        *_window_and_backlog(runs, folder),
    ]


@plots.in_house_style
def _boxes_again(found: Measurements, test: str, folder: Path, stem: str) -> list[Path]:
    """Draw box plots over seeds of uploads, downloads and pings by algorithm, with direct connections
    and with connections that a host splits into two."""
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
    """Draw the rate of all uploads and the median ping against the number of streams."""
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
    """Draw the distribution of pings in the tests rtt_fair and rrul_be, from the first seed of every
    algorithm."""
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
def _window_and_backlog(runs: Runs, folder: Path) -> list[Path]:
    """Draw the congestion window of one upload, and the backlog of the uplink, over time."""
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


# The study: reruns experiments, and recomputes printed results from the published data.


PACKAGE = __package__ or ""

REMARKS = ". Numbers that are printed for one run are compared with runs of ours."


def transcription() -> Transcription:
    """Return the transcription: the set-up, claims about our runs, and claims about the published data in
    words and numbers."""
    said, of = of_package(PACKAGE)(), printed.results()
    words = claims_in(PACKAGE, "words.toml", experiment=printed.EXPERIMENT, published=of.published)
    return replace(said, claims=(*said.claims, *words, *printed.claims(), *rerun.claims(PACKAGE)))


def plan(*, quick: bool) -> Plan:
    """Return every experiment with its algorithms."""
    return rerun.plan(quick=quick)


def checker(found: Measurements) -> ClaimChecker:
    """Return a checker of the study's claims."""
    return rerun.checker(found)


def jobs(settings: Settings) -> list[Job]:
    """Return the jobs of all runs of the study."""
    seeds = settings.seeds_or(rerun.SEEDS, rerun.QUICK_SEEDS)
    return jobs_of(plan(quick=settings.quick), seeds)


def run(settings: Settings, todo: Sequence[Job]) -> Report:
    """Run the jobs that are not stored yet, recompute printed results, and write tables and verdicts."""
    source = transcription()
    data = settings.data if isinstance(settings.data, published.Published) else published.NOTHING
    runs = settings.run(todo)
    experiments = [experiment for experiment, _ in plan(quick=settings.quick)]
    found = measured(experiments, todo, map(rerun.unread, runs))
    recomputed = data.measure()
    found.update(recomputed)
    checked = printed.named(printed.results(), recomputed, checker(found).check_all(source.claims))
    written = tables.write(settings, found, checked, seeds_of(todo))
    analyses = recompute.analyses(data.groups)
    written += recompute.write(analyses, settings.folder)
    written += draw_published(data, analyses, settings.folder)
    drawn = [(job, made) for job, made in zip(todo, runs, strict=True) if made]
    written += draw_rerun(found, drawn, settings.folder)
    sections = [*printed.text(checked), *recompute.text(analyses), *exports.text(data.files)]
    sections += rerun.sections(found)
    told = tables.report(source, checked, seeds_of(todo), REMARKS, sections=sections, quick=settings.quick)
    return Report(told, tuple(written), settings.folder)
