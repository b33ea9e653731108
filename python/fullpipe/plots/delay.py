"""Throughput over delay: a mark per algorithm at the mean of runs, with an ellipse of their spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds
from fullpipe.plots.marks import PLAIN, Marks
from fullpipe.plots.style import REFERENCE, SMALL, in_house_style

_DEVIATIONS = 1.0
"""Half axes of an ellipse, in standard deviations of runs."""
_CORNERS = 180
"""Corners of the polygon that is drawn for an ellipse."""
_ROOM = 1.12
"""Room above the capacity for its name, as a ratio."""
_FAR_ABOVE = 3.0
"""Largest ratio of the capacity to the highest mark at which it is drawn."""
_ABOVE = 4
"""The layer of ellipses, above that of marks."""


@in_house_style
def throughput_and_delay(
    axes: Axes,
    rows: pl.DataFrame,
    bounds: Bounds = NO_LESS_THAN_0,
    x_bounds: Bounds = NO_LESS_THAN_0,
    marks: Marks = PLAIN,
) -> pl.DataFrame:
    """Throughput (`value`) over delay (`x`, a number): a point per `colour` at the mean over runs, and above
    it an ellipse of one standard deviation of both. The delay grows to the left: up and right is better.

    Ellipses are clipped at the bounds of both metrics, and at the capacity of the path (`most`), if rows have
    that column. Source: the figures of Winstein and Balakrishnan 2013, "TCP ex machina".

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
    axes.autoscale_view()
    axes.invert_xaxis()
    columns = ["colour", "runs", "value", "x", "value_deviation", "x_deviation", "correlation"]
    return pl.DataFrame(found, schema=columns, orient="row")


@in_house_style
def capacity_line(axes: Axes, rows: pl.DataFrame) -> None:
    """Draw the capacity of the path (`most`) with its name, if all rows of a panel have the same.

    Axes that do not reach there end where they do, so that the marks keep their room.
    """
    known = rows["most"].unique().to_list() if "most" in rows.columns else []
    bottom, top = axes.get_ylim()
    if len(known) != 1 or known[0] is None or known[0] > _FAR_ABOVE * top:
        return
    axes.axhline(known[0], **REFERENCE)
    axes.annotate(
        "capacity", (0.01, known[0]), (0, 1), xycoords=("axes fraction", "data"),
        textcoords="offset points", fontsize=SMALL, color="0.35", ha="left", va="bottom",
    )  # fmt: skip
    axes.set_ylim(bottom, max(top, _ROOM * known[0]))


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
