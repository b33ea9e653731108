"""A forest of differences: variants against their reference, with intervals and margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log10

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from fullpipe.plots.style import in_house_style, is_narrow, new_figure

_COLOURS = {"better": "#009E73", "higher": "#0072B2", "worse": "#D55E00", "lower": "#0072B2"}
_GREY = "#777777"
_INCHES_PER_ROW = 0.22
_HIDES = 20
"""Ratio of the largest difference to the median at which the axis is logarithmic."""


@in_house_style
def forest(rows: pl.DataFrame, units: Mapping[str, str], width: str = "page") -> tuple[Figure, pl.DataFrame]:
    """A panel per metric: the mean difference of every variant with its 95 % interval, and the margin shaded.

    Args:
        rows: The columns metric, label (of the variant, and of what is measured), difference, low, high (null
            where there is no interval), margin, all in the unit of the metric, and verdict.
        units: What an axis says of each metric, such as "goodput, %".
        width: One of `fullpipe.plots.style.WIDTHS`.

    Returns:
        The figure, and `rows`.
    """
    metrics = rows["metric"].unique(maintain_order=True).to_list()
    labels = rows["label"].unique(maintain_order=True).to_list()
    across = 1 if is_narrow(width) else min(len(metrics), 3)
    down, height = -(-len(metrics) // across), 0.7 + _INCHES_PER_ROW * len(labels)
    figure, places = new_figure(down, across, width=width, row_height=height, share_y=True)
    for place, metric in zip(places, metrics, strict=False):
        _panel(place, rows.filter(pl.col("metric") == metric), labels)
        place.set_xlabel(units[metric])
        _scale(place, rows.filter(pl.col("metric") == metric))
    for place in places[len(metrics) :]:
        place.set_axis_off()
    return figure, rows


def _scale(axes: Axes, rows: pl.DataFrame) -> None:
    """Make the axis logarithmic on both sides of a linear middle if a difference hides all others."""
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
        axes.set_xlabel(f"{axes.get_xlabel()} (log scale)")


def _panel(axes: Axes, rows: pl.DataFrame, labels: Sequence[str]) -> None:
    axes.grid(visible=False)
    axes.axvline(0, color="black", linewidth=0.6)
    for row in rows.iter_rows(named=True):
        y = len(labels) - 1 - labels.index(row["label"])
        colour = _COLOURS.get(row["verdict"], _GREY)
        axes.fill_betweenx([y - 0.4, y + 0.4], -row["margin"], row["margin"], color="0.9", linewidth=0)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y, y], "-", color=colour, linewidth=1.2)
        fill = "full" if row["verdict"] in _COLOURS else "none"
        axes.plot(row["difference"], y, "o", color=colour, markersize=4, fillstyle=fill)
    axes.set_yticks(range(len(labels)), list(reversed(labels)))
    axes.set_ylim(-0.6, len(labels) - 0.4)
