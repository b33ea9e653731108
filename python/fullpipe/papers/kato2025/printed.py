"""What the paper prints: read from `expected.toml`, and checked against itself."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fullpipe.papers.verdicts import Expectation

TABLE_2 = ("mean_mbps", "sd_mbps", "total_mbps")


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed number or claim: where, what, under which condition, and the values it allows."""

    id: str
    says: str
    simulator: str
    buffer: int | None = None
    quantity: str | None = None
    allowed: Expectation | None = None
    reference: int | None = None
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """The transcription."""

    title: str
    flows: int
    capacity_mbps: float
    rtt_s: float
    rounding_mbps: float
    table_2: dict[int, dict[str, float]]
    printed: tuple[Printed, ...]

    @property
    def buffers(self) -> list[int]:
        """The buffers of Table II, in packets."""
        return list(self.table_2)

    def jain(self, buffer: int) -> float:
        """Jain's index that follows from a printed mean m and sample standard deviation s: 1 / (1 + s²
        (n-1)/n / m²)."""
        row = self.table_2[buffer]
        return 1 / (1 + row["sd_mbps"] ** 2 * (self.flows - 1) / self.flows / row["mean_mbps"] ** 2)


@cache
def paper() -> Paper:
    """The transcription of `expected.toml`."""
    data = tomllib.loads(files(__package__).joinpath("expected.toml").read_text(encoding="utf-8"))
    table_2 = {row["buffer"]: {name: row[name] for name in TABLE_2} for row in data["table_2"]}
    numbers = [
        _of_table_2(buffer, name, table_2, data["rounding_mbps"]) for buffer in table_2 for name in TABLE_2
    ]
    return Paper(
        title=data["title"],
        flows=data["flows"],
        capacity_mbps=data["capacity_mbps"],
        rtt_s=data["rtt_s"],
        rounding_mbps=data["rounding_mbps"],
        table_2=table_2,
        printed=(*numbers, *(_result(row) for row in data["result"])),
    )


def _of_table_2(buffer: int, name: str, table: dict[int, dict[str, float]], rounding: float) -> Printed:
    word = {"mean_mbps": "mean", "sd_mbps": "standard deviation", "total_mbps": "total"}[name]
    value = table[buffer][name]
    return Printed(
        id=f"Table II, {buffer}: {word}",
        says=f"{value} Mbit/s",
        simulator="ns-3 3.40",
        buffer=buffer,
        quantity=name,
        allowed=Expectation(value - rounding, value + rounding),
        reference=max(table) if buffer != max(table) else min(table),
    )


def _result(row: dict[str, Any]) -> Printed:
    between = row.get("between")
    return Printed(
        id=row["id"],
        says=row["says"],
        simulator=row["simulator"],
        buffer=row.get("buffer"),
        quantity=row.get("quantity"),
        allowed=Expectation(*between) if between else None,
        reference=row.get("reference"),
        needs=row.get("needs"),
    )


def consistent(source: Paper, item: Printed) -> bool:
    """Whether the other printed numbers allow this one.

    Totals must be flows times mean, efficiencies must be totals over the capacity, the number of starved
    flows must fit the printed total and spread, and the range of 3.44 must hold its total.
    """
    if item.allowed is None or item.buffer not in source.table_2:
        return True
    if item.simulator == "ns-3 3.44":
        return item.quantity != "total_mbps" or _range_holds_total(source, item.allowed)
    if item.simulator != "ns-3 3.40":
        return True
    row = source.table_2[item.buffer]
    slack = source.rounding_mbps
    if item.quantity in ("mean_mbps", "total_mbps"):
        return abs(row["total_mbps"] - source.flows * row["mean_mbps"]) <= slack * (source.flows + 1)
    if item.quantity == "efficiency_percent":
        percent = 100 * row["total_mbps"] / source.capacity_mbps
        return item.allowed.low <= percent + 0.1 and item.allowed.high >= percent - 0.1
    if item.quantity == "below_1":
        counts = range(int(item.allowed.low), int(item.allowed.high) + 1)
        sd = row["sd_mbps"] + slack
        return any(least_sd(source.flows, count, row["total_mbps"]) <= sd for count in counts)
    return True


def least_sd(flows: int, starved: int, total: float, limit: float = 1.0) -> float:
    """The smallest sample standard deviation of flows of this total of which so many lie below a limit.

    It is reached when all starved flows sit at the limit and all others share the rest evenly.
    """
    if starved in (0, flows):
        return 0.0
    fast = (total - starved * limit) / (flows - starved)
    variance = starved * (flows - starved) / flows * (fast - limit) ** 2 / (flows - 1)
    return float(variance**0.5)


def _range_holds_total(source: Paper, total: Expectation) -> bool:
    ends = {item.quantity: item.allowed for item in source.printed if item.id.startswith("Fig. 5")}
    low, high = ends["min_mbps"], ends["max_mbps"]
    assert low is not None
    assert high is not None
    return total.low <= source.flows * high.high and total.high >= source.flows * low.low
