"""Table II beside ours, and a verdict for every printed number and claim."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from fullpipe.papers.kato2025.printed import Paper, Printed, consistent
from fullpipe.papers.verdicts import Direction, Verdict, judge
from fullpipe.statistics import Interval, t_interval

ROWS = {
    "mean_mbps": "mean",
    "sd_mbps": "std dev",
    "total_mbps": "total",
    "below_1": "flows < 1 Mbit/s",
    "jain": "Jain",
}
CLIPPED = (
    "An interval that would reach beyond what a quantity can be is clipped there: Jain to 1/n .. 1, numbers "
    "of flows to 0 .. n, all else to 0 and above."
)
TABLE_SCHEMA = {
    "buffer_packets": pl.Int64,
    "quantity": pl.String,
    "printed_ns3_3_40": pl.String,
    "printed_ns3_3_44": pl.String,
    "sockets": pl.String,
    "runs": pl.Int64,
    "ours": pl.Float64,
    "ours_low": pl.Float64,
    "ours_high": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class Ours:
    """What we measured, per condition: one value per run, or per flow of one run for pacing rates."""

    values: Mapping[tuple[int, str, str], Sequence[float]]
    sockets: tuple[str, ...]

    @classmethod
    def of(cls, runs: pl.DataFrame, pacing: Mapping[str, Mapping[str, Sequence[float]]], buffer: int) -> Ours:
        """From the table of `per_run` and, per setting of the sockets, the pacing levels at one buffer."""
        values: dict[tuple[int, str, str], Sequence[float]] = {}
        quantities = [name for name in runs.columns if name not in ("buffer", "sockets", "seed")]
        for (packets, sockets), rows in runs.group_by("buffer", "sockets", maintain_order=True):
            values |= {(int(packets), str(sockets), name): rows[name].to_list() for name in quantities}
        for sockets, levels in pacing.items():
            values |= {(buffer, sockets, name): level for name, level in levels.items()}
        return cls(values, tuple(dict.fromkeys(sockets for _, sockets, _ in values)))

    def at(self, buffer: int | None, sockets: str, quantity: str | None) -> Sequence[float]:
        """The values, or none."""
        return self.values.get((buffer, sockets, quantity), ()) if buffer and quantity else ()

    def interval(self, buffer: int, sockets: str, quantity: str) -> Interval | None:
        """The 95 % interval of the mean over runs, or none for a single run."""
        values = self.at(buffer, sockets, quantity)
        return t_interval(values) if len(values) > 1 else None


def printed_cell(source: Paper, buffer: int, quantity: str, simulator: str) -> str:
    """What the paper prints there, "" if nothing; an index that follows from printed numbers is in
    brackets."""
    if simulator == "ns-3 3.40":
        if quantity in source.table_2[buffer]:
            return f"{source.table_2[buffer][quantity]:.1f}"
        if quantity == "jain":
            return f"({source.jain(buffer):.2f})"
    found = [
        item
        for item in source.printed
        if (item.buffer, item.quantity, item.simulator) == (buffer, quantity, simulator) and item.allowed
    ]
    if not found or found[0].allowed is None:
        return ""
    low, high = found[0].allowed.low, found[0].allowed.high
    if quantity == "total_mbps":
        return f"~{found[0].allowed.middle:.0f}"
    return f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"


def comparison(source: Paper, ours: Ours) -> pl.DataFrame:
    """One row per buffer, quantity and setting of the socket buffers, theirs beside ours; see `CLIPPED`."""
    rows = []
    for buffer in source.buffers:
        for quantity in ROWS:
            theirs = [printed_cell(source, buffer, quantity, f"ns-3 {v}") for v in ("3.40", "3.44")]
            for sockets in ours.sockets:
                values = ours.at(buffer, sockets, quantity)
                if not values:
                    continue
                interval = ours.interval(buffer, sockets, quantity)
                if interval is not None:
                    interval = interval.clipped(*_range(quantity, source.flows))
                ends = (interval.low, interval.high) if interval else (None, None)
                mean = sum(values) / len(values)
                rows.append((buffer, quantity, *theirs, sockets, len(values), mean, *ends))
    return pl.DataFrame(rows, schema=TABLE_SCHEMA, orient="row")


def _range(quantity: str, flows: int) -> tuple[float, float]:
    """What a quantity of a run can be."""
    return {"jain": (1 / flows, 1.0), "below_1": (0.0, float(flows))}.get(quantity, (0.0, math.inf))


def verdicts(source: Paper, ours: Ours, engines: Collection[str]) -> pl.DataFrame:
    """One row per printed number or claim and setting of the socket buffers."""
    rows = []
    for item in source.printed:
        for sockets in ours.sockets:
            values = ours.at(item.buffer, sockets, item.quantity)
            mean = sum(values) / len(values) if values and item.needs is None else None
            verdict = _judged(source, item, ours, sockets, engines)
            rows.append((item.id, item.says, item.simulator, sockets, mean, str(verdict)))
    schema = {
        "where": pl.String,
        "printed": pl.String,
        "simulator": pl.String,
        "sockets": pl.String,
        "ours": pl.Float64,
        "verdict": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _judged(source: Paper, item: Printed, ours: Ours, sockets: str, engines: Collection[str]) -> Verdict:
    if item.allowed is None:
        return Verdict.NOT_TESTABLE
    return judge(
        item.allowed,
        ours.at(item.buffer, sockets, item.quantity),
        direction=_direction(source, item, ours, sockets),
        testable=item.needs is None or item.needs in engines,
        consistent=consistent(source, item),
    )


def _direction(source: Paper, item: Printed, ours: Ours, sockets: str) -> Direction | None:
    """The same quantity at the reference buffer, in print and in our runs."""
    for other in source.printed:
        same = (other.buffer, other.quantity) == (item.reference, item.quantity)
        if same and other.simulator == item.simulator and other.allowed is not None:
            return Direction(other.allowed.middle, ours.at(other.buffer, sockets, other.quantity))
    return None
