"""Runs of one scenario by several engines, metric by metric and group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.compare.margins import MARGINS, Margin
from fullpipe.compare.verdicts import Judgement, judge
from fullpipe.metrics import MEASURES, busy_links, measured
from fullpipe.results import Run

Runs = Mapping[str, Sequence[Run]]
"""By engine, one run per seed."""
_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A metric of a group of flows or a link: what every engine gives, and what is said of each."""

    kind: str
    """flows or link."""
    of: str
    metric: str
    unit: str
    values: Mapping[str, Sequence[float]]
    """By engine, one per seed, in the unit of the metric; without the engines that do not give it."""
    margin: Margin
    judgements: Mapping[str, Judgement]
    """By engine, against the reference."""

    def mean(self, engine: str) -> float:
        """The mean over seeds."""
        return sum(self.values[engine]) / len(self.values[engine])


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
    """Engines side by side."""

    scenario: str
    reference: str
    engines: tuple[str, ...]
    seeds: Mapping[str, Sequence[int]]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "reference": self.reference,
            "engines": list(self.engines),
            "seeds": {engine: list(seeds) for engine, seeds in self.seeds.items()},
            "rows": [_row(row) for row in self.rows],
            "notes": [str(note) for note in self.notes],
        }


def compare(runs: Runs, reference: str, margins: Mapping[str, Margin] | None = None) -> Comparison:
    """Compare what engines give for one scenario.

    Args:
        runs: By engine, one run per seed.
        reference: The engine that the others are held against.
        margins: Other margins than `MARGINS` has, by metric.

    Raises:
        ValueError: If there are fewer than two engines, one without runs, or no such reference.
    """
    if len(runs) < 2 or reference not in runs or not all(runs.values()):
        raise ValueError(f"runs: need two engines or more with runs, one of them {reference!r}")
    allowed = {**MARGINS, **(margins or {})}
    found = {engine: _values(of_engine, _links(runs)) for engine, of_engine in runs.items()}
    keys = dict.fromkeys(key for values in found.values() for key in values)
    rows, lacking = [], dict[tuple[str, str, str], list[str]]()
    for key in keys:
        known = {engine: [v for v in found[engine].get(key, []) if v is not None] for engine in runs}
        whole = {engine: values for engine, values in known.items() if len(values) == len(runs[engine])}
        if reference in whole and len(whole) > 1:
            rows.append(_compared(key, whole, reference, allowed[key[2]]))
        if any(known.values()):  # what no engine knows makes no sense here
            for engine in runs.keys() - whole.keys():
                why = _why(key[2], len(known[engine]), runs[engine])
                lacking.setdefault((engine, key[2], why), []).append(key[1])
    return Comparison(
        scenario=runs[reference][0].name,
        reference=reference,
        engines=tuple(runs),
        seeds={engine: [run.meta.seed for run in of_engine] for engine, of_engine in runs.items()},
        rows=tuple(rows),
        notes=tuple(Note(engine, metric, tuple(of), why) for (engine, metric, why), of in lacking.items()),
    )


def _links(runs: Runs) -> list[str]:
    """Links that did something in any run, which the others may know as idle."""
    every = (run for of_engine in runs.values() for run in of_engine)
    return list(dict.fromkeys(link for run in every for link in busy_links(run)))


def _values(runs: Sequence[Run], links: Sequence[str]) -> dict[_Key, list[float | None]]:
    values: dict[_Key, list[float | None]] = {}
    for run in runs:
        for row in measured(run, links).iter_rows(named=True):
            values.setdefault((row["kind"], row["of"], row["metric"], row["unit"]), []).append(row["value"])
    return values


def _why(metric: str, known: int, runs: Sequence[Run]) -> str:
    """Why there is no value of some runs."""
    of = next((measure for measure in MEASURES if measure.name == metric and measure.event), None)
    if of and any(not run.tables[of.column.split(".")[0]].is_empty() for run in runs):
        return f"as {of.event} in {known} of {len(runs)} runs"
    return f"as only {known} of {len(runs)} runs have it" if known else "as it is not measured"


def _compared(key: _Key, values: Mapping[str, Sequence[float]], reference: str, margin: Margin) -> Row:
    allowed = margin.of(sum(values[reference]) / len(values[reference]))
    judgements = {
        engine: judge(values[reference], of_engine, allowed)
        for engine, of_engine in values.items()
        if engine != reference
    }
    return Row(*key, values, margin, judgements)


def _row(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "of": row.of,
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
