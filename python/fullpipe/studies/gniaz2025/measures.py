"""Quantities measured in the runs of the study, and counterparts of the figures of the thesis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from fullpipe import plots
from fullpipe.analysis.metrics import (
    between,
    cumulative_goodput,
    interval_goodput,
    jain,
    spacing_s,
    time_to_fill_s,
)
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.experiments import Value

# Quantities of the thesis, computed from the tables of a run. Rates are in Mbit/s and count the headers of IP
# and TCP. Windows are in kB.
# A phase is the time between two changes of the link. The number at the end of a quantity's name is the
# number of the phase.


MBPS = 1e-6
KB = 1e-3
WITH_HEADERS = 588 / 536
"""Ratio of the size of an IP packet to its payload."""
WRITE_BYTES = 1024
"""Bytes per write of the application. In the thesis, a received packet is this number of bytes."""
START_S = 1.0

FULL = 0.8
"""A flow fills the link if its throughput over one second is at least this share of the link's rate."""
SOON_S, LATE_S = 3.0, 5.0
"""Lengths of the beginning and of the end of a phase, over which rates are averaged."""
AFTER_S = 1.0
"""Time after a phase in which a cut of the window still counts for the phase."""
ON_S = 10.0
"""Length of the last part of a run, over which rates are averaged if the flows continue until 40 s."""
CUT, CUTS_APART_S = 0.9, 0.2
"""A window is cut if, within `CUTS_APART_S`, it falls below `CUT` times its earlier value."""


@dataclass(frozen=True)
class Phases:
    """Phases of a scenario: times at which phases begin and end in s, and the rate of every phase in
    Mbit/s."""

    edges: tuple[float, ...]
    rates: tuple[float, ...]

    def __iter__(self) -> Iterator[tuple[int, tuple[tuple[float, float], float]]]:
        """Iterate over the number, span and rate of each phase."""
        return iter(enumerate(zip(pairwise(self.edges), self.rates, strict=True), start=1))


def lone_flow(run: Run, phases: Phases) -> dict[str, float]:
    """Measure the dropped packets of a lone flow, and its rate and window in every phase."""
    (delivered_bytes,) = run.flows["delivered_bytes"]
    lost = _dropped(run.links_summary)
    found = {
        "lost": lost,
        "lost_percent": lost_percent(lost, delivered_bytes),
        "mean": float(run.flows["goodput_bps"][0]) * MBPS * WITH_HEADERS,
    }
    return found | of_phases(run.series, phases)


def lost_percent(lost: float, delivered_bytes: float) -> float:
    """Return lost / (lost + received) in per cent, where "received" is received IP bytes / `WRITE_BYTES` as
    in the thesis."""
    return 100 * lost / (lost + delivered_bytes * WITH_HEADERS / WRITE_BYTES)


def of_phases(series: pl.DataFrame, phases: Phases) -> dict[str, float]:
    """Measure the rates and windows of one flow in every phase."""
    found: dict[str, float] = {}
    for n, ((start, end), rate) in phases:
        now = between(series, start, end)
        found[f"rate_{n}"] = _rate(now)
        found[f"soon_{n}"] = _rate(between(series, start, start + SOON_S))
        found[f"late_{n}"] = _rate(between(series, end - LATE_S, end))
        found[f"fill_{n}"] = seconds_to_fill(now, rate, start, end)
        found[f"cwnd_{n}"] = _mean(now["cwnd_bytes"]) * KB
        found[f"lowest_cwnd_{n}"] = _lowest(now["cwnd_bytes"]) * KB
        found[f"react_{n}"] = seconds_to_halve(series, start, end)
        found[f"end_{n}"] = _rate(between(series, end - SOON_S, end))
    found["last_cut_1"] = last_cut(between(series, *phases.edges[:2]))
    return found | _against_before(series, phases)


def _against_before(series: pl.DataFrame, phases: Phases) -> dict[str, float]:
    """Return the decrease of rate and window from the previous phase to every phase, as a share of their
    values in the previous phase."""
    found: dict[str, float] = {}
    for (_, (before, _)), (n, ((start, end), _)) in pairwise(phases):
        then, now = between(series, *before), between(series, start, end)
        found[f"drop_{n}"] = _fall(_rate(then), _rate(now))
        window = between(series, start, end + AFTER_S)["cwnd_bytes"]
        found[f"cut_{n}"] = _fall(_mean(then["cwnd_bytes"]), _lowest(window))
    return found


def _fall(before: float, after: float) -> float:
    return 1 - after / before if before else math.nan


def two_flows(run: Run, phases: Phases) -> dict[str, float]:
    """Measure the rates of competing CUBIC and BBRv1 flows, Jain's index, and the packets that each sender
    marked lost."""
    found: dict[str, float] = {}
    for name, key in (("CUBIC", "cubic"), ("BBRv1", "bbr")):
        (row,) = run.flows.filter(pl.col("flow") == name).iter_rows(named=True)
        found[f"{key}_lost"] = float(row["lost_packets"])
        found[f"{key}_lost_percent"] = lost_percent(row["lost_packets"], row["delivered_bytes"])
        found[f"{key}_mean"] = row["goodput_bps"] * MBPS * WITH_HEADERS
        of_flow = run.series.filter(pl.col("flow") == name)
        for n, (span, _) in phases:
            found[f"{key}_rate_{n}"] = _rate(between(of_flow, *span))
            found[f"{key}_double_{n}"] = seconds_to_double(of_flow, *span)
    begin = between(run.series, START_S, START_S + 2)
    found["first_2s"] = sum(_rate(flow) for flow in begin.partition_by("flow"))
    found["jain"] = jain([found["cubic_mean"], found["bbr_mean"]]) or math.nan
    return found


def seconds_to_fill(now: pl.DataFrame, rate_mbps: float, start_s: float, end_s: float) -> float:
    """Return the time in s from the start of a phase to the end of the first second in which the flow filled
    the link.

    The time is infinite if the flow never filled the link.
    """
    rate_bps = rate_mbps / MBPS / WITH_HEADERS
    found = time_to_fill_s(now, rate_bps, start_s, until_s=end_s, share=FULL)
    return math.inf if found is None else found


def seconds_to_halve(series: pl.DataFrame, start_s: float, end_s: float) -> float:
    """Return the time in s from the start of a phase until the window has halved; infinite if it never
    halves."""
    return _seconds_until(series, start_s, end_s, lambda window, before: window < before / 2)


def seconds_to_double(series: pl.DataFrame, start_s: float, end_s: float) -> float:
    """Return the time in s from the start of a phase until the window has doubled; infinite if it never
    doubles."""
    return _seconds_until(series, start_s, end_s, lambda window, before: window > 2 * before)


def _seconds_until(
    series: pl.DataFrame, start_s: float, end_s: float, moved: Callable[[pl.Series, float], pl.Series]
) -> float:
    """Return the time in s from the start of a phase until `moved` is true; NaN without a sample of the
    window before the phase."""
    before = between(series, start_s - 1, start_s)["cwnd_bytes"].drop_nulls()
    if not len(before):
        return math.nan
    now = between(series, start_s, end_s)
    when = now["time_s"].filter(moved(now["cwnd_bytes"], float(before[-1])))
    return float(when[0]) - start_s if len(when) else math.inf


def last_cut(now: pl.DataFrame) -> float:
    """Return the time in s of the last cut of the window; infinite if the window was never cut."""
    window = now["cwnd_bytes"].cast(pl.Float64).fill_null(strategy="forward").to_numpy()
    back = max(1, round(CUTS_APART_S / (spacing_s(now) or 1.0)))
    (cuts,) = np.nonzero(window[back:] < CUT * window[:-back])
    return float(now["time_s"][int(cuts[-1]) + back]) if len(cuts) else math.inf


def two_flows_on(run: Run) -> dict[str, float]:
    """Measure the rates of CUBIC and BBRv1 at the end of a run in which both flows continue until 40 s."""
    end_s = run.scenario.duration_s
    late = between(run.series, end_s - ON_S, end_s)
    return {
        f"{key}_on": _rate(late.filter(pl.col("flow") == name))
        for name, key in (("CUBIC", "cubic"), ("BBRv1", "bbr"))
    }


def _dropped(links: pl.DataFrame) -> float:
    return float(links.filter(pl.col("link") == "bottleneck")["dropped_packets"][0])


def _rate(samples: pl.DataFrame) -> float:
    return _mean(samples["goodput_bps"]) * MBPS * WITH_HEADERS


def _mean(column: pl.Series) -> float:
    values = column.drop_nulls().to_list()
    return float(sum(values)) / len(values) if values else math.nan


def _lowest(column: pl.Series) -> float:
    return float(min(column.drop_nulls().to_list(), default=math.nan))


PHASES: Mapping[str, Phases] = {
    "large step": Phases((1, 16, 31, 46), (5, 100, 5)),
    "small step": Phases((1, 16, 31, 46), (30, 5, 30)),
    "two flows": Phases((1, 4, 7, 10), (1, 5, 1)),
    "small spikes": Phases((1, 6, 7, 11, 12, 16, 17, 21, 22, 26), (50,) * 9),
    "big spike": Phases((1, 11, 13, 21), (10,) * 3),
    "rate and delay": Phases((1, 11, 21), (50, 5)),
}
"""Phases of each scenario in simulated time. All traffic begins at 1 s."""


# Counterparts of Figures 2 to 15, drawn from one run each: throughput by two definitions, and windows.


Drawn = dict[tuple[str, str, str, Value | None], Run]
"""Runs by experiment, setting, algorithm and delay in ms."""

SMOOTH_S = 0.5
"""Time over which samples (every 100 ms) are averaged in figures of throughput. The curve of the mean since
the start is not averaged further."""
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
    """Draw the throughput in the scenario "large step" with socket buffers of 1 MiB, and with buffers without
    limit."""
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
    """Return the samples of all algorithms and delays. The name of a flow is its algorithm and delay."""
    frames = []
    for (experiment, of_setting, algorithm, delay), run in runs.items():
        if (experiment, of_setting) == (name, setting):
            label = f"{algorithm}, {delay} ms" if delay else algorithm
            frames.append(run.series.with_columns(pl.lit(label).alias("flow")))
    return pl.concat(frames)


def _throughput(lines: pl.DataFrame, name: str, folder: Path, stem: str) -> list[Path]:
    """Draw the throughput as the mean over half a second, and as the mean since the start."""
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
    """Draw dashed lines at the changes of the link, as in the figures of the thesis."""
    for time_s in PHASES[name].edges[1:-1]:
        place.axvline(time_s, color="#999999", linewidth=0.5, linestyle="--")
