"""The overview of a run: goodput, RTT and the queue over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import QUANTITIES, Tables
from fullpipe.analysis.presented import flow_labels, presented
from fullpipe.plots.series import time_series
from fullpipe.plots.style import LEGEND_UP_TO, in_house_style, new_figure, restyle, shared_legend
from fullpipe.runs import Run

DEFAULT = ("goodput", "rtt", "cwnd", "queue")
_FAR_ABOVE = 3.0
"""A capacity that is so many times what is drawn would press it flat."""


@in_house_style
def overview(
    runs: Mapping[str, Tables],
    quantities: Sequence[str] = DEFAULT,
    *,
    only: Sequence[str] | None = None,
    warmup_s: float = 0.0,
) -> tuple[Figure, pl.DataFrame]:
    """A row of axes per quantity, every run in each; returns the figure and the table of what it shows.

    One legend serves all rows: a flow or a link looks the same in each. If there are too many of them to tell
    apart, those of a run look alike, and the legend names the runs.
    Links of which no packet ever waited are left out, and `only` keeps the flows of these names. The warm-up
    is shaded, and rates have the capacity of the busiest link beside them, in grey.
    """
    figure, axes = new_figure(len(quantities), row_height=1.6)
    frames = []
    for place, quantity in zip(axes, quantities, strict=True):
        of_links = quantity in QUANTITIES and QUANTITIES[quantity].table == "links"
        names = _busy_links(runs) if of_links else only
        data = time_series(place, runs, quantity, only=names, legend_up_to=0)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
    end = max(place.get_xlim()[1] for place in axes)
    for place in axes:
        place.set_xlim(0, end)
        place.label_outer()
    entries = restyle(axes)
    if len(entries) > LEGEND_UP_TO and len(runs) > 1:
        entries = restyle(axes, lambda label: label.rpartition(": ")[0])
    if any(len(place.lines) > 1 for place in axes):
        shared_legend(figure, entries)
    for place, quantity in zip(axes, quantities, strict=True):
        if warmup_s:
            place.axvspan(0, warmup_s, color="0.5", alpha=0.1, linewidth=0)
        if QUANTITIES[quantity].label.endswith("(Mbit/s)"):
            _draw_capacity(place, runs)
    return figure, pl.concat(frames)


def _draw_capacity(axes: Axes, runs: Mapping[str, Tables]) -> None:
    """The capacity of the busiest link of every run, each once; not one far above all that is drawn."""
    end, top = axes.get_xlim()[1], axes.get_ylim()[1]
    steps = {found for tables in runs.values() if (found := _capacity(tables))}
    for step in sorted(steps):
        if max(rate for _, rate in step) <= _FAR_ABOVE * top:
            times, rates = [time for time, _ in step] + [end], [rate for _, rate in step] + [step[-1][1]]
            axes.step(times, rates, where="post", color="0.45", linestyle=(0, (4, 2)), linewidth=0.8)
            axes.annotate("link", (end, rates[-1]), fontsize=6, color="0.35", ha="right", va="bottom")
            top = max(top, 1.08 * max(rates))
    axes.set_xlim(0, end)
    axes.set_ylim(top=top)


def _capacity(tables: Tables) -> tuple[tuple[float, float], ...]:
    """When the busiest link has which rate, in s and Mbit/s; nothing if that is not known."""
    links, conditions = tables.get("links"), tables.get("conditions")
    if links is None or conditions is None or links.is_empty():
        return ()
    means = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    busiest = means.sort("utilisation", descending=True, nulls_last=True, maintain_order=True)["link"][0]
    found = conditions.filter(pl.col("link") == busiest, pl.col("rate_bps").is_not_null())
    return tuple(zip(found["time_s"].to_list(), (found["rate_bps"] * 1e-6).to_list(), strict=True))


def plot_run(run: Run, *quantities: str, only: Sequence[str] | None = None) -> Figure:
    """The overview of one run: `Run.plot`, which says what the arguments are."""
    labels = flow_labels(run)
    wanted = None if only is None else [labels.get(name, name) for name in only]
    chosen, warmup_s = quantities or DEFAULT, run.scenario.warmup_s
    return overview({run.name: presented(run)}, chosen, only=wanted, warmup_s=warmup_s)[0]


def _busy_links(runs: Mapping[str, Tables]) -> list[str] | None:
    busy: dict[str, None] = {}
    for tables in runs.values():
        links = tables.get("links")
        if links is not None and not links.is_empty():
            busy.update(dict.fromkeys(links.filter(pl.col("backlog_packets") > 0)["link"].to_list()))
    return list(busy) or None
