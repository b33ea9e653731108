"""Runs of several sides, metric by metric and group by group: engines, or settings of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.analysis.metrics import busy_links, measured
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.of_parts import of_parts
from fullpipe.runs import Run
from fullpipe.validation.compare.gaps import Cell, reasons
from fullpipe.validation.compare.margins import MARGINS, check_margin
from fullpipe.validation.compare.pairs import Runs, Side, joint, paired
from fullpipe.validation.compare.verdicts import LEVEL, Judgement, equivalence

CLOSEST_TO_THE_WORLD = ("pcap", "flent", "linux")
"""What others are held against unless it is said: what was measured, and Linux itself."""


@dataclass(frozen=True, slots=True)
class Row:
    """A metric of an entry of `flows`, of all flows or of a link: what every side gives, and what is said."""

    kind: str
    """flows or link."""
    of: str
    """What the reference calls it."""
    metric: str
    unit: str
    values: Mapping[str, Sequence[float]]
    """By side, one per seed, in the unit of the metric; without the sides that do not give it."""
    margin: Margin
    judgements: Mapping[str, Judgement]
    """By side, against the reference."""
    labels: Mapping[str, str]
    """By side, what it calls this; the reference comes first."""
    entry: int | None = None
    """The place of the entry among the reference's `flows`; None of all flows and of links."""

    def mean(self, side: str) -> float:
        """The mean over seeds."""
        return sum(self.values[side]) / len(self.values[side])

    def label(self, side: str) -> str:
        """What it is called, by both names if the reference has another than a side."""
        return joint({"": self.of, side: self.labels[side]})


@dataclass(frozen=True, slots=True)
class Note:
    """What is not compared with an engine, and why."""

    engine: str
    metric: str
    of: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.engine}: {self.metric} of {', '.join(self.of)} is left out, {self.why}"


@dataclass(frozen=True)
class Comparison:
    """Sides next to each other: engines, or settings of one."""

    scenario: str
    reference: str
    engines: tuple[str, ...]
    """The names of the sides."""
    seeds: Mapping[str, Sequence[int]]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    remarks: tuple[str, ...] = ()
    """What differs between the sides besides, and which rows are of connections alone, in whole sentences."""

    @property
    def undecided(self) -> list[str]:
        """Why sides of one run decide nothing."""
        single = [side for side, seeds in self.seeds.items() if len(seeds) == 1]
        if not single:
            return []
        return [f"one run of {' and of '.join(single)}: no interval, so nothing is decided; repeat it"]

    def to_dict(self) -> dict[str, Any]:
        """Everything as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "reference": self.reference,
            "engines": list(self.engines),
            "seeds": {engine: list(seeds) for engine, seeds in self.seeds.items()},
            "intervals": {"method": "Welch", "paired": False, "level": LEVEL},
            "rows": [_row(row) for row in self.rows],
            "notes": [str(note) for note in self.notes],
            "remarks": list(self.remarks),
        }


def by_engine(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs by the name of their engine."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.meta.engine.name, []).append(run)
    return found


def closest_to_the_world(sides: Iterable[str]) -> str:
    """The engine that others are held against. Raises ValueError if there is none.

    >>> closest_to_the_world(["native", "flent"])
    'flent'
    """
    names = list(sides)
    if not names:
        raise ValueError("sides: there is none")
    return next((name for name in CLOSEST_TO_THE_WORLD if name in names), names[0])


def compare(runs: Runs, reference: str, margins: Mapping[str, Margin] | None = None) -> Comparison:
    """Compare what several sides give: engines that ran one scenario, or settings of one engine.

    Every entry of `flows` is compared with its counterpart, by name if all entries of both sides are named
    alike, and else by its place, whatever algorithms they have; links are compared by name. Intervals are
    Welch's: seeds are not paired.

    Args:
        runs: By side, one run per seed.
        reference: The side that the others are held against.
        margins: Other margins than `MARGINS` has, by metric.

    Raises:
        ValueError: If there are fewer than two sides, one without runs, or no such reference; if the runs of
            a side are not of one scenario and engine with a seed each; or if sides differ in the number of
            entries of `flows`, the duration or the warm-up; or if a margin is none, or of no metric.
    """
    if len(runs) < 2 or reference not in runs or not all(runs.values()):
        raise ValueError(f"runs: need two engines or more with runs, one of them {reference!r}")
    for metric, margin in (margins or {}).items():
        check_margin(metric, margin)
    allowed, pairs = {**MARGINS, **(margins or {})}, paired(runs, reference)
    links = _links(runs)
    found = {name: _values(side, links) for name, side in pairs.sides.items()}
    rows, gaps = [], dict[tuple[str, str, str], dict[str, None]]()
    for cell in dict.fromkeys(cell for values in found.values() for cell in values):
        labels = pairs.labels(cell.key)
        values = {name: [v for v in found[name].get(cell, []) if v is not None] for name in labels}
        if not any(values.values()) or reference not in labels or len(labels) < 2:
            continue  # it makes no sense here, or is remarked on
        why = reasons(cell, values, pairs, reference)
        whole = {name: of for name, of in values.items() if name not in why}
        if reference in whole and len(whole) > 1:
            rows.append(_compared(cell, whole, reference, allowed[cell.metric], labels))
        for name, reason in why.items():
            label = joint({reference: labels[reference], name: labels[name]})
            gaps.setdefault((name, cell.metric, reason), {})[label] = None
    return Comparison(
        scenario=runs[reference][0].name,
        reference=reference,
        engines=tuple(runs),
        seeds={name: [run.meta.seed for run in of_side] for name, of_side in runs.items()},
        rows=tuple(rows),
        notes=tuple(Note(name, metric, tuple(of), why) for (name, metric, why), of in gaps.items()),
        remarks=(*pairs.remarks, *_leaves_out(runs, rows)),
    )


def _leaves_out(runs: Runs, rows: Sequence[Row]) -> list[str]:
    scenarios = (run.scenario for of_side in runs.values() for run in of_side[:1])
    return of_parts(scenarios, ((row.metric, row.of) for row in rows))


def _links(runs: Runs) -> list[str]:
    """Links that did something in any run, which the others may know as idle."""
    every = (run for of_side in runs.values() for run in of_side)
    return list(dict.fromkeys(link for run in every for link in busy_links(run)))


def _values(side: Side, links: Sequence[str]) -> dict[Cell, list[float | None]]:
    values: dict[Cell, list[float | None]] = {}
    for run in side.runs:
        for row in measured(run, links).iter_rows(named=True):
            cell = Cell(side.keys[row["kind"], row["of"]], row["metric"], row["unit"])
            values.setdefault(cell, []).append(row["value"])
    return values


def _compared(
    cell: Cell,
    values: Mapping[str, Sequence[float]],
    reference: str,
    margin: Margin,
    labels: Mapping[str, str],
) -> Row:
    allowed = margin.allowed(sum(values[reference]) / len(values[reference]))
    judgements = {
        engine: equivalence(values[reference], of_engine, allowed)
        for engine, of_engine in values.items()
        if engine != reference
    }
    kind, place = cell.key
    entry = place if isinstance(place, int) else None
    of = labels[reference]
    return Row(kind, of, cell.metric, cell.unit, values, margin, judgements, labels, entry)


def _row(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "of": row.of,
        "entry": row.entry,
        "labels": dict(row.labels),
        "metric": row.metric,
        "unit": row.unit,
        "margin": {"relative": row.margin.relative, "absolute": row.margin.absolute},
        "values": {engine: list(values) for engine, values in row.values.items()},
        "against_reference": {engine: _judgement(found) for engine, found in row.judgements.items()},
    }


def _judgement(found: Judgement) -> dict[str, Any]:
    interval = found.interval
    return {
        "verdict": found.verdict,
        "difference": found.difference,
        "interval": interval and {"low": interval.low, "high": interval.high, "level": interval.level},
        "reason": found.reason,
    }
