"""When data comes: the pauses between deliveries, of slots and of repetitions, and one of them."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.captured import delays
from fullpipe.analysis.over_time import Tables
from fullpipe.palette import COLOURS
from fullpipe.plots.style import in_house_style, new_figure

TOGETHER_S = 1e-6
"""Packets closer together come at once."""
SHOWN = 0.999
"""The share of pauses that is drawn: all but those of handovers."""
RARE = 0.99
"""Such a pause is shown by itself."""
BINS = 100


@in_house_style
def pauses(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Of the flow with most packets: how often its receiver waits how long for more; and what came around
    one of the longer waits, when a block was held up and others behind it.

    Returns:
        The figure, and its table: time_s (of a delivery), bytes (that came at once), pause_ms (before it).

    Raises:
        ValueError: If packets were not captured at both ends, or no flow has three deliveries.
    """
    found = deliveries(delays(tables["packets"]))
    waits = found["pause_ms"].drop_nulls().to_numpy()
    if len(waits) < 2:
        raise ValueError("no flow has three deliveries")
    figure, (often, around) = new_figure(1, 2, row_height=2.4)
    edge = max(float(np.quantile(waits, SHOWN)), float(np.median(waits)))
    often.hist(waits[waits <= edge], bins=BINS, color=COLOURS[0], log=True)
    often.set(xlabel="pause before a delivery (ms)", ylabel="deliveries")
    often.set_xlim(left=0)
    often.yaxis.set_major_formatter("{x:g}")  # an exponent has smaller letters
    at = _example(found, float(np.quantile(waits, RARE)))
    pause_s = found["pause_ms"][at] / 1e3
    begin_s, end_s = found["time_s"][at] - 3 * pause_s, found["time_s"][at] + 2 * pause_s
    rows = found.filter(pl.col("time_s").is_between(begin_s, end_s))
    came = rows["bytes"].cum_sum().to_numpy() / 1e3
    around.plot(rows["time_s"].to_numpy() * 1e3 - begin_s * 1e3, came, drawstyle="steps-post")
    around.set(xlabel=f"time after {begin_s:.3f} s (ms)", ylabel="delivered (kB)")
    around.set_ylim(bottom=0)
    return figure, found


def deliveries(found: pl.DataFrame) -> pl.DataFrame:
    """What came at once to the flow with most packets: time_s, bytes, pause_ms (null for the first)."""
    counts = found.group_by("flow", maintain_order=True).len()
    (flow,) = counts.filter(pl.col("len") == pl.col("len").max())["flow"].head(1)
    mine = found.filter(pl.col("flow") == flow).sort("arrived_s")
    begins = (pl.col("arrived_s").diff() >= TOGETHER_S).fill_null(value=True)
    numbered = mine.with_columns(delivery=begins.cum_sum())
    once = numbered.group_by("delivery", maintain_order=True).agg(
        time_s=pl.col("arrived_s").first(), bytes=pl.col("bytes").sum()
    )
    return once.drop("delivery").with_columns(pause_ms=pl.col("time_s").diff() * 1e3)


def _example(found: pl.DataFrame, at_least_ms: float) -> int:
    """The first such pause of the second half; if there is none, the last of all."""
    middle_s = (found["time_s"][0] + found["time_s"][-1]) / 2
    numbered = found.with_row_index().filter(pl.col("pause_ms") >= at_least_ms)
    late = numbered.filter(pl.col("time_s") > middle_s)
    return int(late["index"][0] if late.height else numbered["index"][-1])
