"""The style of figures: readable in two columns of a page, in grey, and with colour vision deficiencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import isfunction
from itertools import islice
from typing import Any, Literal, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from fullpipe.palette import COLOURS, look_of

P = ParamSpec("P")
R = TypeVar("R")

SMALL = 7
"""Size of the smallest letters, in points: publishers refuse smaller ones."""
_HANDLE, _BETWEEN = 3.0, 3.0
"""Length of a line in a legend, and room beside its label, in sizes of its letters."""
MANY_MARKS, MANY_POINTS = 250, 5000
"""More marks, or points of a line, are a picture within an SVG, which would be megabytes otherwise."""
LEGEND_UP_TO = 4 * len(COLOURS)
"""More lines cannot be told apart."""
_LINES = [look_of("", number) for number in range(LEGEND_UP_TO)]

REFERENCE: Any = {"color": "0.45", "linestyle": (0, (4, 2)), "linewidth": 0.8}
"""Lines of what is known beforehand, such as a capacity."""

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
}
"""Inches by name. IEEE: 21 and 43 picas; ACM: acmart, sigconf; Springer: 84 and 174 mm; LNCS: 122 mm."""
_NARROW = 5.0
"""Inches; in a narrower figure all axes are below each other."""
_asked: ContextVar[str | None] = ContextVar("width", default=None)

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
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
    # The same data give the same file: element names of an SVG come from this salt, not from the clock.
    "svg.hashsalt": "fullpipe",
    "svg.fonttype": "path",
    # TrueType: IEEE and ACM refuse Type 3 fonts, which are the library's own choice.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "path.simplify": True,
}


def house_style() -> AbstractContextManager[None]:
    """The style, for as long as the context lasts; nothing global changes."""
    return mpl.rc_context(_STYLE)


def in_house_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorates a drawing function: artists take their style when they are made."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> R:
        with house_style():
            return draw(*args, **kwargs)

    return styled


class _Figure(Figure):
    """A figure that takes half of the time to be written.

    Before matplotlib writes a figure, it draws the figure once to lay it out, with a renderer whose methods
    do nothing. This figure is then laid out without being drawn.
    """

    def draw(self, renderer: Any) -> None:
        """See matplotlib. A method of a renderer belongs to it; one that does nothing is a plain function."""
        layout = self.get_layout_engine()
        if layout is not None and isfunction(renderer.draw_path):
            layout.execute(self)
        else:
            super().draw(renderer)


@contextmanager
def as_wide_as(width: str | None) -> Iterator[None]:
    """Figures that are made meanwhile have this width of `WIDTHS`, whatever they would have; None: theirs."""
    token = _asked.set(width)
    try:
        yield
    finally:
        _asked.reset(token)


def is_narrow(width: str = "page") -> bool:
    """Whether a figure of this width, or of the one that is asked for, has its axes below each other."""
    return WIDTHS[_asked.get() or width] < _NARROW


@in_house_style
def new_figure(
    rows: int = 1,
    columns: int = 1,
    *,
    width: str = "page",
    row_height: float = 2.2,
    share_y: bool | Literal["row"] = False,
) -> tuple[Figure, list[Axes]]:
    """A figure in the house style and its axes, row by row. In a narrow figure all are below each other.

    Args:
        rows: Axes from top to bottom.
        columns: Axes side by side.
        width: One of `WIDTHS`, unless another is asked for by `as_wide_as`.
        row_height: Height of each row, in inches.
        share_y: Whether all axes, or those of a row, have one vertical axis.
    """
    if is_narrow(width):
        rows, columns, share_y = rows * columns, 1, False if share_y == "row" else share_y
    figure = _Figure(figsize=(WIDTHS[_asked.get() or width], row_height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_y)
    return figure, list(np.asarray(grid).ravel())


@in_house_style
def legend_columns(labels: Sequence[str], inches: float) -> int:
    """The number of labels of a legend that are side by side in full lines; at least one."""
    widest = max((TextPath((0, 0), label, size=SMALL).get_extents().width for label in labels), default=0)
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


@in_house_style
def legend_entries(place: Axes) -> dict[str, Any]:
    """Lines, bars and areas of an axis by their labels."""
    handles, labels = place.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def shared_legend(figure: Figure, entries: Mapping[str, Any], title: str = "") -> None:
    """One legend above all axes, from labels to what they stand for; of very many, the first.

    The figure grows by the height of the legend, so that the axes keep theirs.

    Args:
        figure: With all of its axes.
        entries: What each label stands for.
        title: What the labels are values of.
    """
    if len(entries) < 2:
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
