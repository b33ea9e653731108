"""A comparison: the findings on one or more sides against a reference, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fullpipe.validation.compare.finding import Finding, interval_dict, unfinished_dict


class Note(str):
    """A sentence on what is not compared, with the metric that it is of; of none: it is always shown."""

    metric: str

    def __new__(cls, text: str, metric: str = "") -> Note:
        """Make a note."""
        made = super().__new__(cls, text)
        made.metric = metric
        return made


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Findings of sides against the first of them."""

    scenario: str
    """Name of the scenario or suite."""
    sides: Mapping[str, Sequence[int]]
    """Seeds of every side by its name; the reference comes first."""
    findings: Sequence[Finding]
    notes: Sequence[Note] = ()
    """Metrics that are not compared, and why."""
    remarks: tuple[str, ...] = ()
    """Differences between the sides besides, in whole sentences."""
    point: Mapping[str, Any] = field(default_factory=dict)
    """Of the scenario's own sweep; empty without one."""
    measured: frozenset[str] = frozenset()
    """Metrics of which either side has a value."""
    changed: frozenset[int] = frozenset()
    """Entries of `flows`, by their place on the reference, that the sides set in another way."""
    bulk: frozenset[int] = frozenset()
    """Entries of `flows` that are bulk flows on the reference: see `metrics.bulk_flows`."""
    is_of_versions: bool = False
    """Whether the sides are one scenario at two times or in two versions, and not two variants."""

    @property
    def reference(self) -> str:
        """Name of the reference."""
        return next(iter(self.sides))

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the sides compared with the reference."""
        return tuple(self.sides)[1:]

    def only(self, findings: Sequence[Finding]) -> Self:
        """The comparison with some of its findings."""
        return replace(self, findings=findings)

    @property
    def is_worse(self) -> bool:
        """Whether any finding is worse."""
        return any(finding.verdict == "worse" for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class VariantComparison(Comparison):
    """Two variants with the same seeds."""

    @property
    def other(self) -> str:
        """Name of the variant."""
        return self.others[0]

    @property
    def seeds(self) -> Sequence[int]:
        """Of either side."""
        return self.sides[self.reference]

    @property
    def rows(self) -> Sequence[Finding]:
        """The findings."""
        return self.findings

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "point": dict(self.point),
            "reference": self.reference,
            "variant": self.other,
            "seeds": list(self.seeds),
            "intervals": {"method": "Student, paired by seed", "level": 0.95},
            "rows": [_variant_row(finding) for finding in self.findings],
            "notes": list(self.notes),
        }


def _variant_row(row: Finding) -> dict[str, Any]:
    return {
        "verdict": row.verdict,
        "kind": row.kind,
        "of": row.of,
        "entry": row.entry,
        "metric": row.metric,
        "unit": row.unit,
        "reference": row.reference,
        "variant": row.other,
        "difference": row.difference,
        "interval": interval_dict(row.interval),
        "p": row.p_corrected,
        "cliffs_delta": row.delta,
        "correlation": row.correlation,
        "margin": {"relative": row.margin.relative, "absolute": row.margin.absolute},
        "seeds_that_would_decide": row.seeds,
        "unfinished": unfinished_dict(row.left_out),
        "reason": row.reason,
    }
