"""Variants side by side, by pairs of runs with the same seed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.of_parts import of_parts
from fullpipe.validation.compare.comparison import Note, VariantComparison
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import check_groups
from fullpipe.validation.compare.matching import matched
from fullpipe.validation.compare.rules import paired
from fullpipe.validation.compare.side import Side, bulk_entries, changed_entries


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
        )
        for point, reference, other, contrasts, notes in found
    ]


def _measured(side: Side) -> frozenset[str]:
    return frozenset(side.values.drop_nulls("value")["metric"].to_list())


def _leaves_out(reference: Side, other: Side, contrasts: Sequence[Contrast]) -> list[str]:
    """Which rows are of connections alone."""
    return of_parts(
        (reference.scenario, other.scenario), ((each.subject.metric, each.subject.of) for each in contrasts)
    )
