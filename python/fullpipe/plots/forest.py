"""A forest of differences: variants against their reference, with intervals and margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import ceil, log10
from textwrap import fill
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from fullpipe.palette import COLOURS
from fullpipe.plots.style import in_house_style, is_narrow, new_figure, shared_legend

_VERDICTS: Mapping[str, Any] = {
    "better": {"color": COLOURS[2], "marker": "P"},
    "worse": {"color": COLOURS[1], "marker": "X"},
    "higher": {"color": COLOURS[0], "marker": "^"},
    "lower": {"color": COLOURS[0], "marker": "v"},
}
"""Looks of verdicts, which are told apart in grey by their markers."""
_OTHER: Any = {"color": "#777777", "marker": "o", "fillstyle": "none"}
_SIZE = 5
"""Of markers, in points: their shapes tell verdicts apart."""
_MARGIN: Any = {"color": "0.9", "linewidth": 0}
_INCHES_PER_ROW, _INCHES_OF_AXIS = 0.22, 0.7
_LETTERS = 11
"""Letters of the label of an axis, per inch of its panel and of the names beside it."""
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
    own = {
        str(part["metric"][0]): part["label"].unique(maintain_order=True).to_list()
        for part in rows.partition_by("metric", maintain_order=True)
    }
    metrics = sorted(own, key=lambda metric: -len(own[metric]))
    across = 1 if is_narrow(width) else min(len(metrics), 3)
    lines = [metrics[start : start + across] for start in range(0, len(metrics), across)]
    labels = [list(dict.fromkeys(chain.from_iterable(own[metric] for metric in line))) for line in lines]
    heights = [_INCHES_OF_AXIS + _INCHES_PER_ROW * len(each) for each in labels]
    height = sum(heights) / len(lines)
    figure, places = new_figure(len(lines), across, width=width, row_height=height, share_y="row")
    grid = places[0].get_gridspec()
    assert grid is not None
    grid.set_height_ratios(heights)
    letters = int(_LETTERS * figure.get_figwidth() / across)
    for number, (place, metric) in enumerate(zip(places, metrics, strict=False)):
        of_metric = rows.filter(pl.col("metric") == metric)
        _panel(place, of_metric, labels[number // across])
        place.set_xlabel(units[metric])
        _scale(place, of_metric)
        place.set_xlabel(fill(place.get_xlabel(), letters))
    for place in places[len(metrics) :]:
        place.set_axis_off()
    shared_legend(figure, _entries(rows))
    return figure, rows


def _entries(rows: pl.DataFrame) -> dict[str, Any]:
    """The verdicts and the margin, as far as they are drawn."""
    verdicts = rows["verdict"].unique(maintain_order=True).to_list()
    found = {verdict: look for verdict, look in _VERDICTS.items() if verdict in verdicts}
    others = [verdict for verdict in verdicts if verdict not in _VERDICTS]
    if any(others):
        found |= {" or ".join(filter(None, others)): _OTHER}
    entries: dict[str, Any] = {
        words: Line2D([], [], linestyle="none", markersize=_SIZE, **look) for words, look in found.items()
    }
    return entries | ({"margin": Patch(**_MARGIN)} if rows["margin"].cast(pl.Float64).max() else {})


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
        look = _VERDICTS.get(row["verdict"], _OTHER)
        axes.fill_betweenx([y - 0.4, y + 0.4], -row["margin"], row["margin"], **_MARGIN)
        if row["low"] is not None:
            axes.plot([row["low"], row["high"]], [y, y], "-", color=look["color"], linewidth=1.2)
        axes.plot(row["difference"], y, linestyle="none", markersize=_SIZE, **look)
    axes.set_yticks(range(len(labels)), list(reversed(labels)))
    axes.set_ylim(-0.6, len(labels) - 0.4)
