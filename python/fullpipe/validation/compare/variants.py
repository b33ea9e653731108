"""Variants of a scenario side by side, by pairs of runs with the same seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.of_parts import of_parts
from fullpipe.validation.compare.judge import Assessment, LeftOut, assessed
from fullpipe.validation.compare.matching import Match, Variant, matched


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
    left_out: LeftOut | None = None
    """Of completion times: what both sides have not finished."""


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
    measured: frozenset[str] = frozenset()
    """Metrics of which either side has a value."""

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

    What belongs together: see `matched`. All rows are one family: see `assessed`.

    Raises:
        ValueError: As `compare_all`.
    """
    return compare_all([(point or {}, reference, other)], metrics, margins)[0]


def compare_all(
    sides: Iterable[tuple[Mapping[str, Any], Variant, Variant]],
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
) -> list[VariantComparison]:
    """Compare many pairs of variants, which are one family together: of a point, reference and other each.

    Whether anything at all is better or worse is then wrong in 5 % of families at most: see `assessed`.

    Raises:
        ValueError: As `matched`, or if no metric is measured on both sides of any pair.
    """
    found = [(*each, *matched(*each[1:], metrics, margins)) for each in sides]
    if not any(matches for *_, matches, _ in found):
        notes = [note for *_, of_pair in found for note in of_pair]
        raise ValueError(notes[0] if notes else f"no run has {' or '.join(metrics)}; choose other metrics")
    verdicts = iter(assessed([match.contrast for *_, matches, _ in found for match in matches]))
    return [
        VariantComparison(
            scenario=reference.scenario.name,
            point=point,
            reference=reference.name,
            other=other.name,
            seeds=reference.seeds,
            rows=[_compared(match, next(verdicts)) for match in matches],
            notes=[*notes, *_leaves_out(reference, other, matches)],
            measured=_measured(reference) | _measured(other),
        )
        for point, reference, other, matches, notes in found
    ]


def _measured(side: Variant) -> frozenset[str]:
    return frozenset(side.values.drop_nulls("value")["metric"].to_list())


def _leaves_out(reference: Variant, other: Variant, matches: Sequence[Match]) -> list[str]:
    """Which rows are of connections alone."""
    return of_parts((reference.scenario, other.scenario), ((each.metric, each.of) for each in matches))


def _compared(match: Match, found: Assessment) -> VariantRow:
    reference = match.contrast.reference
    mean = sum(reference) / len(reference)
    return VariantRow(
        match.kind,
        match.entry,
        match.of,
        match.metric,
        match.unit,
        match.margin,
        mean,
        mean + found.difference,
        found,
        match.contrast.left_out,
    )


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
        "unfinished": row.left_out
        and {"reference": row.left_out.reference._asdict(), "variant": row.left_out.other._asdict()},
        "reason": found.reason,
    }
