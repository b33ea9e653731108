"""Style of figures, and their files: formats, fonts, labels, reproducible SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import isfunction
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
import polars as pl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

from fullpipe import files
from fullpipe.palette import COLOURS, look_of

# The style of figures: readable in one column of a two-column page, in greyscale, and with colour vision
# deficiencies.


P = ParamSpec("P")
R = TypeVar("R")

SMALL = 7
"""Smallest font size in points; publishers refuse smaller letters."""
LABEL_SIZE = 8
"""Font size of axis labels in points."""
LINE_HEIGHT = 1.4
"""Height of a line of text, as a multiple of its font size."""
_LETTERS_BELOW = 17.5
"""Letters of a line below a figure, per inch of its width."""
_UNIT = re.compile(r"(?<=\d) (?=%)")
"""Space between a number and its unit in lines below a figure, which are not broken there."""
_UNBROKEN = "\N{NO-BREAK SPACE}"
_HANDLE, _BETWEEN = 3.0, 3.0
"""Length of a line sample in a legend, and room beside its label, in multiples of the font size."""
MANY_MARKS, MANY_POINTS = 250, 5000
"""Maximum number of marks, and maximum number of points of a line, that an SVG holds as vectors; more are
rasterised to save space."""
LEGEND_UP_TO = 4 * len(COLOURS)
"""Maximum number of lines whose looks a reader of the legend can distinguish."""
_LINES = [look_of("", number) for number in range(LEGEND_UP_TO)]

REFERENCE: Any = {"color": "0.45", "linestyle": (0, (4, 2)), "linewidth": 0.8}
"""Look of lines at known values, such as a capacity."""

HALO: Any = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
"""Background of words that lines may cross."""

WIDTHS = {
    "page": 7.2,
    "column": 3.5,
    "ieee-column": 3.5,
    "ieee-page": 7.16,
    "acm-column": 3.33,
    "acm-page": 7.0,
    "springer-column": 3.31,
    "springer-page": 6.85,
    "lncs": 4.8,
    "slide": 6.4,
}
"""Widths of figures in inches, by name. IEEE: 21 and 43 picas; ACM: acmart, sigconf; Springer: 84 and 174 mm;
LNCS: 122 mm. A slide shows a figure at twice its width, with letters of at least 14 points."""
_NARROW = 5.0
"""Least width, in inches, of a figure with axes side by side; a narrower figure stacks all axes."""
_asked: ContextVar[str | None] = ContextVar("width", default=None)
_Times = tuple[tuple[float, float] | None, float | None]
_times: ContextVar[_Times] = ContextVar("times", default=(None, None))

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": LABEL_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=[look.color for look in _LINES])
    + cycler(linestyle=[look.linestyle for look in _LINES]),
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "legend.handlelength": _HANDLE,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "figure.dpi": 150,
    "savefig.dpi": 200,
    # Equal data give equal files: matplotlib derives element IDs of an SVG from this salt.
    "svg.hashsalt": "fullpipe",
    "svg.fonttype": "path",
    # TrueType: IEEE and ACM refuse Type 3 fonts, which are the default of matplotlib.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "path.simplify": True,
}


def house_style() -> AbstractContextManager[None]:
    """Context in which matplotlib has the house style. Global settings do not change."""
    return mpl.rc_context(_STYLE)


def in_house_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorator that runs a drawing function in the house style, since artists take their style when they are
    made."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> R:
        with house_style():
            return draw(*args, **kwargs)

    return styled


class _Figure(Figure):
    """A figure that is written in half of the time of a matplotlib figure.

    Before matplotlib writes a figure, it draws the figure once to lay it out, with a renderer whose methods
    do nothing. This figure is then laid out without being drawn.
    """

    def draw(self, renderer: Any) -> None:
        """See matplotlib. In a renderer for layout, drawing methods are plain functions that do nothing."""
        layout = self.get_layout_engine()
        if layout is not None and isfunction(renderer.draw_path):
            layout.execute(self)
        else:
            super().draw(renderer)


@contextmanager
def as_wide_as(width: str | None) -> Iterator[None]:
    """Set the width of all figures made within the context to one of `WIDTHS`; None changes nothing."""
    token = _asked.set(width)
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def within_time(span_s: tuple[float, float] | None, window_s: float | None = None) -> Iterator[None]:
    """Set the time range of all figures over time made within the context, and the window of means of
    goodput; None changes nothing."""
    token = _times.set((span_s, window_s))
    try:
        yield
    finally:
        _times.reset(token)


def asked_window_s() -> float | None:
    """The window of means that `within_time` sets, s."""
    return _times.get()[1]


def time_ends(last_s: float) -> tuple[float, float]:
    """The ends of an axis of time in s, up to the last sample unless `within_time` sets them."""
    return _times.get()[0] or (0.0, last_s)


def within(rows: pl.DataFrame, time_s: str = "time_s") -> pl.DataFrame:
    """The rows in the time range that `within_time` sets; else all rows.

    Raises:
        ValueError: If no row is in the range.
    """
    span_s = _times.get()[0]
    if span_s is None or rows.is_empty():
        return rows
    found = rows.filter(pl.col(time_s).is_between(*span_s))
    if found.is_empty():
        raise ValueError(f"there are no samples from {span_s[0]:g} s to {span_s[1]:g} s; change --xlim")
    return found


def after_warmup(rows: pl.DataFrame, warmup_s: float, time_s: str = "time_s") -> tuple[pl.DataFrame, str]:
    """The rows in the time range that `within_time` sets; else the rows after the warm-up, with a line for
    `note_below`."""
    if _times.get()[0] is not None or not warmup_s:
        return within(rows, time_s), ""
    return rows.filter(pl.col(time_s) >= warmup_s), f"without the warm-up of {warmup_s:g} s"


def is_narrow(width: str = "page") -> bool:
    """Whether a figure of this width, or of the width set by `as_wide_as`, stacks its axes."""
    return WIDTHS[_asked.get() or width] < _NARROW


@in_house_style
def new_figure(
    rows: int = 1,
    columns: int = 1,
    *,
    width: str = "page",
    row_height: float = 2.2,
    share_y: bool | Literal["row"] = False,
    stacks: bool = True,
) -> tuple[Figure, list[Axes]]:
    """A figure in the house style and its axes, row by row. A narrow figure stacks all axes if `stacks`.

    Args:
        rows: Axes from top to bottom.
        columns: Axes side by side.
        width: One of `WIDTHS`; `as_wide_as` overrides it.
        row_height: Height of each row, in inches.
        share_y: Whether all axes, or the axes of each row, share a vertical axis.
        stacks: Whether a narrow figure has one column.
    """
    if stacks and is_narrow(width):
        rows, columns, share_y = rows * columns, 1, False if share_y == "row" else share_y
    figure = _Figure(figsize=(WIDTHS[_asked.get() or width], row_height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y)
    return figure, list(np.asarray(grid).ravel())


@in_house_style
def legend_columns(labels: Sequence[str], inches: float) -> int:
    """The number of columns of a legend, at least one."""
    extents = (TextPath((0, 0), label, size=SMALL).get_extents() for label in labels if label.strip())
    widest = max((extent.width for extent in extents), default=0)
    column = widest + (_HANDLE + _BETWEEN) * SMALL
    most = max(1, min(len(labels), int(72 * inches / column)))
    lines = max(1, -(-len(labels) // most))
    return max(1, -(-len(labels) // lines))


def figure_of(axes: Axes) -> Figure:
    """The figure that axes are part of."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def inches_across(axes: Axes) -> float:
    """The width of axes before the figure is laid out, in inches."""
    return float(axes.get_window_extent().width / figure_of(axes).dpi)


def legend_entries(place: Axes) -> dict[str, Any]:
    """Lines, bars and areas of an axis by their labels."""
    handles, labels = place.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


@in_house_style
def shared_legend(figure: Figure, entries: Mapping[str, Any], title: str = "", *, least: int = 2) -> None:
    """Draw one legend above all axes. Only the first `LEGEND_UP_TO` entries are shown.

    The figure grows by the height of the legend, so that the axes keep their height.

    Args:
        figure: The figure with all of its axes.
        entries: Artists by label.
        title: Title of the legend, such as the variable whose values are the labels.
        least: Least number of entries; a legend of fewer is not drawn.
    """
    if len(entries) < least:
        return
    if len(entries) > LEGEND_UP_TO:
        more = {f"and {len(entries) - LEGEND_UP_TO} more": Line2D([], [], linestyle="none")}
        entries = dict(islice(entries.items(), LEGEND_UP_TO)) | more
    columns = legend_columns(list(entries), figure.get_figwidth())
    lines = -(-len(entries) // columns) + bool(title)
    figure.set_figheight(figure.get_figheight() + (1.6 * lines + 1) * SMALL / 72)
    legend = figure.legend(
        list(entries.values()), list(entries), loc="outside upper center", ncols=columns, title=title or None
    )
    legend.get_title().set_fontsize(SMALL)


@in_house_style
def note_below(figure: Figure, lines: Sequence[str]) -> None:
    """Write small grey text below all axes, and below earlier text, wrapped at the width of the figure. Empty
    lines are left out. The figure grows by the height of the text."""
    letters = int(_LETTERS_BELOW * figure.get_figwidth())
    whole = (_UNIT.sub(_UNBROKEN, line) for line in lines)
    lines = [part for line in whole for part in wrap(line, letters, break_on_hyphens=False)]
    lines = [line.replace(_UNBROKEN, " ") for line in lines]
    if not lines:
        return
    figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(lines) * SMALL / 72)
    figure.supxlabel("\n".join(filter(None, [figure.get_supxlabel(), *lines])), fontsize=SMALL, color="0.4")


# Formulas between dollar signs in texts that users write into figures.


def check_formulas(texts: Iterable[str]) -> None:
    """Raise ValueError with a message of one line if a text has a formula that cannot be drawn."""
    for text in texts:
        if is_math_text(text):
            try:
                MathTextParser("path").parse(text)
            except ValueError as error:
                reason = (
                    str(error).strip().splitlines()[-1].rpartition("Exception: ")[2].partition("  (at")[0]
                )
                raise ValueError(
                    f'{text}: the text between "$" is no formula: {reason}; write \\$ for a dollar'
                ) from None


# Names below an axis, which are vertical if they would overlap.


_APART = 0.3
"""Least distance between two names, as a share of their height."""


def keep_apart(figure: Figure) -> None:
    """Turn the names below an axis vertical if two names would touch. The figure must be complete.

    The figure grows by the length of the names, so that the axes keep their height.
    """
    named = [axes for axes in figure.axes if isinstance(axes.xaxis.get_major_locator(), FixedLocator)]
    if not named:
        return
    boxes_of = _laid_out(figure, named, _boxes)
    longest: dict[int, float] = {}
    for axes in named:
        boxes = boxes_of[axes]
        if any(one.x1 + _APART * one.height > other.x0 for one, other in pairwise(boxes)):
            axes.tick_params(axis="x", labelrotation=90)
            place = axes.get_subplotspec()
            row = place.rowspan.start if place else 0
            longest[row] = max(longest.get(row, 0.0), *(box.width - box.height for box in boxes))
    figure.set_figheight(figure.get_figheight() + sum(longest.values()) / figure.dpi)


def _laid_out(figure: Figure, named: Sequence[Axes], measure: Callable[[Axes], R]) -> dict[Axes, R]:
    """Return a measure of axes in the figure as it is laid out. The axes are moved back to their positions,
    since the final layout depends on them."""
    places = [(axes, axes.get_position(original=True), axes.get_position()) for axes in figure.axes]
    figure.draw_without_rendering()
    found = {axes: measure(axes) for axes in named}
    for axes, original, active in places:
        axes.set_position(original, which="original")
        axes.set_position(active, which="active")
        axes.set_in_layout(True)  # set_position removes axes from the layout
    return found


def inches_laid_out(figure: Figure, named: Sequence[Axes]) -> list[float]:
    """The widths of axes in the figure as it is laid out, in inches."""
    return [*_laid_out(figure, named, inches_across).values()]


def _boxes(axes: Axes) -> list[Bbox]:
    """Bounding boxes of the shown names, from left to right."""
    shown = [label for label in axes.get_xticklabels() if label.get_visible() and label.get_text()]
    return sorted((label.get_window_extent() for label in shown), key=lambda box: box.x0)


# Smaller SVG files: invisible content is removed, such as the third and later decimals of coordinates, and
# unreferenced IDs.


_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_INDENT = re.compile(r"^ +", re.MULTILINE)
_PLACES = re.compile(r' (?:d|x|y)="[^"]*"|translate\([^)]*\)')
_FINE = re.compile(r"(\.\d\d)\d+")
_NAME = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r"#([\w.:-]+)")
_LONE = re.compile(r"<g>\n(<path [^>]*/>\n)</g>\n")
_ALIKE = re.compile(r'<path d="[^"]*"( [^>]*fill: none(?![^>]*opacity)[^>]*)/>\n(?:<path d="[^"]*"\1/>\n)+')
_DRAWN = re.compile(r' d="([^"]*)"')


def smaller(svg: str) -> str:
    """Shrink an SVG of matplotlib without a visible change. Coordinates are rounded to a hundredth of a
    point, and successive lines of the same look become one path. Comments, indents, unused IDs and groups of
    a single element are removed.

    >>> smaller('<g id="axes_1">\\n <!-- 20 -->\\n <path d="M 1.234567 2" style="fill: red"/>\\n</g>\\n')
    '<path d="M 1.23 2" style="fill: red"/>\\n'
    """
    svg = _INDENT.sub("", _COMMENT.sub("", svg))
    svg = _PLACES.sub(lambda place: _FINE.sub(r"\1", place[0]), svg)
    used = set(_REFERENCE.findall(svg))
    svg = _NAME.sub(lambda name: name[0] if name[1] in used else "", svg)
    return _ALIKE.sub(_as_one, _LONE.sub(r"\1", svg))


def _as_one(alike: re.Match[str]) -> str:
    """Return one path for several paths of the same look."""
    return f'<path d="{"".join(_DRAWN.findall(alike[0]))}"{alike[1]}/>\n'


# Saving of a figure: PNG for screens, SVG for print, and its numbers as CSV.


_DPI = 300
"""Dots per inch of PNG files, as journals ask for."""
_VARYING = {"png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}
"""Metadata that would differ between two equal figures: dates, and versions of matplotlib."""
FORMATS = tuple(_VARYING)
"""File extensions of the formats in which a figure can be written."""


def check_format(path: Path) -> None:
    """Raise ValueError if the ending of a file is not one of `FORMATS`."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise ValueError(f'"{path.name}" does not end in .{", .".join(FORMATS)}')


@in_house_style
def save_as(figure: Figure, data: pl.DataFrame | None, path: Path) -> list[Path]:
    """Write one file, in the format of its ending, and the numbers, if given, as CSV beside the file. A
    missing folder is created.

    Raises:
        ValueError: If the ending is not one of `FORMATS`.
        ResultError: If the file cannot be written.
    """
    check_format(path)
    files.make_folder(path.parent)
    keep_apart(figure)
    _draw(figure, path)
    return [path] if data is None else [path, _numbers(data, path)]


def is_file(out: Path) -> bool:
    """Whether the output path of a figure is a file, not a folder."""
    return out.suffix.removeprefix(".") in FORMATS


def write(figure: Figure, data: pl.DataFrame, out: Path, name: str) -> list[Path]:
    """Write a file as `save_as`, or PNG, SVG, PDF and CSV files into a folder, and return the paths."""
    return save_as(figure, data, out) if is_file(out) else save(figure, data, out, name, FORMATS)


@in_house_style
def save(
    figure: Figure, data: pl.DataFrame, folder: Path, name: str, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write `name`.png, `name`.svg and `name`.csv into the folder, or other `formats`, and return the paths.

    Equal figures give equal bytes: the files have no dates and no version of matplotlib.

    Raises:
        ValueError: If the name is empty or leads to another folder.
        ResultError: If the folder cannot be made, as when it is a file, or a file cannot be written.
    """
    if name in ("", ".", "..") or any(character in name for character in "/\\\0"):
        raise ValueError(f'"{name}" is not a valid name of a figure; give a name without a folder')
    files.make_folder(folder)
    keep_apart(figure)
    drawn = [folder / f"{name}.{suffix}" for suffix in formats]
    for path in drawn:
        _draw(figure, path)
    return [*drawn, _numbers(data, drawn[0])]


def _draw(figure: Figure, path: Path) -> None:
    format = path.suffix.removeprefix(".")
    drawn = BytesIO()
    sharp: dict[str, Any] = {"dpi": _DPI} if format == "png" else {}
    figure.savefig(drawn, format=format, metadata=dict.fromkeys(_VARYING[format]), **sharp)
    written = drawn.getvalue()
    files.write(path, smaller(written.decode()).encode() if format == "svg" else written)


def _numbers(data: pl.DataFrame, beside: Path) -> Path:
    return files.write_csv(beside.with_suffix(".csv"), data)
