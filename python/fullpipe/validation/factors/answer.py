"""The answer to a question about factors: tests, corrected within families, with verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.errors import ScenarioError, brief
from fullpipe.validation.compare.finding import word
from fullpipe.validation.compare.margins import MARGINS
from fullpipe.validation.factors.design import Design, designs, factor_called
from fullpipe.validation.factors.factor import Factor, factors_of
from fullpipe.validation.factors.family import Family
from fullpipe.validation.factors.follow_ups import follow_ups
from fullpipe.validation.factors.one_factor import several_levels, two_levels
from fullpipe.validation.factors.rows import LEVEL, Row
from fullpipe.validation.factors.several_factors import several_factors, several_metrics


@dataclass(frozen=True)
class Answer:
    """Tests of all families, and the status of every factor for every subject."""

    rows: Sequence[Row]
    notes: Sequence[str]
    factors: Sequence[Factor] = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "factors": [factor.to_dict() for factor in self.factors],
            "notes": list(self.notes),
        }


def answer(
    values: pl.DataFrame,
    families: Mapping[str, Family],
    *,
    planned: Collection[str] = (),
    margins: Mapping[str, Margin] | None = None,
    classical: bool = False,
    together: bool = False,
) -> Answer:
    """Test the metrics of families by their factors.

    Args:
        values: As `fullpipe.analysis.values.values_of` gives them, of the metrics that families name.
        families: By name.
        planned: The names of those that were declared beforehand.
        margins: Other margins than those of the metrics.
        classical: Also test with equal variances: ANOVA and Tukey's HSD.
        together: Also test all metrics of a family at once: MANOVA.

    Raises:
        ScenarioError: If something cannot be tested, with what to do about it: see `designs`.
        UnknownNameError: If there is no such factor, group or level.
        MissingExtraError: If a model of statsmodels is needed, which is not installed.
    """
    rows: list[Row] = []
    tested: list[tuple[str, Design, Margin]] = []
    notes = dict[str, None]()
    for name, family in families.items():
        found, left_out = _designs(values, family)
        notes.update(dict.fromkeys(left_out))
        with_margins = [(design, _margin(family, design, margins or {})) for design in found]
        tested += [(name, *each) for each in with_margins]
        tests = list(_of_family(with_margins, classical=classical, together=together))
        rows += [
            replace(row, family=name, is_planned=name in planned)
            for row in _corrected(tests, family.correction)
        ]
    q = statistics.benjamini_hochberg([row.p if row.is_primary else math.nan for row in rows])
    rows = [_decided(replace(row, q=value)) for row, value in zip(rows, q, strict=True)]
    return Answer(rows, list(notes), _factors(tested, rows))


def _factors(tested: Sequence[tuple[str, Design, Margin]], rows: Sequence[Row]) -> list[Factor]:
    primary: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.is_primary:
            primary.setdefault((row.family, *row.subject.key), []).append(row)
    return [
        factor
        for name, design, margin in tested
        for factor in factors_of(design, margin, primary[name, *design.subject.key])
    ]


def _designs(values: pl.DataFrame, family: Family) -> tuple[list[Design], list[str]]:
    """The designs of a family, and notes on what is left out."""
    chosen = values.filter(pl.col("metric").is_in(family.metrics))
    found, notes = designs(
        chosen,
        _paths(values, family.factors),
        blocked=family.block is not None,
        of=family.of,
        reference=family.reference,
    )
    if not all(design.is_blocked for design in found):
        notes.append(
            "cells have other seeds, so that runs are taken as independent; --block seed says which lack"
        )
    return found, notes


def _margin(family: Family, design: Design, margins: Mapping[str, Margin]) -> Margin:
    return family.margin(design.subject.metric, {**MARGINS, **margins})


def _of_family(tested: Sequence[tuple[Design, Margin]], *, classical: bool, together: bool) -> Iterator[Row]:
    for design, margin in tested:
        try:
            yield from _tests(design, margin, classical=classical)
        except ValueError as error:
            raise ScenarioError([f"{design.subject.name}: {error}"]) from None
    if together:
        yield from _together([design for design, _ in tested])


def _paths(values: pl.DataFrame, words: Sequence[str]) -> list[str]:
    factors: list[str] = []
    for each in words:
        if (path := factor_called(each, values)) in factors:
            raise ScenarioError([f"{brief(each)}: {path} is named twice; name each factor once"])
        factors.append(path)
    return factors


def _tests(design: Design, margin: Margin, *, classical: bool) -> Iterator[Row]:
    if len(design.factors) > 1:
        yield from several_factors(design, classical=classical)
    elif len(design.levels[0]) == 2:
        yield from two_levels(design, margin)
    else:
        yield from several_levels(design, margin, classical=classical)


def _together(found: Sequence[Design]) -> Iterator[Row]:
    groups: dict[str, list[Design]] = {}
    for design in found:
        subject = design.subject
        groups.setdefault(f"{subject.kind} {subject.of} {subject.point}", []).append(design)
    for of_group in groups.values():
        if len(of_group) > 1:
            try:
                yield several_metrics(of_group)
            except ValueError as error:
                raise ScenarioError([f"MANOVA of {of_group[0].subject.of}: {error}"]) from None


def _corrected(rows: Sequence[Row], correction: str) -> Iterator[Row]:
    correct = statistics.holm if correction == "holm" else statistics.benjamini_hochberg
    corrected = correct([row.p if row.is_primary else math.nan for row in rows])
    first = {row.subject.key: p for row, p in zip(rows, corrected, strict=True) if row.is_primary}
    for row, p, of_pair in zip(rows, corrected, follow_ups(rows), strict=True):
        raised = replace(row, tests=_times(of_pair if row.is_follow_up else p, row))
        yield replace(raised, p_corrected=max(of_pair, first[row.subject.key]) if row.is_follow_up else p)


def _times(p: float, row: Row) -> float:
    """The factor by which a correction has raised the p value of a test."""
    return max(1.0, p / row.p_raw) if row.p_raw > 0 and p > 0 else 1.0


def _decided(row: Row) -> Row:
    """A row with its verdict, if it is primary or a pair that follows; of a check none is given."""
    if not (row.is_primary or row.is_follow_up):
        return row
    if row.difference is None:
        return replace(row, verdict="different" if row.rejects else "undecided")
    if row.p_equivalent is not None and row.p_equivalent < 1 - LEVEL:
        return replace(row, verdict="equivalent")
    if row.rejects:
        return replace(row, verdict=word(BY_NAME[row.subject.metric].better, row.difference))
    seeds = (
        statistics.pairs_that_decide(row.pairs, row.margin or 0.0, LEVEL, row.tests) if row.pairs else None
    )
    return replace(row, verdict="undecided", seeds=seeds)
