"""Variants of a scenario side by side, by pairs of runs with the same seed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import LINK_MEASURES, MEASURES
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.metrics.measures import LinkMeasure, Measure
from fullpipe.analysis.values import values_of
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.validation.compare.judge import Assessment, Contrast, assessed
from fullpipe.validation.compare.margins import MARGINS, check_margin
from fullpipe.validation.compare.pairs import joint, places

_MEASURES: Mapping[tuple[str, str], Measure | LinkMeasure] = {
    **{("flows", measure.name): measure for measure in MEASURES},
    **{("link", measure.name): measure for measure in LINK_MEASURES},
}
Key = tuple[str, int | str, str]
"""Kind, place among the reference's `flows` or name, and metric."""


@dataclass(frozen=True)
class Variant:
    """One side: a scenario, and what was measured of it with several seeds."""

    name: str
    scenario: Scenario
    values: pl.DataFrame
    """As `values_of` gives them, of one point."""

    @classmethod
    def of_runs(
        cls, name: str, runs: Sequence[Run], metrics: Sequence[str], links: Collection[str] | None = None
    ) -> Variant:
        """The side of finished runs; see `values_of`."""
        return cls(name, runs[0].scenario, values_of((({}, run) for run in runs), metrics, links))

    @property
    def seeds(self) -> list[int]:
        """In ascending order."""
        return sorted(self.values["seed"].unique().to_list())


@dataclass(frozen=True)
class VariantRow:
    """A metric of an entry of `flows`, of all flows or of a link, on two sides."""

    kind: str
    entry: int | None
    of: str
    """By both names if they differ."""
    metric: str
    unit: str
    margin: Margin
    reference: float
    """Mean over seeds."""
    other: float
    assessment: Assessment


@dataclass(frozen=True)
class VariantComparison:
    """Two variants: what is said of every metric, and what is left out."""

    scenario: str
    point: Mapping[str, Any]
    """Of the scenario's own sweep; empty without one."""
    reference: str
    other: str
    seeds: Sequence[int]
    rows: Sequence[VariantRow]
    notes: Sequence[str]

    @property
    def is_worse(self) -> bool:
        """Whether anything is worse."""
        return any(row.assessment.verdict == "worse" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "point": dict(self.point),
            "reference": self.reference,
            "variant": self.other,
            "seeds": list(self.seeds),
            "intervals": {"method": "Student, paired by seed", "level": 0.95},
            "rows": [_row(row) for row in self.rows],
            "notes": list(self.notes),
        }


def compare_variants(
    reference: Variant,
    other: Variant,
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    point: Mapping[str, Any] | None = None,
) -> VariantComparison:
    """Compare two variants by pairs of runs with the same seed.

    Entries of `flows` are matched by their names if all have one and both sides have the same, and else by
    their places, whatever algorithms they have; links are matched by name. All rows are one family: see
    `assessed`.

    Raises:
        ValueError: If the sides have other seeds, another number of entries, another duration or warm-up, or
            if a margin is none.
    """
    for metric, margin in (margins or {}).items():
        check_margin(metric, margin)
    if reference.seeds != other.seeds:
        raise ValueError(f'seeds: "{other.name}" and "{reference.name}" have others; run both with the same')
    found = places((reference.name, reference.scenario), (other.name, other.scenario))
    theirs, ours = _by_key(reference.values, metrics, None), _by_key(other.values, metrics, found)
    allowed = {**MARGINS, **(margins or {})}
    keys, notes = [], dict[str, None]()
    for key in theirs:
        if key not in ours or (theirs[key].is_unknown and ours[key].is_unknown):
            continue
        if theirs[key].is_whole and ours[key].is_whole:
            keys.append(key)
        else:
            notes[_note(key, theirs[key], ours[key], reference, other)] = None
    contrasts = [_contrast(key, theirs[key].values, ours[key].values, allowed[key[2]]) for key in keys]
    verdicts = assessed(contrasts)
    rows = [
        _compared(key, theirs[key], ours[key], contrast, allowed[key[2]], verdict)
        for key, contrast, verdict in zip(keys, contrasts, verdicts, strict=True)
    ]
    name = reference.scenario.name
    return VariantComparison(
        name, point or {}, reference.name, other.name, reference.seeds, rows, list(notes)
    )


@dataclass(frozen=True)
class _Side:
    """A metric of one side: a value per seed, in the order of seeds."""

    label: str
    values: list[float]
    seeds: int

    @property
    def is_whole(self) -> bool:
        return len(self.values) == self.seeds

    @property
    def is_unknown(self) -> bool:
        return not self.values


def _by_key(values: pl.DataFrame, metrics: Sequence[str], found: Sequence[int] | None) -> dict[Key, _Side]:
    """The values of a side by what they are of; `found` has the places of its entries on the other side."""
    ordered = values.filter(pl.col("metric").is_in(metrics)).sort("seed", maintain_order=True)
    sides: dict[Key, _Side] = {}
    for (kind, entry, of, metric), part in ordered.group_by(
        "kind", "entry", "of", "metric", maintain_order=True
    ):
        place = str(of) if entry is None else int(str(entry)) if found is None else found[int(str(entry))]
        known = part["value"].drop_nulls().to_list()
        sides[str(kind), place, str(metric)] = _Side(str(of), known, part.height)
    groups = list(dict.fromkeys(key[:2] for key in sides))
    order = sorted(sides, key=lambda key: (groups.index(key[:2]), metrics.index(key[2])))
    return {key: sides[key] for key in order}


def _contrast(key: Key, reference: Sequence[float], other: Sequence[float], margin: Margin) -> Contrast:
    allowed = margin.allowed(sum(reference) / len(reference))
    return Contrast(reference, other, allowed, _MEASURES[key[0], key[2]].better)


def _compared(
    key: Key, reference: _Side, other: _Side, contrast: Contrast, margin: Margin, found: Assessment
) -> VariantRow:
    kind, place, metric = key
    entry = place if isinstance(place, int) else None
    mean = sum(contrast.reference) / len(contrast.reference)
    of = joint({"reference": reference.label, "other": other.label})
    return VariantRow(
        kind, entry, of, metric, _MEASURES[kind, metric].unit, margin, mean, mean + found.difference, found
    )


def _note(key: Key, theirs: _Side, ours: _Side, reference: Variant, other: Variant) -> str:
    of = joint({"reference": theirs.label, "other": ours.label})
    told = [
        f"{len(side.values)} of {side.seeds} runs of {variant.name}"
        for side, variant in ((theirs, reference), (ours, other))
        if not side.is_whole
    ]
    return f"{key[2]} of {of} is left out, as only {' and '.join(told)} have it"


def _row(row: VariantRow) -> dict[str, Any]:
    found = row.assessment
    return {
        "verdict": found.verdict,
        "kind": row.kind,
        "of": row.of,
        "entry": row.entry,
        "metric": row.metric,
        "unit": row.unit,
        "reference": row.reference,
        "variant": row.other,
        "difference": found.difference,
        "interval": found.interval
        and {"low": found.interval.low, "high": found.interval.high, "level": 0.95},
        "p": found.p,
        "cliffs_delta": found.delta,
        "correlation": found.correlation,
        "margin": {"relative": row.margin.relative, "absolute": row.margin.absolute},
        "seeds_that_would_decide": found.seeds,
        "reason": found.reason,
    }
