"""A forest of differences: variants against their reference, with intervals and margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.plots.style import in_house_style, is_narrow, new_figure

_COLOURS = {"better": "#009E73", "higher": "#0072B2", "worse": "#D55E00", "lower": "#0072B2"}
_GREY = "#777777"
_INCHES_PER_ROW = 0.22


@in_house_style
def forest(rows: pl.DataFrame, units: Mapping[str, str], width: str = "page") -> tuple[Figure, pl.DataFrame]:
    """A panel per metric: the mean difference of every variant with its 95 % interval, and the margin shaded.

    Args:
        rows: The columns metric, label (of the variant, and of what is measured), difference, low, high (null
            where there is no interval), margin, all in the unit of the metric, and verdict.
        units: What an axis says of each metric, such as "goodput, %".
        width: Of the figure.

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
    for place in places[len(metrics) :]:
        place.set_axis_off()
    return figure, rows


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
