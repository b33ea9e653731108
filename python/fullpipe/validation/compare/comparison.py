"""Comparisons: findings of one or more sides against a reference, and of two variants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.of_parts import of_parts
from fullpipe.validation.compare.contrast import Contrast, matched
from fullpipe.validation.compare.finding import Finding, Note, check_groups, interval_dict, unfinished_dict
from fullpipe.validation.compare.rules import paired
from fullpipe.validation.compare.side import Side, bulk_entries, changed_entries

if TYPE_CHECKING:
    from fullpipe.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Ran:
    """A scenario as one side ran it at one point."""

    side: str
    scenario: Scenario | Mapping[str, Any]
    """The scenario, or its content as TOML has it."""
    point: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    """Its name in a suite."""

    def to_dict(self) -> dict[str, Any]:
        """The scenario with its place, as JSON."""
        of = self.scenario
        tree = dict(of if isinstance(of, Mapping) else of.to_dict())
        return {"side": self.side, "case": self.case, "point": dict(self.point), "scenario": tree}


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
    """The point of the scenario's own sweep; empty without one."""
    measured: frozenset[str] = frozenset()
    """Metrics of which either side has a value."""
    changed: frozenset[int] = frozenset()
    """Entries of `flows`, by their place on the reference, that the sides set in another way."""
    bulk: frozenset[int] = frozenset()
    """Entries of `flows` that are bulk flows on the reference: see `metrics.bulk_flows`."""
    ran: Sequence[Ran] = ()
    """Scenarios of all sides, if they are known."""
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
        """The seeds of either side."""
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


def compare_variants(
    reference: Side,
    other: Side,
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    point: Mapping[str, Any] | None = None,
) -> VariantComparison:
    """Compare two variants by pairs of runs with the same seed.

    What belongs together: see `matched`. All findings are one family: see `rules.paired`.

    Raises:
        ValueError: As `compare_all`.
    """
    return compare_all([(point or {}, reference, other)], metrics, margins)[0]


def compare_all(
    sides: Iterable[tuple[Mapping[str, Any], Side, Side]],
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    of: Collection[str] = (),
) -> list[VariantComparison]:
    """Compare many pairs of variants, which are one family together: of a point, reference and other each.

    Whether anything at all is better or worse is then wrong in 5 % of families at most: see `rules.paired`.

    Args:
        sides: Point, reference and other side of every pair.
        metrics: Names of metrics.
        margins: Other margins than those of the metrics.
        of: Groups of flows and links that are compared; all unless named.

    Raises:
        ValueError: As `matched`, or if no metric is measured on both sides of any pair.
        UnknownNameError: If no contrast is of a group that is named.
    """
    found = [(*each, *matched(*each[1:], metrics, margins, each[0])) for each in sides]
    if of:
        check_groups(of, ((each.subject, each.labels) for *_, contrasts, _ in found for each in contrasts))
        found = [
            (point, reference, other, [c for c in contrasts if c.subject.is_of(of, c.labels)], notes)
            for point, reference, other, contrasts, notes in found
        ]
    if not any(contrasts for *_, contrasts, _ in found):
        notes = [note for *_, of_pair in found for note in of_pair]
        raise ValueError(notes[0] if notes else f"no run has {' or '.join(metrics)}; choose other metrics")
    findings = iter(paired([contrast for *_, contrasts, _ in found for contrast in contrasts]))
    return [
        VariantComparison(
            scenario=reference.scenario.name,
            point=point,
            sides={reference.name: reference.seeds, other.name: other.seeds},
            findings=[next(findings) for _ in contrasts],
            notes=[*notes, *map(Note, _leaves_out(reference, other, contrasts))],
            measured=_measured(reference) | _measured(other),
            changed=changed_entries(reference, other),
            bulk=bulk_entries(reference.scenario),
            ran=[Ran(side.name, side.scenario, point) for side in (reference, other)],
        )
        for point, reference, other, contrasts, notes in found
    ]


def _measured(side: Side) -> frozenset[str]:
    return frozenset(side.values.drop_nulls("value")["metric"].to_list())


def _leaves_out(reference: Side, other: Side, contrasts: Sequence[Contrast]) -> list[str]:
    """The condition for rows of connections."""
    return of_parts(
        (reference.scenario, other.scenario), ((each.subject.metric, each.subject.of) for each in contrasts)
    )
