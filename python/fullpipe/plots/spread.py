"""Figures of spread: boxes, ellipses of delay and throughput."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any, Literal, cast

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.over_seeds import FEW
from fullpipe.analysis.statistics import compact_letters, dkw_half_width, games_howell
from fullpipe.palette import Look
from fullpipe.plots.charts import (
    BANDS_UP_TO,
    PLAIN,
    Marks,
    apart,
    band,
    interval_bars,
    looks_of_names,
    summarised,
    text,
)
from fullpipe.plots.style import REFERENCE, SMALL, in_house_style

# Throughput over delay: a mark per algorithm at the mean of runs, with an ellipse of their spread.


_DEVIATIONS = 1.0
"""Semi-axes of an ellipse, in standard deviations over runs."""
_CORNERS = 180
"""Corners of the polygon that approximates an ellipse."""
_ROOM = 0.12
"""Room above the capacity for its label, as a share of the part of the axis below the capacity."""
_BESIDE = 0.08
"""Room below and above the marks, as a share of the axis."""
_FAR_ABOVE = 3.0
"""The capacity is drawn only if its distance from the beginning of the axis is at most this multiple of the
axis length."""
_ABOVE = 4
"""Layer of ellipses and markers: in front of marks and boxes."""


@in_house_style
def throughput_and_delay(
    axes: Axes,
    rows: pl.DataFrame,
    bounds: Bounds = NO_LESS_THAN_0,
    x_bounds: Bounds = NO_LESS_THAN_0,
    marks: Marks = PLAIN,
) -> pl.DataFrame:
    """Draw throughput (`value`) over delay (`x`, a number): a point per `colour` at the mean over runs, and
    on top an ellipse of one standard deviation of both quantities. The delay grows to the left, so that
    points further up and right are better.

    Ellipses are clipped at the bounds of both metrics, and at the capacity of the path if the rows have the
    column `most`. Source: the figures of Winstein and Balakrishnan 2013, "TCP ex machina".

    Returns the columns colour, runs, value, x, value_deviation, x_deviation, correlation.
    """
    found = []
    for part, value, words, look in marks.parts(rows):
        x, y = part["x"].cast(pl.Float64).to_numpy(), part["value"].to_numpy()
        covariance = np.cov(x, y) if part.height > 1 else np.zeros((2, 2))
        axes.plot(x.mean(), y.mean(), linestyle="none", label=words, markersize=4, **look.point)
        possible = x_bounds, (bounds[0], _most(part, bounds[1]))
        shape = _ellipse((x.mean(), y.mean()), covariance, possible)
        if shape:
            fill = to_rgba(look.color, 0.18)
            axes.add_patch(PathPatch(shape, fc=fill, ec=look.color, linewidth=0.8, zorder=_ABOVE))
        spread = np.sqrt(np.diag(covariance))
        alike = covariance[0, 1] / spread.prod() if spread.prod() else None
        found.append((value, part.height, y.mean(), x.mean(), spread[1], spread[0], alike))
    axes.margins(y=_BESIDE)
    axes.autoscale_view()
    axes.invert_xaxis()
    columns = ["colour", "runs", "value", "x", "value_deviation", "x_deviation", "correlation"]
    return pl.DataFrame(found, schema=columns, orient="row")


@in_house_style
def capacity_line(axes: Axes, rows: pl.DataFrame) -> None:
    """Draw the capacity of the path (`most`) with its label, if all rows of a panel have the same capacity.

    A capacity far above the marks is not drawn, and the axes keep their limits.
    """
    known = rows["most"].unique().to_list() if "most" in rows.columns else []
    bottom, top = axes.get_ylim()
    if len(known) != 1 or known[0] is None or known[0] - bottom > _FAR_ABOVE * (top - bottom):
        return
    axes.axhline(known[0], **REFERENCE)
    axes.annotate(
        "capacity", (0.01, known[0]), (0, 1), xycoords=("axes fraction", "data"),
        textcoords="offset points", fontsize=SMALL, color="0.35", ha="left", va="bottom",
        annotation_clip=True,
    )  # fmt: skip
    axes.set_ylim(bottom, max(top, known[0] + _ROOM * (known[0] - bottom)))


def _most(part: pl.DataFrame, most: float) -> float:
    """Return the upper bound of values: the capacity of the path, or the largest value if some run exceeds
    the capacity, but at most the bound of the metric."""
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
    # each side of the clip box is the metric's bound if the bound cuts the ellipse, and outside the ellipse
    # otherwise
    (left, right), (bottom, top) = (
        (max(least, low - 1), min(most, high + 1))
        for (least, most), low, high in zip(possible, corners.min(axis=0), corners.max(axis=0), strict=True)
    )
    inside = Bbox.from_extents(left, bottom, right, top)
    return _closed(_closed(corners).clip_to_bbox(inside).vertices)


def _closed(corners: Any) -> Path:
    return Path(np.vstack([corners, corners[:1]]), closed=True)


# Figures of the spread of runs: cumulative shares, means with letters, boxes and violins.
#
# Every function takes one table with a row per run: `value`, `x` and `colour`. The argument `marks` has the
# labels of the variables. Every function returns the table of the drawn values.


_LEVEL_OF_LETTERS = 0.05
BANDS_FROM = 10
"""Least number of runs at which a distribution function has a band."""
POINTS_UP_TO = 50
"""Maximum number of runs of a violin that are drawn as dots."""
_MARK: Any = {"linestyle": "none", "markersize": 3.5}
_DOT: Any = {"linestyle": "none", "markersize": 3}
_DENSE, _OF_ALL = 0.15, 0.4
"""Greatest opacity of a band, and of all bands of a panel together."""
_STEPS = 1000
"""Maximum number of steps of a cumulative share; further steps would be narrower than the line."""
_MARGIN = 0.05
"""Length by which a distribution function continues at each end, as a share of the span of all values."""
_GROUP = 0.6
"""Width of the boxes or violins at one value of x, as a share of the distance between values."""
_SPREAD = 0.25
"""Spread of the dots of few runs to each side, as a share of the width of a box."""
_OF_DOTS = (0.06, 0.36)
"""Ends of the dots beside a violin, from its middle to the right, as shares of its width."""


@in_house_style
def cumulative_shares(
    axes: Axes, rows: pl.DataFrame, marks: Marks = PLAIN, *, of: str = "runs"
) -> pl.DataFrame:
    """Draw the cumulative share of rows, which are runs or samples of runs named `of`, a line per `colour`.
    Lines of many rows are drawn through some of them. Returns the columns colour, value, share of all rows.
    """
    found = []
    for part, value, words, look in marks.parts(rows):
        ranked = part["value"].sort()
        shares = np.arange(1, part.height + 1) / part.height
        drawn = np.unique(np.linspace(0, part.height - 1, min(part.height, _STEPS)).astype(int))
        along, up = ranked.to_numpy()[drawn], shares[drawn]
        axes.step([along[0], *along], [0, *up], where="post", label=words, **look.line)
        found.append(pl.DataFrame({"value": ranked, "share": shares}).with_columns(colour=pl.lit(value)))
    axes.set_ylim(0, 1.02)
    axes.set_ylabel(f"share of {of}")
    return pl.concat(found).select("colour", "value", "share")


@in_house_style
def cumulative_bands(
    axes: Axes, rows: pl.DataFrame, marks: Marks = PLAIN, *, every: pl.Series | None = None
) -> pl.DataFrame:
    """Draw the cumulative share of runs, a line per `colour`, with the simultaneous 95 % confidence band of
    the distribution function: see `fullpipe.statistics.dkw_half_width`. Lines and bands extend beyond the
    least and the largest of `every` value of all panels, where the function is 0 or 1. Fewer than
    `BANDS_FROM` runs have no band, since it would be wider than 0.8, and more than `BANDS_UP_TO` lines have
    no bands, since the bands would cover each other.

    Returns the columns colour, runs, value, share, low, high.
    """
    found = []
    alpha = min(_DENSE, _OF_ALL / rows["colour"].n_unique())
    known = (rows["value"] if every is None else every).to_numpy()
    least, most = known.min(), known.max()
    margin = _MARGIN * (most - least) if known.any() else 1.0
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
        if n >= BANDS_FROM and rows["colour"].n_unique() <= BANDS_UP_TO:
            low, high = [0, *data["low"], data["low"][-1]], [min(half, 1), *data["high"], 1]
            axes.fill_between(along, low, high, step="post", **band(look, alpha))
        found.append(data)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of runs")
    return pl.concat(found).select("colour", "runs", "value", "share", "low", "high")


@in_house_style
def means_with_letters(
    axes: Axes, rows: pl.DataFrame, bounds: Bounds = NO_LESS_THAN_0, marks: Marks = PLAIN
) -> pl.DataFrame:
    """Draw means with their 95 % intervals at every `x`, side by side by `colour`, with letters above them,
    which are vertical if there are several colours. The Games-Howell test of all pairs at 5 % shows no
    difference of means that share a letter.

    If there is one `colour` and `x` are names, each name has its own colour.

    Returns the columns x, colour, runs, mean, low, high, letters. There are no letters if a group has a
    single run, or if two groups do not vary.
    """
    keys = ["x", "colour"]
    data = summarised(rows, keys, bounds)
    groups = [part["value"].to_list() for part in rows.partition_by(keys, maintain_order=True)]
    data = data.with_columns(letters=pl.Series(_letters(groups), dtype=pl.String))
    places = rows["x"].unique(maintain_order=True).to_list()
    parts, own = list(marks.parts(data)), looks_of_names(rows, marks)
    for number, (part, _, words, look) in enumerate(parts):
        at = [places.index(x) + apart(number, len(parts)) for x in part["x"]]
        axes.plot([], [], label=words, **_MARK, **look.point)
        looks_of = [own.get(str(x), look) for x in part["x"]]
        for n, (place, look) in enumerate(zip(at, looks_of, strict=True)):
            axes.plot(place, part["mean"][n], **_MARK, **look.point)
            interval_bars(axes, [place], part[n : n + 1], look.color)
        for place, high, letters in zip(at, part["high"], part["letters"], strict=True):
            axes.annotate(
                letters or "", (place, high), (0, 3), textcoords="offset points", ha="center",
                va="bottom", fontsize=SMALL, rotation=90 if len(parts) > 1 else 0,
            )  # fmt: skip
    axes.set_xticks(range(len(places)), [text(value, marks.x) for value in places])
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.margins(y=0.12)
    return data


def _letters(groups: Sequence[Sequence[float]]) -> list[str]:
    """The letters of every group; empty if the groups cannot be tested."""
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
    """Draw a box or a violin of the runs of every `x` and `colour`. Whiskers reach to the extremes. Up to
    five runs are drawn as points, with a line at their median. A violin has a bar at its median and, for up
    to 50 runs, a dot for each run instead of a whisker. With several colours, markers show the medians of
    boxes, and of violins without dots. Violins with dots have their density to the left, and the dots to the
    right.

    If there is one `colour` and `x` are names, each name has its own colour.

    Returns the columns x, colour, runs, minimum, q1, median, q3, maximum.
    """
    places = rows["x"].unique(maintain_order=True).to_list()
    parts = list(marks.parts(rows))
    width = _GROUP / len(parts)
    own = looks_of_names(rows, marks)
    draw = _violins if violins else _boxes
    for number, (part, _, words, look) in enumerate(parts):
        for (x,), group in part.group_by(["x"], maintain_order=True):
            its = own[str(x)] if own else look
            at = places.index(x) + (number - (len(parts) - 1) / 2) * width
            mark = _points if group.height <= FEW else draw
            mark(axes, group["value"].to_list(), at, 0.9 * width, its)
            if len(parts) > 1 and group.height > (POINTS_UP_TO if violins else FEW):
                axes.plot(at, median(group["value"].to_list()), zorder=_ABOVE, **_MARK, **look.point)
        axes.plot([], [], label=words, **_MARK, **look.point)
    axes.set_xticks(range(len(places)), [text(value, marks.x) for value in places])
    axes.set_xlim(-0.5, len(places) - 0.5)
    return rows.group_by("x", "colour", maintain_order=True).agg(
        runs=pl.len(),
        minimum=pl.col("value").min(),
        q1=pl.col("value").quantile(0.25, "linear"),
        median=pl.col("value").median(),
        q3=pl.col("value").quantile(0.75, "linear"),
        maximum=pl.col("value").max(),
    )


def _boxes(axes: Axes, values: Sequence[float], at: float, width: float, look: Look) -> None:
    colour, line = look.color, {"color": look.color}
    axes.boxplot(
        [values], positions=[at], widths=width, whis=(0, 100), patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.35}, medianprops={"color": "black"}, whiskerprops=line,
        capprops=line,
    )  # fmt: skip


def _points(axes: Axes, values: Sequence[float], at: float, width: float, look: Look) -> None:
    middle = median(values)
    axes.plot([at - width / 2, at + width / 2], [middle, middle], "-", color="black", linewidth=1)
    reach = _SPREAD * width / 2
    at_runs = _between(at - reach, at + reach, len(values))
    axes.plot(at_runs, values, zorder=_ABOVE, **_DOT, **look.point)


def _violins(axes: Axes, values: Sequence[float], at: float, width: float, look: Look) -> None:
    colour = look.color
    has_dots = len(values) <= POINTS_UP_TO
    if len(set(values)) > 1:
        side: Literal["low", "both"] = "low" if has_dots else "both"
        found = axes.violinplot(
            [values], [at], widths=width, showmedians=True, showextrema=not has_dots, side=side
        )
        middle = found.pop("cmedians")
        drawn: list[Any] = [*cast(Sequence[Any], found.pop("bodies")), *found.values()]
        for each in drawn:
            each.set_color(colour)
            each.set_linewidth(0.8)
        middle.set_color("black")
    if has_dots:
        first, last = (at + width * end for end in _OF_DOTS)
        axes.plot(_between(first, last, len(values)), values, ".", color=colour, markersize=2.5, zorder=3)


def _between(first: float, last: float, count: int) -> Any:
    """Return the positions of dots that do not hide each other. Equal arguments give equal positions."""
    return first + (last - first) * (np.arange(count) * 0.618 % 1)
