"""Time series of some runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import polars as pl

from fullpipe.analysis.metrics import busy_links
from fullpipe.analysis.metrics.groups import algorithms_of
from fullpipe.analysis.over_time import QUANTITIES, samples
from fullpipe.analysis.presented import presented
from fullpipe.report.budget import Budget
from fullpipe.report.content import Block, Figure, Section, Series, Text, Trace
from fullpipe.report.looks import distinct
from fullpipe.report.runs.points import Points
from fullpipe.report.text import counted
from fullpipe.runs import Run

_NOTHING: Mapping[str, str] = MappingProxyType({})
_DRAWN = ("goodput", "rtt", "cwnd", "queue")


def over_time(found: Points, budget: Budget) -> Section:
    """Samples of the first seed of every point; of many points, of some at equal distances."""
    firsts = _firsts(found)
    step = max(1, -(-len(firsts) // budget.runs_over_time))
    sections, more = list[Section](), list[Block]()
    for place in firsts[::step]:
        run = found.runs[place]
        figures = list(_figures(run, budget))
        if figures:
            row = {**found.points[place], "engine": run.meta.engine.name}
            named = ", ".join(filter(None, [found.told(row), f"seed {run.meta.seed}"]))
            sections.append(Section(named, figures))
    if not sections:
        more.append(Text("No run was recorded over time: record.interval is off."))
    elif len(sections) < len(found.runs):
        rest = len(found.runs) - len(sections)
        told = f"{counted(len(sections), 'run')} of {len(found.runs):,}, of the first seed; {rest:,} left out"
        more.append(Text(f"Over time are shown {told} to keep the page small: fullpipe plot draws any run."))
    return Section("Over time", more, sections)


def _firsts(found: Points) -> list[int]:
    """The places of the first run of every point."""
    first: dict[str, int] = {}
    for place, (point, run) in enumerate(zip(found.points, found.runs, strict=True)):
        first.setdefault(f"{point} {run.meta.engine.name}", place)
    return list(first.values())


def _figures(run: Run, budget: Budget) -> Iterator[Figure]:
    tables, links, kinds = presented(run), busy_links(run), algorithms_of([run])
    for quantity in _DRAWN:
        of_links = QUANTITIES[quantity].table == "links"
        try:
            data, label = samples({run.name: tables}, quantity, links if of_links else None)
        except ValueError:
            continue
        actors = data["actor"].unique(maintain_order=True).to_list()
        chosen = actors[: budget.traces]
        parts = [data.filter(pl.col("actor") == actor).drop_nulls("time_s") for actor in chosen]
        if not any(part.height for part in parts):
            continue
        rest = f"; {counted(len(actors) - len(chosen), 'more')} left out" if len(actors) > len(chosen) else ""
        what = label.replace("\n", ", ")
        drawn = series(what, chosen, [(part["time_s"].to_numpy(), part["value"]) for part in parts], kinds)
        warmup_s = run.scenario.warmup_s
        shade = "; the shade is the warm-up" if warmup_s > drawn.start_s else ""
        yield Figure(
            f"{what} over time{rest}{shade}.",
            replace(drawn, warmup_s=warmup_s),
            f"{what} over time, scenario {run.name}, seed {run.meta.seed}: {', '.join(chosen)}.",
        )


def series(
    label: str,
    names: Sequence[str],
    parts: Sequence[tuple[np.ndarray, pl.Series]],
    algorithms: Mapping[str, str] = _NOTHING,
) -> Series:
    """Samples of several flows or links at common times, at equal distances: that of most samples.

    Where samples are at other times, the nearest before counts. Flows have the colours of their `algorithms`.
    """
    times = [part[0] for part in parts]
    gaps = np.concatenate([np.diff(each) for each in times]) if times else np.empty(0)
    gaps = gaps[gaps > 0]
    step = float(np.median(gaps)) if len(gaps) else 1.0
    start = min((float(each[0]) for each in times if len(each)), default=0.0)
    end = max((float(each[-1]) for each in times if len(each)), default=0.0)
    places = start + step * np.arange(round((end - start) / step) + 1)
    looks = distinct([algorithms.get(name, name) for name in names])
    traces = [
        Trace(name, look, _held(places, part, step))
        for name, look, part in zip(names, looks, parts, strict=True)
    ]
    return Series(label, start, step, traces)


def _held(places: np.ndarray, part: tuple[np.ndarray, pl.Series], step: float) -> np.ndarray:
    """The last sample at every place; NaN where that is more than one and a half steps ago."""
    times, values = part[0], part[1].fill_null(float("nan")).to_numpy().astype(float)
    if not len(times):
        return np.full(len(places), np.nan)
    last = np.searchsorted(times, places + step / 4, side="right") - 1
    found = values[np.maximum(last, 0)]
    found[(last < 0) | (places - times[np.maximum(last, 0)] > 1.5 * step)] = np.nan
    return found
