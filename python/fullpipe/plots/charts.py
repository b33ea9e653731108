"""Figures over many runs: lines with bands, heat maps, throughput against delay, and distributions.

Every function takes one table with a row per run: `value`, and what tells runs apart as `x`, `y` and
`colour`. Each returns the table of what it drew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.over_seeds import means
from fullpipe.analysis.statistics import compact_letters, dkw_half_width, games_howell
from fullpipe.palette import look_of
from fullpipe.plots.comparisons import MARKERS
from fullpipe.plots.style import in_house_style

_LEVEL_OF_LETTERS = 0.05
_APART, _ROOM = 0.15, 0.7
"""Between points of several colours at one name, and for all of them, of the distance of names."""
_MUCH = 100
_DARK = 0.5
"""Of the luma of a colour, ITU-R BT.601: below it letters are white."""
_DEVIATIONS = 1.0
"""Half axes of an ellipse, in standard deviations of runs."""
_CORNERS = 180
"""Of the polygon that is drawn for an ellipse."""


@in_house_style
def lines_with_bands(axes: Axes, rows: pl.DataFrame, bounds: Bounds = NO_LESS_THAN_0) -> pl.DataFrame:
    """Means over runs along `x`, a line per `colour`, with bands of the 95 % interval.

    Between names there is no line: points with their intervals, side by side. Intervals end at the bounds.

    Returns the columns colour, x, runs, mean, low, high.
    """
    data = summarised(rows, ["colour", "x"], bounds)
    places, is_number = _places(axes, data["x"]), data["x"].dtype.is_numeric()
    parts = _by_colour(data)
    apart = 0 if is_number else min(_APART, _ROOM / len(parts))
    for number, (part, label) in enumerate(parts):
        look = look_of(label, number)
        x = [places[value] + apart * (number - (len(parts) - 1) / 2) for value in part["x"]]
        marker = MARKERS[number % len(MARKERS)]
        if is_number:
            axes.plot(x, part["mean"], label=label, marker=marker, markersize=3, **look)
            axes.fill_between(x, part["low"], part["high"], color=look["color"], alpha=0.18, linewidth=0)
        else:
            axes.plot(x, part["mean"], marker, label=label, markersize=3, color=look["color"])
            axes.vlines(x, part["low"], part["high"], color=look["color"], linewidth=1)
    if not is_number:
        axes.set_xlim(-0.5, len(places) - 0.5)
    return data


@in_house_style
def heat_map(
    axes: Axes,
    rows: pl.DataFrame,
    between: tuple[float, float] | None = None,
    neutral: float | None = None,
    bounds: Bounds = NO_LESS_THAN_0,
) -> tuple[pl.DataFrame, Any]:
    """The mean over runs as the colour of a cell, with its number; `x` and `y` are as they come, of
    names the first at the top.

    Colours go from the least to the largest mean, or between two values that several maps share; by their
    logarithms if they span much. Of what has a neutral value, white is that, blue is more and red is less,
    and colours reach as far below as above it.

    Returns the columns y, x, runs, mean, low and high, which end at the bounds, and what a colour bar is of.
    """
    data = summarised(rows, ["y", "x"], bounds)
    columns, lines = (data[name].unique(maintain_order=True).to_list() for name in ("x", "y"))
    grid = np.full((len(lines), len(columns)), np.nan)
    for row in data.iter_rows(named=True):
        grid[lines.index(row["y"]), columns.index(row["x"])] = row["mean"]
    low, high = between or (np.nanmin(grid), np.nanmax(grid))
    norm, colours = _colours(low, high, neutral)
    drawn = axes.imshow(grid, origin="lower", aspect="auto", cmap=colours, norm=norm)
    axes.grid(visible=False)
    axes.set_xticks(range(len(columns)), [_text(value) for value in columns])
    axes.set_yticks(range(len(lines)), [_text(value) for value in lines])
    if not data["y"].dtype.is_numeric():
        axes.invert_yaxis()
    for (line, column), value in np.ndenumerate(grid):
        if not math.isnan(value) and grid.size <= 400:
            red, green, blue, _ = drawn.to_rgba(value)
            colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else "black"
            axes.text(column, line, _cell(value), ha="center", va="center", fontsize=6, color=colour)
    return data, drawn


def _colours(low: float, high: float, neutral: float | None) -> tuple[Normalize, str]:
    """How values become colours, and the name of the map."""
    if neutral is not None:
        reach = max(high - neutral, neutral - low) or 1.0
        return Normalize(neutral - reach, neutral + reach), "RdBu"
    if spans_much(pl.Series([low, high])):
        return LogNorm(low, high), "viridis"
    return Normalize(low, high), "viridis"


def spans_much(values: pl.Series) -> bool:
    """Whether positive values span more than a factor of 100, so that small ones would look the same."""
    known = values.drop_nulls().to_list()
    return bool(known) and min(known) > 0 and max(known) > _MUCH * min(known)


@in_house_style
def throughput_and_delay(
    axes: Axes, rows: pl.DataFrame, bounds: Bounds = NO_LESS_THAN_0, x_bounds: Bounds = NO_LESS_THAN_0
) -> pl.DataFrame:
    """Throughput (`value`) over delay (`x`, a number): a point per `colour` at the mean over runs, with an
    ellipse of one standard deviation of both. The delay grows to the left, so that up and right is better.

    Ellipses are clipped at the bounds of both metrics, and at the capacity of the path (`most`), if rows have
    that column. Source: the figures of Winstein and Balakrishnan 2013, "TCP ex machina".

    Returns the columns colour, runs, value, x, value_deviation, x_deviation, correlation.
    """
    found = []
    for number, (part, label) in enumerate(_by_colour(rows)):
        look = look_of(label, number)
        x, y = part["x"].cast(pl.Float64).to_numpy(), part["value"].to_numpy()
        covariance = np.cov(x, y) if part.height > 1 else np.zeros((2, 2))
        axes.plot(x.mean(), y.mean(), MARKERS[number % len(MARKERS)], label=label, color=look["color"])
        possible = x_bounds, (bounds[0], _most(part, bounds[1]))
        shape = _ellipse((x.mean(), y.mean()), covariance, possible)
        if shape:
            axes.add_patch(PathPatch(shape, facecolor=look["color"], alpha=0.18, edgecolor=look["color"]))
        spread = np.sqrt(np.diag(covariance))
        alike = covariance[0, 1] / spread.prod() if spread.prod() else None
        found.append((label, part.height, y.mean(), x.mean(), spread[1], spread[0], alike))
    axes.autoscale_view()
    axes.invert_xaxis()
    columns = ["colour", "runs", "value", "x", "value_deviation", "x_deviation", "correlation"]
    return pl.DataFrame(found, schema=columns, orient="row")


def _most(part: pl.DataFrame, most: float) -> float:
    """The bound of the metric, or the capacity of the path if that is lower and no run measured more."""
    capacity = part["most"].max() if "most" in part.columns else None
    if not isinstance(capacity, float):
        return most
    return min(most, max(capacity, float(part["value"].to_numpy().max())))


def _ellipse(middle: tuple[float, float], covariance: Any, possible: tuple[Bounds, Bounds]) -> Path | None:
    """The part of an ellipse within the bounds of x and y; None if runs do not vary."""
    sizes, directions = np.linalg.eigh(covariance)
    if sizes.max() <= 0:
        return None
    angles = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    spread = directions @ np.diag(_DEVIATIONS * np.sqrt(np.maximum(sizes, 0)))
    corners = np.asarray(middle) + (spread @ circle).T
    # an axis on which nothing is cut off ends beyond the ellipse, so that its edge is not cut, either
    (left, right), (bottom, top) = (
        (max(least, low - 1), min(most, high + 1))
        for (least, most), low, high in zip(possible, corners.min(axis=0), corners.max(axis=0), strict=True)
    )
    inside = Bbox.from_extents(left, bottom, right, top)
    return _closed(_closed(corners).clip_to_bbox(inside).vertices)


def _closed(corners: Any) -> Path:
    return Path(np.vstack([corners, corners[:1]]), closed=True)


@in_house_style
def cumulative_shares(axes: Axes, rows: pl.DataFrame) -> pl.DataFrame:
    """The share of runs up to a value, a line per `colour`. Returns the columns colour, value, share."""
    found = []
    for number, (part, label) in enumerate(_by_colour(rows)):
        ranked = part["value"].sort()
        shares = [(rank + 1) / len(ranked) for rank in range(len(ranked))]
        axes.step(ranked, shares, where="post", label=label, **look_of(label, number))
        found.append(pl.DataFrame({"value": ranked, "share": shares}).with_columns(colour=pl.lit(label)))
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of runs")
    return pl.concat(found).select("colour", "value", "share")


@in_house_style
def cumulative_bands(axes: Axes, rows: pl.DataFrame) -> pl.DataFrame:
    """The share of runs up to a value, a line per `colour`, with the band that holds the whole of the true
    distribution function with 95 %: see `fullpipe.statistics.dkw_half_width`.

    Returns the columns colour, runs, value, share, low, high.
    """
    found = []
    for number, (part, label) in enumerate(_by_colour(rows)):
        look = look_of(label, number)
        n, ranked = part.height, part["value"].sort()
        share = pl.int_range(1, n + 1, eager=True) / n
        half = dkw_half_width(n)
        data = pl.DataFrame({"value": ranked, "share": share}).with_columns(
            colour=pl.lit(label),
            runs=pl.lit(n),
            low=(share - half).clip(0),
            high=(share + half).clip(upper_bound=1),
        )
        axes.step(ranked, data["share"], where="post", label=label, **look)
        low, high = data["low"], data["high"]
        axes.fill_between(ranked, low, high, step="post", color=look["color"], alpha=0.15, linewidth=0)
        found.append(data)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of runs")
    return pl.concat(found).select("colour", "runs", "value", "share", "low", "high")


@in_house_style
def means_with_letters(axes: Axes, rows: pl.DataFrame, bounds: Bounds = NO_LESS_THAN_0) -> pl.DataFrame:
    """Means with their 95 % intervals at every `x`, side by side by `colour`, and letters above: means that
    share one do not differ by the test of Games and Howell, of all pairs at 5 %.

    Returns the columns x, colour, runs, mean, low, high, letters. There are no letters where a group has one
    run, or where two of them do not vary.
    """
    keys = ["x", "colour"]
    data = summarised(rows, keys, bounds)
    groups = [part["value"].to_list() for part in rows.partition_by(keys, maintain_order=True)]
    data = data.with_columns(letters=pl.Series(_letters(groups), dtype=pl.String))
    places = rows["x"].unique(maintain_order=True).to_list()
    parts = _by_colour(data)
    apart = min(_APART, _ROOM / len(parts))
    for number, (part, label) in enumerate(parts):
        colour, shift = look_of(label, number)["color"], apart * (number - (len(parts) - 1) / 2)
        at = [places.index(x) + shift for x in part["x"]]
        axes.plot(at, part["mean"], "o", label=label, markersize=4, color=colour)
        axes.vlines(at, part["low"], part["high"], color=colour, linewidth=1.4)
        for place, high, letters in zip(at, part["high"], part["letters"], strict=True):
            axes.annotate(
                letters or "", (place, high), (0, 4), textcoords="offset points", ha="center", fontsize=7
            )
    axes.set_xticks(range(len(places)), [_text(value) for value in places])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.margins(y=0.12)
    return data


def _letters(groups: Sequence[Sequence[float]]) -> list[str]:
    """Of every group; none if the test cannot be made."""
    try:
        pairs = games_howell(groups)
    except ValueError:
        return [""] * len(groups)
    order = sorted(range(len(groups)), key=lambda n: -fmean(groups[n]))
    return compact_letters(order, [(each.first, each.second) for each in pairs if each.p < _LEVEL_OF_LETTERS])


@in_house_style
def distributions(axes: Axes, rows: pl.DataFrame, *, violins: bool = False) -> pl.DataFrame:
    """A box, or a violin, of the runs of every `x` and `colour`; whiskers reach to the extremes.

    Where all have one colour and `x` are names, each name has its own.

    Returns the columns x, colour, runs, minimum, q1, median, q3, maximum.
    """
    places = rows["x"].unique(maintain_order=True).to_list()
    labels = rows["colour"].unique(maintain_order=True).to_list()
    width = 0.8 / len(labels)
    draw, by_name = _violins if violins else _boxes, labels == [""] and not rows["x"].dtype.is_numeric()
    for number, (part, label) in enumerate(_by_colour(rows)):
        for (x,), group in part.group_by(["x"], maintain_order=True):
            place = places.index(x)
            colour = look_of(str(x), place)["color"] if by_name else look_of(label, number)["color"]
            at = place + (number - (len(labels) - 1) / 2) * width
            draw(axes, [group["value"].to_list()], [at], 0.9 * width, colour)
        axes.plot([], [], color=look_of(label, number)["color"], linewidth=4, label=label)
    axes.set_xticks(range(len(places)), [_text(value) for value in places])
    return rows.group_by("x", "colour", maintain_order=True).agg(
        runs=pl.len(),
        minimum=pl.col("value").min(),
        q1=pl.col("value").quantile(0.25, "linear"),
        median=pl.col("value").median(),
        q3=pl.col("value").quantile(0.75, "linear"),
        maximum=pl.col("value").max(),
    )


def _boxes(axes: Axes, values: Sequence[Any], at: Sequence[float], width: float, colour: str) -> None:
    line = {"color": colour}
    axes.boxplot(
        values, positions=at, widths=width, whis=(0, 100), patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.35}, medianprops={"color": "black"}, whiskerprops=line,
        capprops=line,
    )  # fmt: skip


def _violins(axes: Axes, values: Sequence[Any], at: Sequence[float], width: float, colour: str) -> None:
    several = [(place, each) for place, each in zip(at, values, strict=True) if len(set(each)) > 1]
    if several:
        parts = axes.violinplot([each for _, each in several], [place for place, _ in several], widths=width)
        drawn: list[Any] = [*cast(Sequence[Any], parts.pop("bodies")), *parts.values()]
        for each in drawn:
            each.set_color(colour)


def summarised(rows: pl.DataFrame, by: Sequence[str], bounds: Bounds = NO_LESS_THAN_0) -> pl.DataFrame:
    """Means over runs with Student's 95 % interval, which ends at the bounds of what is measured; the mean
    itself where there is one run."""
    low, high = (pl.col(end).fill_null(pl.col("mean")).clip(*bounds) for end in ("low", "high"))
    return (
        means(rows, by)
        .select(*by, "mean", low, high, runs=pl.col("n"))
        .select(*by, "runs", "mean", "low", "high")
    )


def _by_colour(rows: pl.DataFrame) -> list[tuple[pl.DataFrame, str]]:
    parts = rows.partition_by("colour", maintain_order=True)
    return [(part, str(part["colour"][0])) for part in parts]


def _places(axes: Axes, values: pl.Series) -> dict[Any, float]:
    """Where a value of an axis is: at itself if it is a number, else one after the other."""
    distinct = values.unique(maintain_order=True).to_list()
    if values.dtype.is_numeric():
        return {value: float(value) for value in distinct}
    axes.set_xticks(range(len(distinct)), [_text(value) for value in distinct])
    return {value: float(place) for place, value in enumerate(distinct)}


def _cell(value: float) -> str:
    """A number with two digits, or with all that stand before the point."""
    return f"{value:#.2g}" if abs(value) < 9.95 else f"{value:.0f}"


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
