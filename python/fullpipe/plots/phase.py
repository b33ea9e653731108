"""Delivery rate and RTT of a flow over its bytes in flight, as in the model of BBR."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fullpipe.analysis.over_time import Tables, samples
from fullpipe.plots.actors import flow_looks
from fullpipe.plots.style import MANY_POINTS, in_house_style, legend_entries, new_figure, shared_legend

OVER = ("delivery", "rtt")
"""Quantities that are drawn over what is in flight, a panel each."""
_ENTRY = ["run", "actor", "time_s"]


@in_house_style
def phase(tables: Tables, only: Sequence[str] | None = None) -> tuple[Figure, pl.DataFrame]:
    """The delivery rate and the smoothed RTT of flows over the bytes in flight, through time; a ring is the
    first sample. Until the path is full the rate grows; from then on the queue does, and the RTT.

    `only` keeps the flows of these names.

    Returns:
        The figure, and its table: quantity, flow, time_s, in_flight, value, in the units of the axes.

    Raises:
        ValueError: If there are no samples over time of data of these flows.
    """
    figure, axes = new_figure(1, len(OVER), row_height=2.6)
    in_flight, below = samples({"": tables}, "inflight", only)
    frames: list[pl.DataFrame] = []
    styles = flow_looks(tables, [str(flow) for flow in in_flight["actor"].unique(maintain_order=True)])
    for place, quantity in zip(axes, OVER, strict=True):
        values, beside = samples({"": tables}, quantity, only)
        both = in_flight.rename({"value": "in_flight"}).join(values, on=_ENTRY, maintain_order="left")
        both = both.drop_nulls(["in_flight", "value"])
        for (flow,), rows in both.group_by("actor", maintain_order=True):
            x, y = rows["in_flight"].to_numpy(), rows["value"].to_numpy()
            dense = rows.height > MANY_POINTS
            look = styles[str(flow)]
            place.plot(x, y, linewidth=0.6, label=str(flow), rasterized=dense, **look.line)
            place.plot(x[:1], y[:1], "o", fillstyle="none", markersize=4, color=look.color)
        place.set(xlabel=below, ylabel=beside, xlim=(0, None), ylim=(0, None))
        frames.append(both.select(pl.lit(quantity).alias("quantity"), pl.col("actor").alias("flow"), _rest()))
    if not any(frame.height for frame in frames):
        raise ValueError("no samples of data in flight; was the run recorded with an interval?")
    ring = Line2D([], [], marker="o", fillstyle="none", markersize=4, linestyle="none", color="0.3")
    shared_legend(figure, {**legend_entries(axes[0]), "first sample": ring})
    return figure, pl.concat(frames)


def _rest() -> pl.Expr:
    return pl.col("time_s", "in_flight", "value")
