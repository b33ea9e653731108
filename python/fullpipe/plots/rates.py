"""The goodput of two flows over each other, as in D. Chiu and R. Jain, "Analysis of the increase and
decrease algorithms for congestion avoidance in computer networks",
1989, doi:10.1016/0169-7552(89)90019-6, figure 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import Tables, samples
from fullpipe.palette import COLOURS
from fullpipe.plots.style import MANY_POINTS, in_house_style, new_figure, shared_legend

GREY = "#777777"


@in_house_style
def rates(tables: Tables, only: Sequence[str] | None = None) -> tuple[Figure, pl.DataFrame]:
    """The way of two flows through time, from a ring to a dot: on one grey line both have the same, on the
    other, dashed, they have together what they had in the mean of the last half.

    Args:
        tables: Tables of a run with samples over time.
        only: Names of two flows; left out, the run has two.

    Returns:
        The figure, and its table: time_s, and a column of Mbit/s for each flow.

    Raises:
        ValueError: If there are no samples, or not two flows.
    """
    found, _ = samples({"": tables}, "goodput", only)
    found = found.drop_nulls("value")
    flows = found["actor"].unique(maintain_order=True).to_list()
    if len(flows) != 2:
        raise ValueError(f"rates is of two flows; choose two of {len(flows)} with --flow")
    data = found.pivot("actor", index="time_s", values="value").drop_nulls()
    x, y = (data[flow].to_numpy() for flow in flows)
    figure, (place,) = new_figure(width="column", row_height=3.3)
    place.plot(x, y, linewidth=0.8, color=COLOURS[0], rasterized=data.height > MANY_POINTS)
    entries: dict[str, object] = {}
    for name, at, mark in (("start", 0, "none"), ("end", -1, "full")):
        (entries[name],) = place.plot(
            x[at], y[at], "o", fillstyle=mark, markersize=5, color=COLOURS[0], clip_on=False
        )
    together = float(np.mean((x + y)[data.height // 2 :]))
    most = 1.05 * max(together, float(x.max()), float(y.max()))
    (entries["equal goodput"],) = place.plot([0, most], [0, most], color=GREY, linewidth=0.6)
    (entries[f"{together:.3g} Mbit/s together"],) = place.plot(
        [0, together], [together, 0], color=GREY, linestyle="--", linewidth=0.6
    )
    place.set(xlabel=f"goodput of {flows[0]} (Mbit/s)", ylabel=f"goodput of {flows[1]} (Mbit/s)")
    place.set(xlim=(0, most), ylim=(0, most), aspect="equal")
    shared_legend(figure, entries)
    return figure, data
