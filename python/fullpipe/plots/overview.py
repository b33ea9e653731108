"""The overview of a run: goodput, RTT and the queue over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import QUANTITIES, Quantity, Tables, flow_labels, presented
from fullpipe.plots.series import algorithms, mark_events, restyle, time_series
from fullpipe.plots.style import LEGEND_UP_TO, REFERENCE, SMALL, in_house_style, new_figure, shared_legend
from fullpipe.runs import Run

DEFAULT = ("goodput", "rtt", "cwnd", "queue")
_HALF = 0.5
_Steps = tuple[tuple[float, float], ...]
_FAR_ABOVE = 3.0
"""A capacity above this multiple of the largest drawn value is not drawn, as it would flatten the curves."""


@in_house_style
def overview(
    runs: Mapping[str, Tables],
    quantities: Sequence[str] = (),
    *,
    only: Sequence[str] | None = None,
    warmup_s: float = 0.0,
) -> tuple[Figure, pl.DataFrame]:
    """A row of axes per quantity with all runs; returns the figure and the table of the drawn values.

    The default quantities are those of `DEFAULT` that were sampled.

    One legend serves all rows: a flow or a link has the same look in each row. If there are too many lines to
    tell apart, all lines of a run have one look, and the legend names the runs.
    Links without any queueing are left out, and `only` keeps the flows of these names. The warm-up is shaded,
    and events, such as a reroute, are marked. Panels of rates also show the capacities of busy links in grey;
    a path with load in both directions has one named capacity for each direction.
    """
    quantities = quantities or _sampled(runs)
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
    of = algorithms(runs)
    entries = restyle(axes, of)
    if len(entries) > LEGEND_UP_TO and len(runs) > 1:
        entries = restyle(axes, group=lambda label: label.rpartition(": ")[0])
    if any(len(place.lines) > 1 for place in axes):
        shared_legend(figure, entries)
    for place, quantity in zip(axes, quantities, strict=True):
        if QUANTITIES[quantity].label.endswith("(Mbit/s)"):
            _draw_capacity(place, runs)
    mark_events(axes, runs, warmup_s)
    figure.align_ylabels(axes)
    return figure, pl.concat(frames)


def _sampled(runs: Mapping[str, Tables]) -> tuple[str, ...]:
    """The quantities with values in any run; all quantities if no run has values."""
    found = tuple(
        name for name in DEFAULT if any(_has_values(tables, QUANTITIES[name]) for tables in runs.values())
    )
    return found or DEFAULT


def _has_values(tables: Tables, quantity: Quantity) -> bool:
    table = tables.get(quantity.table)
    return table is not None and not table[quantity.column].is_null().all()


def _draw_capacity(axes: Axes, runs: Mapping[str, Tables]) -> None:
    """Draw each capacity of a busy link once; skip capacities far above the drawn values."""
    end, top = axes.get_xlim()[1], axes.get_ylim()[1]
    links = [(run, link, step) for run, tables in runs.items() for link, step in _capacities(tables).items()]
    are_several, is_of_all = (len({each[n] for each in links}) > 1 for n in (1, 2))
    names: dict[_Steps, dict[str, None]] = {}
    for run, link, step in links:
        whose = [link] if are_several else [run] if len(runs) > 1 and is_of_all else []
        names.setdefault(step, {})[" of ".join(["capacity", *whose])] = None
    for step in sorted(names):
        if max(rate for _, rate in step) <= _FAR_ABOVE * top:
            times, rates = [time for time, _ in step] + [end], [rate for _, rate in step] + [step[-1][1]]
            axes.step(times, rates, where="post", **REFERENCE)
            look: Any = {"fontsize": SMALL, "color": "0.35", "ha": "right", "va": "bottom"}
            axes.annotate(", ".join(names[step]), (end, rates[-1]), **look)
            top = max(top, 1.08 * max(rates))
    axes.set_xlim(0, end)
    axes.set_ylim(top=top)


def _capacities(tables: Tables) -> dict[str, _Steps]:
    """Rates of busy links over time, in Mbit/s and s: the busiest link, and links at least half as busy."""
    links, conditions = tables.get("links"), tables.get("conditions")
    if links is None or conditions is None or links.is_empty():
        return {}
    means = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    busy = means.filter(pl.col("utilisation") >= _HALF * pl.col("utilisation").max())["link"].to_list()
    known = conditions.drop_nulls("rate_bps").filter(pl.col("link").is_in(busy))
    return {
        str(part["link"][0]): tuple(zip(part["time_s"], part["rate_bps"] * 1e-6, strict=True))
        for part in known.partition_by("link", maintain_order=True)
    }


def plot_run(run: Run, *quantities: str, only: Sequence[str] | None = None) -> Figure:
    """The overview of one run; `Run.plot` documents the arguments."""
    labels = flow_labels(run)
    wanted = None if only is None else [labels.get(name, name) for name in only]
    warmup_s = run.scenario.warmup_s
    return overview({run.name: presented(run)}, quantities, only=wanted, warmup_s=warmup_s)[0]


def _busy_links(runs: Mapping[str, Tables]) -> list[str] | None:
    busy: dict[str, None] = {}
    for tables in runs.values():
        links = tables.get("links")
        if links is not None and not links.is_empty():
            busy.update(dict.fromkeys(links.filter(pl.col("backlog_packets") > 0)["link"].to_list()))
    return list(busy) or None
