"""One-way delays: the share of packets that came within a time, and the share that took longer."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.captured import delays
from fullpipe.analysis.over_time import Tables
from fullpipe.plots.actors import flow_looks
from fullpipe.plots.style import in_house_style, legend_entries, new_figure, shared_legend


@in_house_style
def one_way(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """One-way delays of all data, a line per flow: on a linear axis what came, on a logarithmic one what
    did not yet, where every repetition of a cell is a bend.

    Returns:
        The figure, and its table: flow, delay_ms, share (of packets that took no longer).

    Raises:
        ValueError: If packets were not captured at both ends.
    """
    found = delays(tables["packets"])
    figure, (came, late) = new_figure(1, 2, row_height=2.4)
    frames = []
    styles = flow_looks(tables, [str(flow) for flow in found["flow"].unique(maintain_order=True)])
    for (flow,), rows in found.group_by("flow", maintain_order=True):
        name = str(flow)
        look = {"drawstyle": "steps-post", "label": name, **styles[name].line}
        ranked = rows["delay_s"].sort().to_numpy() * 1e3
        shares = np.arange(1, len(ranked) + 1) / len(ranked)
        came.plot(ranked, shares, **look)
        late.plot(ranked[:-1], 1 - shares[:-1], **look)
        frames.append(pl.DataFrame({"flow": [name] * len(ranked), "delay_ms": ranked, "share": shares}))
    came.set(xlabel="one-way delay (ms)", ylabel="share of packets", ylim=(0, 1.02))
    late.set(xlabel="one-way delay (ms)", ylabel="share that took longer", yscale="log")
    late.yaxis.set_major_formatter("{x:g}")  # an exponent has smaller letters
    for place in (came, late):
        place.set_xlim(left=0)
    shared_legend(figure, legend_entries(came))
    return figure, pl.concat(frames)
