"""The overview of a run: goodput, RTT and the queue over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from fullpipe.plots.presented import flow_labels, presented
from fullpipe.plots.series import QUANTITIES, Tables, time_series
from fullpipe.plots.style import LEGEND_UP_TO, in_house_style, new_figure, restyle, shared_legend
from fullpipe.runs import Run

DEFAULT = ("goodput", "rtt", "cwnd", "queue")


@in_house_style
def overview(
    runs: Mapping[str, Tables], quantities: Sequence[str] = DEFAULT, *, only: Sequence[str] | None = None
) -> tuple[Figure, pl.DataFrame]:
    """A row of axes per quantity, every run in each; returns the figure and the table of what it shows.

    One legend serves all rows: a flow or a link looks the same in each. If there are too many of them to tell
    apart, those of a run look alike, and the legend names the runs.
    Links of which no packet ever waited are left out, and `only` keeps the flows of these names.
    """
    figure, axes = new_figure(len(quantities), row_height=1.6)
    frames = []
    for place, quantity in zip(axes, quantities, strict=True):
        of_links = quantity in QUANTITIES and QUANTITIES[quantity].table == "links"
        names = _busy_links(runs) if of_links else only
        data = time_series(place, runs, quantity, only=names, legend_up_to=0)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), pl.all()))
    for place in axes[:-1]:
        place.set_xlabel("")
    entries = restyle(axes)
    if len(entries) > LEGEND_UP_TO and len(runs) > 1:
        entries = restyle(axes, lambda label: label.rpartition(": ")[0])
    if any(len(place.lines) > 1 for place in axes):
        shared_legend(figure, entries)
    return figure, pl.concat(frames)


def plot_run(run: Run, *quantities: str, only: Sequence[str] | None = None) -> Figure:
    """The overview of one run: `Run.plot`, which says what the arguments are."""
    labels = flow_labels(run)
    wanted = None if only is None else [labels.get(name, name) for name in only]
    return overview({run.name: presented(run)}, quantities or DEFAULT, only=wanted)[0]


def _busy_links(runs: Mapping[str, Tables]) -> list[str] | None:
    busy: dict[str, None] = {}
    for tables in runs.values():
        links = tables.get("links")
        if links is not None and not links.is_empty():
            busy.update(dict.fromkeys(links.filter(pl.col("backlog_packets") > 0)["link"].to_list()))
    return list(busy) or None
