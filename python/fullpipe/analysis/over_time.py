"""Samples of runs over time in the units of an axis; drawing is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import polars as pl

Tables = Mapping[str, pl.DataFrame]

_SMOOTHED_RTTS = 3


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity over time: its table and columns in a run, and its label and scale on an axis."""

    table: str
    actor: str
    column: str
    label: str
    scale: float
    in_packets: str | None = None
    """Column of the same quantity in packets, if tables have one; see `fullpipe.analysis.presented`."""


QUANTITIES: dict[str, Quantity] = {
    "goodput": Quantity("series", "flow", "goodput_bps", "goodput (Mbit/s)", 1e-6),
    "pacing": Quantity("series", "flow", "pacing_bps", "pacing rate (Mbit/s)", 1e-6),
    "delivery": Quantity("series", "flow", "delivery_bps", "delivery rate (Mbit/s)", 1e-6),
    "cwnd": Quantity("series", "flow", "cwnd_bytes", "cwnd (kB)", 1e-3, "cwnd_packets"),
    "inflight": Quantity("series", "flow", "in_flight_bytes", "in flight (kB)", 1e-3, "in_flight_packets"),
    "rtt": Quantity("series", "flow", "srtt_s", "smoothed RTT (ms)", 1e3),
    "retransmissions": Quantity("series", "flow", "retransmitted_packets", "retransmitted (packets)", 1),
    "queue": Quantity("links", "link", "backlog_packets", "queue (packets)", 1),
    "sojourn": Quantity("links", "link", "sojourn_s", "queueing delay (ms)", 1e3),
    "drops": Quantity("links", "link", "dropped_packets", "dropped (packets)", 1),
    "utilisation": Quantity("links", "link", "utilisation", "utilisation (%)", 100),
}
"""Quantities that can be drawn over time, by the name that `time_series` and `Run.plot` take."""


def samples(
    runs: Mapping[str, Tables], quantity: str, only: Sequence[str] | None = None
) -> tuple[pl.DataFrame, str]:
    """Return the samples that `time_series` draws, and the label of the axis.

    Returns:
        The columns run, actor, time_s and value, in the unit of the label.

    Raises:
        ValueError: If there is no such quantity, or no sample of it.
    """
    what = _in_packets(_quantity(quantity), runs)
    frames = []
    smoothed_s = 0.0
    for label, tables in runs.items():
        long_s = _long_rtts_s(tables) if quantity == "goodput" else 0.0
        for actor, frame in _actors(tables, what, only):
            if long_s:
                frame, window_s = _smoothed(frame, long_s)
                smoothed_s = max(smoothed_s, window_s)
            of_whom = [pl.lit(label).alias("run"), pl.lit(actor).alias("actor")]
            frames.append(frame.select(*of_whom, "time_s", "value"))
    if not frames:
        raise ValueError(f"{quantity}: no samples; was the run recorded with an interval?")
    return pl.concat(frames), f"{what.label}\nmeans over {smoothed_s:.2g} s" if smoothed_s else what.label


def _in_packets(what: Quantity, runs: Mapping[str, Tables]) -> Quantity:
    column = what.in_packets
    if column is None or not all(column in tables.get(what.table, ()) for tables in runs.values()):
        return what
    return replace(what, column=column, label=what.label.replace("(kB)", "(packets)"), scale=1)


def _long_rtts_s(tables: Tables) -> float:
    """Return three times the p95 of the smoothed RTT, s; 0 if RTTs are unknown.

    The maximum would be too long: an outage makes a few RTTs as long as itself, and means over that time
    would hide it.
    """
    series = tables.get("series")
    if series is None or "srtt_s" not in series:
        return 0.0
    return _SMOOTHED_RTTS * float(series["srtt_s"].quantile(0.95) or 0)


def _smoothed(frame: pl.DataFrame, long_s: float) -> tuple[pl.DataFrame, float]:
    """Return moving means and their window in whole samples, s; 0 if the window has less than two samples."""
    times = frame["time_s"]
    spacing_s = float(times[1] - times[0]) if len(times) > 1 else 0.0
    if not spacing_s:
        return frame, 0.0
    window = ceil(long_s / spacing_s - 1e-9)
    if window < 2:
        return frame, 0.0
    means = pl.col("value").rolling_mean(window, min_samples=1)
    kept = frame.with_columns(pl.when(pl.col("value").is_null()).then(None).otherwise(means).alias("value"))
    return kept, window * spacing_s


def _quantity(name: str) -> Quantity:
    if name not in QUANTITIES:
        raise ValueError(f"unknown quantity {name!r}; known are {', '.join(QUANTITIES)}")
    return QUANTITIES[name]


def _actors(tables: Tables, what: Quantity, only: Sequence[str] | None) -> list[tuple[str, pl.DataFrame]]:
    table = tables.get(what.table)
    if table is None or table.is_empty():
        return []
    value = (pl.col(what.column).cast(pl.Float64) * what.scale).alias("value")
    wanted = None if only is None else set(only)
    parts = table.select(what.actor, "time_s", value).partition_by(what.actor, as_dict=True)
    return [(name, part) for (name,), part in parts.items() if wanted is None or name in wanted]
