"""Figures of the spread of runs: shares up to a value, means with letters, boxes and violins.

Every function takes one table with a row per run: `value`, `x` and `colour`. Each returns the table of what
it drew, with values as runs have them; `marks` has their words."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.statistics import compact_letters, dkw_half_width, games_howell
from fullpipe.palette import Look, looks
from fullpipe.plots.charts import apart, interval_bars, summarised
from fullpipe.plots.marks import PLAIN, Marks, text
from fullpipe.plots.style import SMALL, in_house_style

_LEVEL_OF_LETTERS = 0.05
_POINTS_UP_TO = 50
"""Runs of a violin that are drawn one by one."""
_MARK: Any = {"linestyle": "none", "markersize": 3.5}
_ABOVE = 4
"""The layer of markers, above that of boxes."""
_DENSE, _OF_ALL = 0.15, 0.4
"""Opacity of a band, and that of all bands of a panel together, at most."""
_MARGIN = 0.05
"""Part of the span of all values by which a distribution function goes on at either end."""
_SPREAD = 0.25
"""Reach of these points to both sides, as a share of the violin's width."""


@in_house_style
def cumulative_shares(axes: Axes, rows: pl.DataFrame, marks: Marks = PLAIN) -> pl.DataFrame:
    """The share of runs up to a value, a line per `colour`. Returns the columns colour, value, share."""
    found = []
    for part, value, words, look in marks.parts(rows):
        ranked = part["value"].sort()
        shares = [(rank + 1) / len(ranked) for rank in range(len(ranked))]
        axes.step([ranked[0], *ranked], [0, *shares], where="post", label=words, **look.line)
        found.append(pl.DataFrame({"value": ranked, "share": shares}).with_columns(colour=pl.lit(value)))
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of runs")
    return pl.concat(found).select("colour", "value", "share")


@in_house_style
def cumulative_bands(axes: Axes, rows: pl.DataFrame, marks: Marks = PLAIN) -> pl.DataFrame:
    """The share of runs up to a value, a line per `colour`, with the band that holds the whole of the true
    distribution function with 95 %: see `fullpipe.statistics.dkw_half_width`. Lines and bands go on to both
    ends of the axis, as the function has a value there, too.

    Returns the columns colour, runs, value, share, low, high.
    """
    found = []
    alpha = min(_DENSE, _OF_ALL / rows["colour"].n_unique())
    least, most = rows["value"].to_numpy().min(), rows["value"].to_numpy().max()
    margin = _MARGIN * (most - least)
    first, last = max(least - margin, least / 2) if least > 0 else least - margin, most + margin
    for part, value, words, look in marks.parts(rows):
        n, ranked = part.height, part["value"].sort()
        share = pl.int_range(1, n + 1, eager=True) / n
        half = dkw_half_width(n)
        data = pl.DataFrame({"value": ranked, "share": share}).with_columns(
            colour=pl.lit(value),
            runs=pl.lit(n),
            low=(share - half).clip(0),
            high=(share + half).clip(upper_bound=1),
        )
        along = [first, *ranked, last]
        axes.step(along, [0, *data["share"], 1], where="post", label=words, **look.line)
        low, high = [0, *data["low"], data["low"][-1]], [min(half, 1), *data["high"], 1]
        axes.fill_between(along, low, high, step="post", color=look.color, alpha=alpha, linewidth=0)
        found.append(data)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of runs")
    return pl.concat(found).select("colour", "runs", "value", "share", "low", "high")


@in_house_style
def means_with_letters(
    axes: Axes, rows: pl.DataFrame, bounds: Bounds = NO_LESS_THAN_0, marks: Marks = PLAIN
) -> pl.DataFrame:
    """Means with their 95 % intervals at every `x`, side by side by `colour`, and letters above: means that
    share one do not differ by the test of Games and Howell, of all pairs at 5 %.

    Where all have one colour and `x` are names, each name has its own.

    Returns the columns x, colour, runs, mean, low, high, letters. There are no letters where a group has one
    run, or where two of them do not vary.
    """
    keys = ["x", "colour"]
    data = summarised(rows, keys, bounds)
    groups = [part["value"].to_list() for part in rows.partition_by(keys, maintain_order=True)]
    data = data.with_columns(letters=pl.Series(_letters(groups), dtype=pl.String))
    places = rows["x"].unique(maintain_order=True).to_list()
    parts, own = list(marks.parts(data)), _looks_of_names(rows)
    for number, (part, _, words, look) in enumerate(parts):
        at = [places.index(x) + apart(number, len(parts)) for x in part["x"]]
        axes.plot([], [], label=words, **_MARK, **look.point)
        looks_of = [own.get(str(x), look) for x in part["x"]]
        for n, (place, look) in enumerate(zip(at, looks_of, strict=True)):
            axes.plot(place, part["mean"][n], **_MARK, **look.point)
            interval_bars(axes, [place], part[n : n + 1], look.color)
        for place, high, letters in zip(at, part["high"], part["letters"], strict=True):
            axes.annotate(
                letters or "", (place, high), (0, 4), textcoords="offset points", ha="center", fontsize=SMALL
            )
    axes.set_xticks(range(len(places)), [text(value, marks.x) for value in places])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.margins(y=0.12)
    return data


def _looks_of_names(rows: pl.DataFrame) -> dict[str, Look]:
    """The look of every name along x, such as an algorithm, if nothing else has colours."""
    if rows["x"].dtype.is_numeric() or rows["colour"].unique().to_list() != [""]:
        return {}
    return looks([str(name) for name in rows["x"].unique(maintain_order=True)])


def _letters(groups: Sequence[Sequence[float]]) -> list[str]:
    """The letters of every group; empty if the test cannot be made."""
    try:
        pairs = games_howell(groups)
    except ValueError:
        return [""] * len(groups)
    order = sorted(range(len(groups)), key=lambda n: -fmean(groups[n]))
    return compact_letters(order, [(each.first, each.second) for each in pairs if each.p < _LEVEL_OF_LETTERS])


@in_house_style
def distributions(
    axes: Axes, rows: pl.DataFrame, marks: Marks = PLAIN, *, violins: bool = False
) -> pl.DataFrame:
    """A box, or a violin, of the runs of every `x` and `colour`; whiskers reach to the extremes. A violin has
    a bar at its median and, of up to 50 runs, a dot for each. Several colours have their markers at medians.

    Where all have one colour and `x` are names, each name has its own.

    Returns the columns x, colour, runs, minimum, q1, median, q3, maximum.
    """
    places = rows["x"].unique(maintain_order=True).to_list()
    parts = list(marks.parts(rows))
    width = 0.8 / len(parts)
    own = _looks_of_names(rows)
    draw = _violins if violins else _boxes
    for number, (part, _, words, look) in enumerate(parts):
        for (x,), group in part.group_by(["x"], maintain_order=True):
            colour = own[str(x)].color if own else look.color
            at = places.index(x) + (number - (len(parts) - 1) / 2) * width
            draw(axes, group["value"].to_list(), at, 0.9 * width, colour)
            if len(parts) > 1:
                axes.plot(at, median(group["value"].to_list()), zorder=_ABOVE, **_MARK, **look.point)
        axes.plot([], [], label=words, **_MARK, **look.point)
    axes.set_xticks(range(len(places)), [text(value, marks.x) for value in places])
    return rows.group_by("x", "colour", maintain_order=True).agg(
        runs=pl.len(),
        minimum=pl.col("value").min(),
        q1=pl.col("value").quantile(0.25, "linear"),
        median=pl.col("value").median(),
        q3=pl.col("value").quantile(0.75, "linear"),
        maximum=pl.col("value").max(),
    )


def _boxes(axes: Axes, values: Sequence[float], at: float, width: float, colour: str) -> None:
    line = {"color": colour}
    axes.boxplot(
        [values], positions=[at], widths=width, whis=(0, 100), patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.35}, medianprops={"color": "black"}, whiskerprops=line,
        capprops=line,
    )  # fmt: skip


def _violins(axes: Axes, values: Sequence[float], at: float, width: float, colour: str) -> None:
    if len(set(values)) > 1:
        found = axes.violinplot([values], [at], widths=width, showmedians=True)
        middle = found.pop("cmedians")
        drawn: list[Any] = [*cast(Sequence[Any], found.pop("bodies")), *found.values()]
        for each in drawn:
            each.set_color(colour)
            each.set_linewidth(0.8)
        middle.set_color("black")
    if len(values) <= _POINTS_UP_TO:
        steps = np.arange(len(values)) * 0.618 % 1 - 0.5  # beside each other, and the same every time
        axes.plot(at + _SPREAD * width * steps, values, ".", color=colour, markersize=2.5, zorder=3)
