"""Figures of comparisons: forests, variants, engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import ceil, log10
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator, NullLocator

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.statistics import t_interval
from fullpipe.palette import COLOURS, DASHES, looks
from fullpipe.plots.style import (
    LABEL_SIZE,
    LINE_HEIGHT,
    in_house_style,
    inches_across,
    inches_laid_out,
    is_narrow,
    new_figure,
    note_below,
    shared_legend,
)

# Algorithms or conditions side by side, with confidence intervals over runs.


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
    """Draw bars of the mean over runs, with its 95 % interval. `groups` has the values of runs by series and
    by place on the axis.

    The bars of all series are side by side at every place. Intervals are truncated at the bounds.

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
    """Draw means over runs along a numeric variable, with 95 % intervals truncated at the bounds.

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
    """Return the lengths of the intervals below and above the mean."""
    mean = data["mean"]
    return [(mean - data["low"]).to_list(), (data["high"] - mean).to_list()]


# Series of several engines in the same axes.


LABELS = {"goodput": ("goodput (Mbit/s)", 1e-6), "rtt": ("smoothed RTT (ms)", 1e3)}
_MOST_GROUPS = len(DASHES)


@in_house_style
def engines(data: pl.DataFrame) -> tuple[Figure, pl.DataFrame]:
    """Draw a row of axes per quantity: one colour per engine, one dash pattern per engine and group, and
    bands over seeds.

    Args:
        data: The columns engine, of, quantity, time_s, mean, low, high, as `fullpipe.compare.overlay` gives
            them. Groups beyond the seventh are not drawn.

    Returns:
        The figure, and the table of the drawn values in the units of the axes.

    Raises:
        ValueError: If there is nothing to draw.
    """
    if data.is_empty():
        raise ValueError('there are no samples to draw; run with record.interval = "100 ms"')
    groups = data["of"].unique(maintain_order=True).to_list()[:_MOST_GROUPS]
    names = data["engine"].unique(maintain_order=True).to_list()
    quantities = data["quantity"].unique(maintain_order=True).to_list()
    figure, axes = new_figure(len(quantities), row_height=1.9)
    entries: dict[str, object] = {}
    shown = []
    for place, quantity in zip(axes, quantities, strict=True):
        label, scale = LABELS[quantity]
        numbers = [pl.col(name) * scale for name in ("mean", "low", "high")]
        rows = data.filter((pl.col("quantity") == quantity) & pl.col("of").is_in(groups)).with_columns(
            numbers
        )
        entries |= _lines(place, rows, names, groups)
        place.set_ylabel(label)
        place.set_xlim(left=0)
        place.set_ylim(bottom=0)
        shown.append(rows)
    axes[-1].set_xlabel("time (s)")
    shared_legend(figure, entries)
    return figure, pl.concat(shown)


def _lines(place: Axes, rows: pl.DataFrame, names: list[str], groups: list[str]) -> dict[str, object]:
    lines: dict[str, object] = {}
    for n, engine in enumerate(names):
        for number, group in enumerate(groups):
            dashes = DASHES[(n + len(names) * number) % len(DASHES)]
            own = rows.filter((pl.col("engine") == engine) & (pl.col("of") == group))
            if own.is_empty():
                continue
            times = own["time_s"].to_numpy()
            label = engine if len(groups) == 1 else f"{engine}: {group}"
            colour = COLOURS[n % len(COLOURS)]
            (lines[label],) = place.plot(times, own["mean"].to_numpy(), linestyle=dashes, color=colour)
            low, high = (own[name].to_numpy() for name in ("low", "high"))
            place.fill_between(times, low, high, color=colour, alpha=0.15, linewidth=0)
    return lines


# A forest of differences: variants against their reference, with intervals and margins.


_VERDICTS: Mapping[str, Any] = {
    "better": {"color": COLOURS[2], "marker": "P"},
    "worse": {"color": COLOURS[1], "marker": "X"},
    "higher": {"color": COLOURS[0], "marker": "^"},
    "lower": {"color": COLOURS[0], "marker": "v"},
    "equivalent": {"color": "#333333", "marker": "s"},
}
"""Looks of verdicts. Their markers differ, so that verdicts can be told apart in a grey print."""
_OTHER: Any = {"color": "#777777", "marker": "o", "fillstyle": "none"}
_SIZE = 5
"""Size of markers in points; the shape of a marker shows the verdict."""
_MARGIN: Any = {"color": "0.9", "linewidth": 0}
_MARGINS = "grey: differences within the margin"
_INCHES_PER_ROW, _INCHES_OF_AXIS = 0.22, 0.7
_LINES_OF_LABEL = 2
"""Lines of an axis label for which `_INCHES_OF_AXIS` has room."""
_TICKS = 1.6
"""Number of ticks per inch of a panel before the names beside it are laid out."""
_HIDES = 20
"""Ratio of the largest difference to the median difference above which the axis is logarithmic."""


@in_house_style
def forest(
    rows: pl.DataFrame, units: Mapping[str, str], width: str = "page", notes: str = ""
) -> tuple[Figure, pl.DataFrame]:
    """Draw a panel per metric: the mean difference of every variant with its 95 % interval, and the margin
    shaded.

    Args:
        rows: The columns metric, label (of the variant and the group), verdict, and in the unit of the
            metric: difference, low and high (null without an interval), and margin.
        units: Axis label of each metric, such as "goodput, %".
        width: One of `fullpipe.plots.style.WIDTHS`.
        notes: Text below the figure, such as the reference and the number of seeds.

    Returns:
        The figure, and `rows`.
    """
    own = {
        str(part["metric"][0]): part["label"].unique(maintain_order=True).to_list()
        for part in rows.partition_by("metric", maintain_order=True)
    }
    metrics = sorted(own, key=lambda metric: -len(own[metric]))
    across = 1 if is_narrow(width) else min(len(metrics), 3)
    lines = [metrics[start : start + across] for start in range(0, len(metrics), across)]
    labels = [list(dict.fromkeys(chain.from_iterable(own[metric] for metric in line))) for line in lines]
    heights = [_INCHES_OF_AXIS + _INCHES_PER_ROW * len(each) for each in labels]
    height = sum(heights) / len(lines)
    figure, places = new_figure(len(lines), across, width=width, row_height=height, share_y="row")
    grid = places[0].get_gridspec()
    assert grid is not None
    grid.set_height_ratios(heights)
    for number, (place, metric) in enumerate(zip(places, metrics, strict=False)):
        of_metric = rows.filter(pl.col("metric") == metric)
        _panel(place, of_metric, labels[number // across])
        place.xaxis.set_major_locator(MaxNLocator(max(3, int(_TICKS * inches_across(place)))))
        place.set_xlabel(units[metric])
        _scale(place, of_metric)
    for place in places[len(metrics) :]:
        place.set_axis_off()
    has_margin = bool(rows["margin"].cast(pl.Float64).max())
    told = ["mean differences from the reference, 95 % confidence intervals of single tests", notes]
    note_below(figure, [*told, *([_MARGINS] if has_margin else [])])
    shared_legend(figure, _entries(rows))
    _wrap_labels(figure, places[: len(metrics)], across)
    return figure, rows


def _wrap_labels(figure: Figure, places: Sequence[Axes], across: int) -> None:
    """Break the labels below panels into lines as wide as their panels. The figure must be complete, and it
    grows by the lines beyond the second of each row."""
    inches = inches_laid_out(figure, places)
    more = [0] * -(-len(places) // across)
    for number, (place, width) in enumerate(zip(places, inches, strict=True)):
        lines = _wrapped(place.get_xlabel(), width, LABEL_SIZE)
        place.set_xlabel("\n".join(lines))
        more[number // across] = max(more[number // across], len(lines) - _LINES_OF_LABEL)
    added = LINE_HEIGHT * LABEL_SIZE / 72
    figure.set_figheight(figure.get_figheight() + added * sum(more))


def _wrapped(text: str, inches: float, size: float) -> list[str]:
    """Lines of a text that are at most as wide, unless a word is wider. Unbreakable spaces stay."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and TextPath((0, 0), longer, size=size).get_extents().width <= 72 * inches:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _entries(rows: pl.DataFrame) -> dict[str, Any]:
    """Legend entries of the drawn verdicts and the margin."""
    verdicts = rows["verdict"].unique(maintain_order=True).to_list()
    found = {verdict: look for verdict, look in _VERDICTS.items() if verdict in verdicts}
    others = [verdict for verdict in verdicts if verdict not in _VERDICTS]
    if any(others):
        found |= {" or ".join(filter(None, others)): _OTHER}
    entries: dict[str, Any] = {
        words: Line2D([], [], linestyle="none", markersize=_SIZE, **look) for words, look in found.items()
    }
    return entries | ({"margin": Patch(**_MARGIN)} if rows["margin"].cast(pl.Float64).max() else {})


def _scale(axes: Axes, rows: pl.DataFrame) -> None:
    """Make the axis symmetric-logarithmic if one difference is much larger than the median."""
    sizes = rows["difference"].abs().filter(rows["difference"] != 0).to_numpy()
    middle = max(float(np.median(sizes)), float(rows["margin"].to_numpy().max())) if sizes.size else 0.0
    if middle and sizes.max() > _HIDES * middle:
        axes.set_xscale("symlog", linthresh=middle)
        axes.autoscale(axis="x")
        decades = range(ceil(log10(middle)), ceil(log10(sizes.max())) + 1)
        ends = axes.get_xlim()
        ticks = [0.0, *(sign * 10.0**decade for decade in decades for sign in (-1, 1))]
        axes.set_xticks(sorted(tick for tick in ticks if ends[0] <= tick <= ends[1]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel(f"{axes.get_xlabel()}, log scale")


def _panel(axes: Axes, rows: pl.DataFrame, labels: Sequence[str]) -> None:
    axes.grid(visible=False)
    axes.axvline(0, color="black", linewidth=0.6)
    for row in rows.iter_rows(named=True):
        y = len(labels) - 1 - labels.index(row["label"])
        look = _VERDICTS.get(row["verdict"], _OTHER)
        axes.fill_betweenx([y - 0.4, y + 0.4], -row["margin"], row["margin"], **_MARGIN)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y, y], "-", color=look["color"], linewidth=1.2)
        axes.plot(row["difference"], y, linestyle="none", markersize=_SIZE, **look)
    axes.set_yticks(range(len(labels)), list(reversed(labels)))
    axes.set_ylim(-0.6, len(labels) - 0.4)
