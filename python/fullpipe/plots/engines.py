"""Series of several engines in the same axes."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.palette import COLOURS, DASHES
from fullpipe.plots.style import in_house_style, new_figure, shared_legend

LABELS = {"goodput": ("goodput (Mbit/s)", 1e-6), "rtt": ("smoothed RTT (ms)", 1e3)}
_MOST_GROUPS = len(DASHES)


@in_house_style
def engines(data: pl.DataFrame) -> tuple[Figure, pl.DataFrame]:
    """A row of axes per quantity: a colour per engine, dashes per engine and group, bands over seeds.

    Args:
        data: The columns engine, of, quantity, time_s, mean, low, high, as `fullpipe.compare.overlay` gives
            them. Groups beyond the seventh are not drawn.

    Returns:
        The figure, and the table of what it shows in the units of its axes.

    Raises:
        ValueError: If there is nothing to draw.
    """
    if data.is_empty():
        raise ValueError("no samples; were the runs recorded with an interval?")
    groups = data["of"].unique(maintain_order=True).to_list()[:_MOST_GROUPS]
    names = data["engine"].unique(maintain_order=True).to_list()
    quantities = data["quantity"].unique(maintain_order=True).to_list()
    figure, axes = new_figure(len(quantities), row_height=1.9)
    entries: dict[str, object] = {}
    shown = []
    for place, quantity in zip(axes, quantities, strict=True):
        label, scale = LABELS[quantity]
        numbers = [pl.col(name) * scale for name in ("mean", "low", "high")]
        rows = data.filter((pl.col("quantity") == quantity) & pl.col("of").is_in(groups)).with_columns(
            numbers
        )
        entries |= _lines(place, rows, names, groups)
        place.set_ylabel(label)
        place.set_xlim(left=0)
        place.set_ylim(bottom=0)
        shown.append(rows)
    axes[-1].set_xlabel("time (s)")
    shared_legend(figure, entries)
    return figure, pl.concat(shown)


def _lines(place: Axes, rows: pl.DataFrame, names: list[str], groups: list[str]) -> dict[str, object]:
    lines: dict[str, object] = {}
    for n, engine in enumerate(names):
        for number, group in enumerate(groups):
            dashes = DASHES[(n + len(names) * number) % len(DASHES)]
            own = rows.filter((pl.col("engine") == engine) & (pl.col("of") == group))
            if own.is_empty():
                continue
            times = own["time_s"].to_numpy()
            label = engine if len(groups) == 1 else f"{engine}: {group}"
            colour = COLOURS[n % len(COLOURS)]
            (lines[label],) = place.plot(times, own["mean"].to_numpy(), linestyle=dashes, color=colour)
            low, high = (own[name].to_numpy() for name in ("low", "high"))
            place.fill_between(times, low, high, color=colour, alpha=0.15, linewidth=0)
    return lines
