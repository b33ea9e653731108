"""Quantities over time, for one run or for several in the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from fullpipe.plots.style import in_house_style, legend_columns

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Where a quantity lies in the tables of a run, and how an axis shows it."""

    table: str
    actor: str
    column: str
    label: str
    scale: float


QUANTITIES: dict[str, Quantity] = {
    "goodput": Quantity("series", "flow", "goodput_bps", "goodput (Mbit/s)", 1e-6),
    "pacing": Quantity("series", "flow", "pacing_bps", "pacing rate (Mbit/s)", 1e-6),
    "delivery": Quantity("series", "flow", "delivery_bps", "delivery rate (Mbit/s)", 1e-6),
    "cwnd": Quantity("series", "flow", "cwnd_bytes", "cwnd (kB)", 1e-3),
    "inflight": Quantity("series", "flow", "in_flight_bytes", "in flight (kB)", 1e-3),
    "rtt": Quantity("series", "flow", "srtt_s", "smoothed RTT (ms)", 1e3),
    "retransmissions": Quantity("series", "flow", "retransmitted_packets", "retransmitted (packets)", 1),
    "queue": Quantity("links", "link", "backlog_packets", "queue (packets)", 1),
    "sojourn": Quantity("links", "link", "sojourn_s", "queueing delay (ms)", 1e3),
    "drops": Quantity("links", "link", "dropped_packets", "dropped (packets)", 1),
    "utilisation": Quantity("links", "link", "utilisation", "utilisation (%)", 100),
}


@in_house_style
def time_series(
    axes: Axes,
    runs: Mapping[str, Tables],
    quantity: str,
    *,
    only: Sequence[str] | None = None,
    legend_up_to: int = 8,
) -> pl.DataFrame:
    """Draw a quantity of every run over time; `runs` maps a label to the tables of a run.

    `only` keeps the flows or links of these names. Missing samples leave gaps. Returns the columns run,
    actor, time_s, value, in the unit of the axis."""
    what = _quantity(quantity)
    frames = []
    for label, tables in runs.items():
        for actor, frame in _actors(tables, what, only):
            name = actor if len(runs) == 1 else f"{label}: {actor}"
            values = frame["value"].fill_null(float("nan")).to_numpy()
            axes.plot(frame["time_s"].to_numpy(), values, label=name)
            of_whom = [pl.lit(label).alias("run"), pl.lit(actor).alias("actor")]
            frames.append(frame.select(*of_whom, "time_s", "value"))
    if not frames:
        raise ValueError(f"{quantity}: no samples; was the run recorded with an interval?")
    data = pl.concat(frames)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(what.label)
    axes.set_xlim(left=0)
    if np.nanmin(data["value"].fill_null(float("nan")).to_numpy(), initial=0) >= 0:
        axes.set_ylim(bottom=0)
    if 1 < len(frames) <= legend_up_to:
        labels = [str(line.get_label()) for line in axes.lines]
        inches = axes.get_window_extent().width / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
        axes.legend(ncols=min(legend_columns(labels, inches), 4)).set_in_layout(False)
    return data


def _quantity(name: str) -> Quantity:
    if name not in QUANTITIES:
        raise ValueError(f"unknown quantity {name!r}; known are {', '.join(QUANTITIES)}")
    return QUANTITIES[name]


def _actors(tables: Tables, what: Quantity, only: Sequence[str] | None) -> list[tuple[str, pl.DataFrame]]:
    table = tables.get(what.table)
    if table is None or table.is_empty():
        return []
    names = list(dict.fromkeys(table[what.actor].to_list()))
    wanted = names if only is None else [name for name in names if name in set(only)]
    value = (pl.col(what.column).cast(pl.Float64) * what.scale).alias("value")
    return [(name, table.filter(pl.col(what.actor) == name).select("time_s", value)) for name in wanted]
