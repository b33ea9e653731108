"""Charts of metrics over a sweep, their marks, and the labels of their grids."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, to_rgba
from matplotlib.transforms import ScaledTranslation

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.analysis.over_seeds import means
from fullpipe.palette import Look, look_of, looks
from fullpipe.plots.style import REFERENCE, SMALL, figure_of, in_house_style, inches_across

# Looks (colour, line style, marker) and labels of values in figures over many runs. A value has the same look
# in every panel.


_NOTHING: Mapping[str, Any] = {}


class Marks(NamedTuple):
    """Looks and labels of values. A value without a label is shown unchanged."""

    looks: Mapping[str, Look] = _NOTHING
    """The look of every value of `colour`, in the order of the legend."""
    colours: Mapping[str, str] = _NOTHING
    """Labels of values of `colour`."""
    x: Mapping[str, str] = _NOTHING
    """Labels of values along x."""
    y: Mapping[str, str] = _NOTHING

    def look(self, value: str, number: int) -> Look:
        """The look of a value of `colour`; `number` is its index in the panel."""
        return self.looks.get(value) or look_of(value, number)

    def parts(self, rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, str, str, Look]]:
        """For every value of `colour`: its rows, the value, its label, and its look."""
        for number, part in enumerate(rows.partition_by("colour", maintain_order=True)):
            value = str(part["colour"][0])
            yield part, value, self.colours.get(value, value), self.look(value, number)


PLAIN = Marks()
"""Marks without labels and looks."""


def text(value: Any, words: Mapping[str, str] = _NOTHING) -> str:
    """The label of a value along an axis."""
    plain = f"{value:g}" if isinstance(value, float) else str(value)
    return words.get(plain, plain)


def places_along(axes: Axes, values: pl.Series, words: Mapping[str, str] = _NOTHING) -> dict[Any, float]:
    """The position of every value along an axis: numbers at their value, other values one after the other."""
    distinct = values.unique(maintain_order=True).to_list()
    if values.dtype.is_numeric():
        return {value: float(value) for value in distinct}
    axes.set_xticks(range(len(distinct)), [text(value, words) for value in distinct])
    return {value: float(place) for place, value in enumerate(distinct)}


# Figures over many runs: lines with bands, and heat maps.
#
# Every function takes one table with a row per run: the run's `value`, and its variables as `x`, `y` and
# `colour`. The argument `marks` has the labels of the variables. Every function returns the table of the
# drawn values.


_APART, _ROOM = 0.15, 0.7
"""Points of several colours at one name of the axis: distance between neighbours, and maximum distance
between the first and the last, as shares of the distance between names."""
_BESIDE = 2.5
"""Distance of points of several colours at one number, in typographic points."""
_FEW = 4
"""Maximum count of numeric positions along an axis at which intervals are bars instead of bands."""
BANDS_UP_TO = 3
"""Maximum number of bands of a panel that can be told apart where they overlap."""
_DENSE, _OUTLINE = 0.18, 0.6
"""Opacity of a band and of its outline."""
_BELOW_DATA = 1.5
"""Layer of reference lines: behind the data."""
_HALF = 0.4
"""Half of the length of a reference line at a name of the axis."""
_MOST_UNCERTAIN = 100
"""Upper bound of the half width of an interval, in units of the last decimal of a cell."""
_MUCH = 100
_WIDE, _SMALLER = 0.68, 5
"""Width of a digit, including its part of the space around a number, as a share of the font size; and the
font size in narrow cells, in points."""
_DARK = 0.5
"""Luma of a cell's colour (ITU-R BT.601) below which the number in the cell is white."""


@in_house_style
def lines_with_bands(
    axes: Axes,
    rows: pl.DataFrame,
    bounds: Bounds = NO_LESS_THAN_0,
    marks: Marks = PLAIN,
    *,
    bars: bool = False,
) -> pl.DataFrame:
    """Draw means over runs along `x`, a line per `colour`, with 95 % intervals as bands or bars.

    Bars are drawn in four cases: on request, if `x` has at most four numbers, for four lines or more if there
    is room, and if `x` are names, as lines connect only numbers. Bars of several colours are side by side.
    Intervals are truncated at the bounds.

    Returns the columns colour, x, runs, mean, low, high.
    """
    data = summarised(rows, ["colour", "x"], bounds)
    places, is_number = places_along(axes, data["x"], marks.x), data["x"].dtype.is_numeric()
    parts, own = list(marks.parts(data)), looks_of_names(data, marks)
    has_bars = bars or not is_number or _suit_bars(axes, len(places), len(parts))
    for number, (part, _, words, look) in enumerate(parts):
        shift = 0 if is_number else apart(number, len(parts))
        x = [places[value] + shift for value in part["x"]]
        if own:
            _points_of_names(axes, x, part, own)
            continue
        style = look.point | (look.line if is_number else {"linestyle": "none"})
        line = axes.plot(x, part["mean"], label=words, markersize=4, **style)
        if not has_bars:
            axes.fill_between(x, part["low"], part["high"], **band(look, _DENSE))
            continue
        bars_of = interval_bars(axes, x, part, look.color)
        if is_number:
            _move(axes, [*line, *bars_of], _BESIDE * (number - (len(parts) - 1) / 2))
    if not is_number:
        axes.set_xlim(-0.5, len(places) - 0.5)
    return data


def band(look: Look, opacity: float) -> dict[str, Any]:
    """The look of a confidence band: its outline has the dashes of its line, and shows in grey print, too."""
    return {
        "facecolor": to_rgba(look.color, opacity),
        "edgecolor": to_rgba(look.color, _OUTLINE),
        "linestyle": look.linestyle,
        "linewidth": 0.5,
    }


def looks_of_names(rows: pl.DataFrame, marks: Marks) -> dict[str, Look]:
    """Return the look of every name along x, such as an algorithm; empty if colours have another meaning, or
    all rows have the look of one algorithm."""
    if rows["x"].dtype.is_numeric() or rows["colour"].unique().to_list() != [""] or "" in marks.looks:
        return {}
    return looks([str(name) for name in rows["x"].unique(maintain_order=True)])


def _points_of_names(axes: Axes, at: Sequence[float], data: pl.DataFrame, own: Mapping[str, Look]) -> None:
    """Draw the mean and the interval of every name in the look of the name."""
    for n, place in enumerate(at):
        look = own[str(data["x"][n])]
        axes.plot(place, data["mean"][n], markersize=4, linestyle="none", **look.point)
        interval_bars(axes, [place], data[n : n + 1], look.color)


def interval_bars(axes: Axes, at: Sequence[float], data: pl.DataFrame, colour: str) -> Sequence[Artist]:
    """Draw bars with caps from `low` to `high` around `mean`, and return their artists."""
    mean = data["mean"].to_numpy()
    lengths = np.stack([mean - data["low"].to_numpy(), data["high"].to_numpy() - mean]).clip(0)
    drawn = axes.errorbar(at, mean, lengths, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
    return [*drawn[1], *drawn[2]]


def _suit_bars(axes: Axes, places: int, lines: int) -> bool:
    """Whether bars are clearer than bands: bands between few positions look like curves, and many bands
    overlap."""
    have_room = places * lines * 2 * _BESIDE <= 72 * inches_across(axes)
    return places <= _FEW or (lines > BANDS_UP_TO and have_room)


def _move(axes: Axes, artists: Sequence[Artist], points: float) -> None:
    """Shift artists to the right by typographic points, without a change of data or axis limits."""
    moved = axes.transData + ScaledTranslation(points / 72, 0, figure_of(axes).dpi_scale_trans)
    for artist in artists:
        artist.set_transform(moved)


def apart(number: int, count: int) -> float:
    """Return the offset of the mark of one of `count` colours from the position of its name on the axis."""
    return min(_APART, _ROOM / count) * (number - (count - 1) / 2)


@in_house_style
def fair_share_line(
    axes: Axes, rows: pl.DataFrame, *, are_names: bool, is_upright: bool, label: bool
) -> None:
    """Draw the fair share of the rows (`fair`) as a reference line, with its label outside of the axes, or in
    the legend if the line is upright.

    Nothing is drawn if the fair share is unknown, or differs between the values of `colour` at one `x`.

    Args:
        axes: Axes on which the values of the rows are drawn.
        rows: A row per run, with the columns `x` and `fair`.
        are_names: Whether the values of `x` are side by side, as names are.
        is_upright: Whether shares are along the horizontal axis.
        label: Whether the line has a label.
    """
    known = rows.select("x", "fair").unique(maintain_order=True) if "fair" in rows.columns else rows.clear()
    if known.is_empty() or known["fair"].has_nulls():
        return
    shares, look = known["fair"].to_list(), REFERENCE | {"zorder": _BELOW_DATA}
    if len(set(shares)) == 1:
        look |= {"label": "fair share"} if is_upright else {}
        (axes.axvline if is_upright else axes.axhline)(shares[0], **look)
    elif is_upright or known["x"].is_duplicated().any():
        return
    elif are_names:
        for at, share in enumerate(shares):
            axes.plot([at - _HALF, at + _HALF], [share, share], **look)
    else:
        axes.plot(known["x"].to_numpy(), known["fair"].to_numpy(), **look)
    if label and not is_upright:
        axes.annotate(
            "fair\nshare", (1, shares[-1]), (3, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=SMALL, color="0.35", va="center", ha="left",
        )  # fmt: skip


@in_house_style
def heat_map(
    axes: Axes,
    rows: pl.DataFrame,
    between: tuple[float, float] | None = None,
    neutral: float | None = None,
    bounds: Bounds = NO_LESS_THAN_0,
    marks: Marks = PLAIN,
    decimals: Callable[[float, float], int] | None = None,
) -> tuple[pl.DataFrame, Any]:
    """Draw the mean over runs as the colour of a cell, with the number in the cell. `x` and `y` keep the
    order of the rows. If `y` are names, the first name is at the top.

    Colours go from the least to the largest mean, or between two values that several maps share. The scale is
    logarithmic if positive means span more than a factor of 100. A neutral value is white, larger values are
    blue, smaller values are red, and the scale extends equally far below and above the neutral value. All
    numbers have the same number of decimals. `decimals` computes this number from the ends of the scale; the
    default is three significant digits of the largest mean. Decimals are left out if they are smaller than a
    hundredth of an interval, or if the numbers would not fit into the cells.

    Returns the columns y, x, runs, mean, low and high (truncated at the bounds), and the image for a colour
    bar.
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
    axes.set_xticks(range(len(columns)), [text(value, marks.x) for value in columns])
    axes.set_yticks(range(len(lines)), [text(value, marks.y) for value in lines])
    if not data["y"].dtype.is_numeric():
        axes.invert_yaxis()
    digits = decimals(low, high) if decimals else max(0, 2 - _magnitude(max(abs(low), abs(high))))
    digits = _certain(data, digits)
    room = inches_across(axes) / len(columns)
    texts, size = _fitting(grid[np.isfinite(grid)], digits, room)
    shown = iter(texts)
    for (line, column), value in np.ndenumerate(grid):
        if not math.isnan(value) and grid.size <= 400:
            red, green, blue, _ = drawn.to_rgba(value)
            colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else "black"
            axes.text(column, line, next(shown), ha="center", va="center", fontsize=size, color=colour)
    return data, drawn


def _certain(data: pl.DataFrame, digits: int) -> int:
    """At most `digits` decimals: so few that the half width of every interval has at most two digits, but so
    many that no mean except 0 looks like 0."""
    widest = max(((data["high"] - data["low"]) / 2).to_list())
    means = [abs(mean) for mean in data["mean"].to_list() if mean]
    while digits > 0 and widest * 10**digits >= _MOST_UNCERTAIN and all(round(m, digits - 1) for m in means):
        digits -= 1
    return digits


def _colours(low: float, high: float, neutral: float | None) -> tuple[Normalize, str]:
    """The scale from values to colours, and the name of the map."""
    if neutral is not None:
        reach = max(high - neutral, neutral - low) or 1.0
        return Normalize(neutral - reach, neutral + reach), "RdBu"
    if spans_much(pl.Series([low, high])):
        return LogNorm(low, high), "viridis"
    return Normalize(low, high), "viridis"


def spans_much(values: pl.Series) -> bool:
    """Whether positive values span more than a factor of 100, so that small values would look equal on a
    linear scale."""
    known = values.drop_nulls().to_list()
    return bool(known) and min(known) > 0 and max(known) > _MUCH * min(known)


def summarised(rows: pl.DataFrame, by: Sequence[str], bounds: Bounds = NO_LESS_THAN_0) -> pl.DataFrame:
    """Means over runs with Student's 95 % interval, truncated at the bounds of the metric. With a single run,
    both ends are the mean."""
    low, high = (pl.col(end).fill_null(pl.col("mean")).clip(*bounds) for end in ("low", "high"))
    return (
        means(rows, by)
        .select(*by, "mean", low, high, runs=pl.col("n"))
        .select(*by, "runs", "mean", "low", "high")
    )


def _magnitude(value: float) -> int:
    """The power of ten of the first digit; 0 for 0."""
    return math.floor(math.log10(value)) if value else 0


def _fitting(values: Sequence[float], digits: int, inches: float) -> tuple[list[str], int]:
    """Return the numbers of cells with at most `digits` decimals, and a font size at which the numbers
    fit."""
    sizes = [(digits, SMALL), (max(digits - 1, 0), SMALL)]
    tries = [*sizes, *((places, size) for places in range(digits, -1, -1) for size in (SMALL, _SMALLER))]
    for places, size in tries:
        texts = [f"{value:.{places}f}" for value in values]
        if max(map(len, texts), default=0) * _WIDE * size <= 72 * inches:
            break
    return texts, size


# One label for an axis that several panels share.


_BETWEEN_COLUMNS = 0.02
"""Half of the gap between two panels side by side, as a share of the width of a panel."""
_BETWEEN_ROWS = 0.1
"""Half of the gap between two panels one above the other, as a share of the height of a panel."""


def label_once(places: Sequence[Axes]) -> None:
    """Keep equal labels of the panels of a grid once: below the lowest panels, and beside the first panels.

    A label is at the middle of its panels. If all panels of a column have the same ticks along x, only the
    lowest panel has their numbers. Labels that differ, such as those of a linear and of a logarithmic axis,
    are all kept.
    """
    columns: dict[int, list[Axes]] = {}
    lowest_rows: dict[int, list[Axes]] = {}
    for place in places:
        columns.setdefault(_spans(place)[1], []).append(place)
    for column in columns.values():
        *upper, lowest = sorted(column, key=lambda place: _spans(place)[0])
        lowest_rows.setdefault(_spans(lowest)[0], []).append(lowest)
        if all(place.get_xlabel() == lowest.get_xlabel() for place in upper):
            for place in upper:
                place.set_xlabel("")
        if all(_ticks(place) == _ticks(lowest) for place in upper):
            for place in upper:
                place.tick_params(axis="x", labelbottom=False)
    for row in lowest_rows.values():
        _label_middle(row, "x", 1 + _BETWEEN_COLUMNS)
    _label_middle(sorted(columns[min(columns)], key=lambda place: _spans(place)[0]), "y", -_BETWEEN_ROWS)


def column_of(place: Axes) -> int:
    """The column of axes in their grid."""
    return _spans(place)[1]


def _spans(place: Axes) -> tuple[int, int]:
    """The row and the column of axes in their grid."""
    spec = place.get_subplotspec()
    assert spec is not None
    return spec.rowspan.start, spec.colspan.start


def _ticks(place: Axes) -> tuple[object, ...]:
    """Everything that determines the ticks along x."""
    names = [text.get_text() for text in place.get_xticklabels()]
    return place.get_xscale(), place.get_xlim(), [*place.get_xticks()], names


def _label_middle(line: Sequence[Axes], axis: Literal["x", "y"], end: float) -> None:
    """Keep the label of successive axes at their middle, if all have the same label.

    With an even number of axes, the middle is between two axes. For "x" the label is then at the end of the
    axes before the middle, for "y" at the end of the axes after the middle.
    """
    labels = [place.xaxis.label if axis == "x" else place.yaxis.label for place in line]
    if len({label.get_text() for label in labels}) > 1 or not labels[0].get_text():
        return
    is_even = len(line) % 2 == 0
    at = len(line) // 2 - (is_even and axis == "x")
    for label in labels[:at] + labels[at + 1 :]:
        label.set_text("")
    if is_even and axis == "x":
        labels[at].set_x(end)
    elif is_even:
        labels[at].set_y(1 - end)
