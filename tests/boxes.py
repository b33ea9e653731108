"""Texts of a figure by their boxes: which lie upon each other, and which are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

CUT = 1.0
"""Pixels of a text that may be beyond the edge of the figure: letters are smaller than their boxes."""


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts of which one lies upon the other."""
    return [(one, other) for (one, a), (other, b) in combinations(boxes(figure), 2) if a.overlaps(b)]


def cut_off(figure: Figure) -> list[str]:
    """Texts that are not whole within the figure."""
    edge = figure.bbox.padded(CUT)
    return [text for text, box in boxes(figure) if not (edge.contains(*box.min) and edge.contains(*box.max))]


def smallest(figure: Figure) -> float:
    """The size of the smallest letters that are drawn, in points."""
    shown = (text for text in _texts(figure) if text.get_visible() and text.get_text().strip())
    return min(float(text.get_fontsize()) for text in shown)


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is drawn, with its box."""
    figure.canvas.draw()
    shown = [text for text in _texts(figure) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in shown]


def _texts(figure: Figure) -> Iterator[Text]:
    legends: list[Legend] = [*figure.legends]
    for axes in figure.axes:
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                yield from (*_ticks(axis), axis.label)
        yield from (axes.title, *axes.texts)
        legends += [legend] if (legend := axes.get_legend()) else []
    for legend in legends:
        yield from (legend.get_title(), *legend.get_texts())
    yield from figure.texts


def _ticks(axis: Axis) -> Iterator[Text]:
    """The labels of the ticks within the ends of an axis: others are not drawn."""
    low, high = sorted(axis.get_view_interval())
    for place, tick in zip(axis.get_majorticklocs(), axis.get_major_ticks(), strict=True):
        if low <= place <= high and tick.label1.get_visible():
            yield tick.label1
