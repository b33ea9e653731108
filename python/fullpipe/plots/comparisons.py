"""Algorithms or conditions side by side, with the interval over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.statistics import t_interval
from fullpipe.palette import looks
from fullpipe.plots.style import in_house_style

Replicates = Sequence[float]
_SCHEMA = {
    "series": pl.String,
    "at": pl.String,
    "runs": pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


@in_house_style
def grouped_bars(
    axes: Axes,
    groups: Mapping[str, Mapping[str, Replicates]],
    *,
    label: str,
    legend: bool = True,
    bounds: Bounds = NO_LESS_THAN_0,
) -> pl.DataFrame:
    """Bars of the mean over runs, with its 95 % interval; `groups` maps a series to places to runs.

    The bars of all series stand side by side at every place. Intervals are truncated at the bounds.

    Returns the columns series, at, runs, mean, low, high.
    """
    width, found = 0.8 / len(groups), looks(list(groups))
    frames = []
    for position, (series, places) in enumerate(groups.items()):
        data = _summarised(series, places, bounds)
        at = [i + (position - (len(groups) - 1) / 2) * width for i in range(data.height)]
        axes.bar(at, data["mean"].to_list(), width, label=series, **found[series].area)
        axes.errorbar(at, data["mean"].to_list(), _errors(data), fmt="none", ecolor="black", elinewidth=0.6)
        frames.append(data)
    names = list(next(iter(groups.values())))
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    if legend and len(groups) > 1:
        axes.legend(ncols=len(groups))
    return pl.concat(frames)


@in_house_style
def lines_with_intervals(
    axes: Axes,
    lines: Mapping[str, Mapping[float, Replicates]],
    *,
    label: str,
    legend: bool = True,
    bounds: Bounds = NO_LESS_THAN_0,
) -> pl.DataFrame:
    """Means over runs along a number, with their 95 % intervals, which are truncated at the bounds.

    Returns the columns of `grouped_bars`.
    """
    frames, found = [], looks(list(lines))
    for series, places in lines.items():
        data = _summarised(series, {f"{x:g}": values for x, values in places.items()}, bounds)
        axes.errorbar(
            list(places),
            data["mean"].to_list(),
            _errors(data),
            label=series,
            markersize=3,
            **(found[series].point | found[series].line),
            elinewidth=0.6,
            capsize=1.5,
        )
        frames.append(data)
    axes.set_ylabel(label)
    if legend and len(lines) > 1:
        axes.legend(ncols=2)
    return pl.concat(frames)


def _summarised(series: str, places: Mapping[str, Replicates], bounds: Bounds) -> pl.DataFrame:
    rows = []
    for at, values in places.items():
        interval = t_interval(values).clipped(*bounds) if len(values) > 1 else None
        mean = sum(values) / len(values)
        rows.append(
            (series, at, len(values), mean, *((interval.low, interval.high) if interval else (mean, mean)))
        )
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _errors(data: pl.DataFrame) -> list[list[float]]:
    """Lengths below and above the mean."""
    mean = data["mean"]
    return [(mean - data["low"]).to_list(), (data["high"] - mean).to_list()]
