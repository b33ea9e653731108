"""The figure of the agreement page: the distribution of errors."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from fullpipe import plots
from fullpipe.validation.agree.page import with_chance
from fullpipe.validation.agree.suite import Found


def figure(found: Found) -> tuple[Figure, pl.DataFrame]:
    """The share of errors up to a size, a line per engine and one of chance, axes per quantity.

    Crosses are the median and the 95th percentile that are aimed at.

    Returns:
        The figure, and the table of what it shows: quantity, group, value in percent, share.

    Raises:
        ValueError: If there are no errors.
    """
    if found.errors.is_empty():
        raise ValueError("no errors; there was nothing to compare")
    errors = with_chance(found.errors, found.engines[0]).drop_nulls("error")
    made, axes = plots.new_figure(1, len(found.suite.quantities), row_height=2.0, share_y=True)
    shown = []
    for place, quantity in zip(axes, found.suite.quantities, strict=True):
        own = errors.filter(quantity=quantity.metric)
        groups = {
            str(name): (100 * rows["error"].abs()).to_list()
            for (name,), rows in own.group_by("engine", maintain_order=True)
        }
        drawn = plots.cumulative(place, groups, label=f"error of {quantity.title} (%)")
        place.plot([100 * quantity.median, 100 * quantity.p95], [0.5, 0.95], "x", color="black", label="_aim")
        shown.append(drawn.insert_column(0, pl.lit(quantity.metric).alias("quantity")))
    axes[0].set_ylabel("share of values")
    plots.shared_legend(made, {str(line.get_label()): line for line in axes[0].lines[:-1]})
    return made, pl.concat(shown)
