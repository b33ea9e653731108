"""Names below an axis, upright where they would lie upon each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

_APART = 0.3
"""Between two names, of their height."""


def keep_apart(figure: Figure) -> None:
    """Set the names below an axis upright if one would touch the next; to be called of a complete figure.

    The figure grows by their length, so that the axes keep their height.
    """
    named = [axes for axes in figure.axes if isinstance(axes.xaxis.get_major_locator(), FixedLocator)]
    if not named:
        return
    boxes_of = _laid_out(figure, named)
    longest: dict[int, float] = {}
    for axes in named:
        boxes = boxes_of[axes]
        if any(one.x1 + _APART * one.height > other.x0 for one, other in pairwise(boxes)):
            axes.tick_params(axis="x", labelrotation=90)
            place = axes.get_subplotspec()
            row = place.rowspan.start if place else 0
            longest[row] = max(longest.get(row, 0.0), *(box.width - box.height for box in boxes))
    figure.set_figheight(figure.get_figheight() + sum(longest.values()) / figure.dpi)


def _laid_out(figure: Figure, named: Sequence[Axes]) -> Mapping[Axes, Sequence[Bbox]]:
    """Where the names are. Axes go back to where they were, as a layout depends on that."""
    places = [(axes, axes.get_position(original=True), axes.get_position()) for axes in figure.axes]
    figure.draw_without_rendering()
    found = {axes: _boxes(axes) for axes in named}
    for axes, original, active in places:
        axes.set_position(original, which="original")
        axes.set_position(active, which="active")
        axes.set_in_layout(True)  # which a position that is set takes away
    return found


def _boxes(axes: Axes) -> list[Bbox]:
    """Of the names that are shown, from left to right."""
    shown = [label for label in axes.get_xticklabels() if label.get_visible() and label.get_text()]
    return sorted((label.get_window_extent() for label in shown), key=lambda box: box.x0)
