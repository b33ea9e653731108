"""The longest time without a delivery, as in a handover: delays around it, and what was under way."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.captured import delays
from fullpipe.analysis.over_time import Tables
from fullpipe.plots.actors import flow_looks
from fullpipe.plots.pauses import deliveries
from fullpipe.plots.style import in_house_style, legend_entries, new_figure, shared_legend

BEFORE, AFTER = 2, 8
"""Time that is shown on either side of the pause, in lengths of the pause."""


@in_house_style
def handover(tables: Tables, at_s: float | None = None) -> tuple[Figure, pl.DataFrame]:
    """Around the longest pause of the flow with most packets, or the one at a time: of all flows the
    one-way delay by the time of sending, and the bytes that were sent and had not come.

    Returns:
        The figure, and its table: quantity, flow, time_s, value (ms; kB).

    Raises:
        ValueError: If packets were not captured at both ends, or none came at that time or later.
    """
    found = delays(tables["packets"])
    pauses = deliveries(found)
    if at_s is not None:
        pauses = pauses.filter(pl.col("time_s") >= at_s).head(1)
    if pauses.is_empty():
        raise ValueError(f"nothing came at {at_s:g} s or later; choose an earlier time")
    longest = pauses.sort("pause_ms", nulls_last=True, descending=True)
    pause_s, end_s = (longest["pause_ms"][0] or 0.0) / 1e3, longest["time_s"][0]
    window = (end_s - (1 + BEFORE) * pause_s, end_s + AFTER * pause_s)
    figure, (took, waiting) = new_figure(2, row_height=1.8)
    frames = []
    styles = flow_looks(tables, [str(flow) for flow in found["flow"].unique(maintain_order=True)])
    for (flow,), rows in found.group_by("flow", maintain_order=True):
        name, look = str(flow), styles[str(flow)]
        late = rows.sort("sent_s").filter(pl.col("sent_s").is_between(*window))
        sent_s, delay_ms = late["sent_s"], late["delay_s"] * 1e3
        point = {"markersize": 2.5, "linestyle": "none", "rasterized": True, **look.point}
        took.plot(sent_s.to_numpy(), delay_ms.to_numpy(), label=name, **point)
        frames.append(_rows("delay_ms", name, sent_s, delay_ms))
        times_s, under_way = on_the_way(rows)
        inside = (times_s >= window[0]) & (times_s <= window[1])
        inside_s, size_kb = times_s[inside], under_way[inside] / 1e3
        waiting.plot(inside_s, size_kb, drawstyle="steps-post", **look.line)
        frames.append(_rows("on_the_way_kb", name, pl.Series(inside_s), pl.Series(size_kb)))
    took.set(ylabel="one-way delay (ms)", ylim=(0, None))
    waiting.set(ylabel="on the way (kB)", xlabel="time (s)", ylim=(0, None))
    for place in (took, waiting):
        place.set_xlim(*window)
        pause = place.axvspan(end_s - pause_s, end_s, color="0.5", alpha=0.2, linewidth=0)
        place.label_outer()
    shared_legend(figure, {**legend_entries(took), "longest pause": pause})
    return figure, pl.concat(frames)


def on_the_way(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Times at which a packet left or came, and the bytes that were under way from then on, of what came."""
    times_s = np.concatenate([rows["sent_s"].to_numpy(), rows["arrived_s"].to_numpy()])
    sizes = rows["bytes"].to_numpy().astype(float)
    order = np.argsort(times_s, kind="stable")
    return times_s[order], np.cumsum(np.concatenate([sizes, -sizes])[order])


def _rows(quantity: str, flow: str, time_s: pl.Series, value: pl.Series) -> pl.DataFrame:
    size = len(time_s)
    return pl.DataFrame(
        {"quantity": [quantity] * size, "flow": [flow] * size, "time_s": time_s, "value": value}
    )
