"""ACKs as they come back: how many at once, and how long after those before."""

from __future__ import annotations

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.captured import acks
from fullpipe.analysis.over_time import Tables
from fullpipe.plots.actors import flow_looks
from fullpipe.plots.style import in_house_style, legend_entries, new_figure, shared_legend

APART_S = 100e-6
"""ACKs that come closer together are one clump: less than the shortest slot."""


@in_house_style
def clumps(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """The share of ACKs that come in clumps of a size, and the times from clump to clump, for every flow.

    Returns:
        The figure, and its table: flow, time_s (of the first ACK), acks, after_ms (since the clump before).

    Raises:
        ValueError: If no ACKs were captured at the sender.
    """
    found = in_clumps(acks(tables["packets"]))
    flows = found["flow"].unique(maintain_order=True).to_list()
    figure, (sizes, times) = new_figure(1, 2, row_height=2.4)
    most = max(1, int(found["acks"].to_numpy().max() - 1).bit_length())
    width, styles = 0.8 / len(flows), flow_looks(tables, flows)
    for i, flow in enumerate(flows):
        rows = found.filter(pl.col("flow") == flow)
        counts = rows["acks"].to_numpy()
        bins = np.ceil(np.log2(counts)).astype(int)
        shares = np.bincount(bins, weights=counts, minlength=most + 1) / counts.sum()
        at = np.arange(most + 1) + (i - (len(flows) - 1) / 2) * width
        sizes.bar(at, shares, width, label=flow, **styles[flow].area)
        after = rows["after_ms"].drop_nulls().sort().to_numpy()
        share = np.arange(1, len(after) + 1) / max(1, len(after))
        times.plot(after, share, drawstyle="steps-post", **styles[flow].line)
    sizes.set_xticks(range(most + 1), [str(2**n) for n in range(most + 1)])
    sizes.set(xlabel="ACKs of a clump, up to", ylabel="share of ACKs", ylim=(0, 1))
    longest = found["after_ms"].quantile(0.99)
    times.set(xlabel="from clump to clump (ms)", ylabel="share of clumps", ylim=(0, 1.02))
    times.set_xlim(0, longest or None)
    shared_legend(figure, legend_entries(sizes))
    return figure, found


def in_clumps(times: pl.DataFrame) -> pl.DataFrame:
    """ACKs put together that come less than `APART_S` after one another.

    Args:
        times: flow, time_s.

    Returns:
        flow, time_s (of the first), acks, after_ms (since the first of the one before; null for the first).
    """
    begins = (pl.col("time_s").diff() >= APART_S).fill_null(value=True).over("flow")
    numbered = times.with_columns(clump=begins.cum_sum().over("flow"))
    found = numbered.group_by("flow", "clump", maintain_order=True).agg(
        pl.col("time_s").first(), acks=pl.len()
    )
    return found.drop("clump").with_columns(after_ms=pl.col("time_s").diff().over("flow") * 1e3)
