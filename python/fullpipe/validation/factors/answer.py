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
from fullpipe.validation.factors.family import Family
from fullpipe.validation.factors.follow_ups import follow_ups
from fullpipe.validation.factors.one_factor import several_levels, two_levels
from fullpipe.validation.factors.rows import LEVEL, Row
from fullpipe.validation.factors.several_factors import several_factors, several_metrics


@dataclass(frozen=True)
class Answer:
    """What is said of all families."""

    rows: Sequence[Row]
    notes: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"rows": [row.to_dict() for row in self.rows], "notes": list(self.notes)}


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
    notes = dict[str, None]()
    for name, family in families.items():
        found, left_out = _of_family(values, family, margins or {}, classical=classical, together=together)
        notes.update(dict.fromkeys(left_out))
        rows += [
            replace(row, family=name, is_planned=name in planned)
            for row in _corrected(found, family.correction)
        ]
    q = statistics.benjamini_hochberg([row.p if row.is_primary else math.nan for row in rows])
    rows = [_decided(replace(row, q=value)) for row, value in zip(rows, q, strict=True)]
    return Answer(rows, list(notes))


def _of_family(
    values: pl.DataFrame, family: Family, margins: Mapping[str, Margin], *, classical: bool, together: bool
) -> tuple[list[Row], list[str]]:
    factors = _factors(values, family.factors)
    rows: list[Row] = []
    notes: list[str] = []
    chosen = values.filter(pl.col("metric").is_in(family.metrics))
    found, left_out = designs(
        chosen, factors, blocked=family.block is not None, of=family.of, reference=family.reference
    )
    for design in found:
        margin = family.margin(design.subject.metric, {**MARGINS, **margins})
        try:
            rows += _tests(design, margin, classical=classical)
        except ValueError as error:
            raise ScenarioError([f"{design.subject.name}: {error}"]) from None
    if not all(design.is_blocked for design in found):
        notes.append(
            "cells have other seeds, so that runs are taken as independent; --block seed says which lack"
        )
    if together:
        rows += _together(found)
    return rows, [*left_out, *notes]


def _factors(values: pl.DataFrame, words: Sequence[str]) -> list[str]:
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
        yield replace(row, p_corrected=max(of_pair, first[row.subject.key]) if row.is_follow_up else p)


def _decided(row: Row) -> Row:
    """A row with its verdict, if it is primary or a pair that follows; of a check none is given."""
    p = row.p_corrected
    if not (row.is_primary or row.is_follow_up):
        return replace(row, seeds=None)
    if row.difference is None:
        return replace(row, verdict="different" if p < 1 - LEVEL else "undecided")
    if row.p_equivalent is not None and row.p_equivalent < 1 - LEVEL:
        return replace(row, verdict="equivalent", seeds=None)
    if p < 1 - LEVEL:
        return replace(row, verdict=word(BY_NAME[row.subject.metric].better, row.difference), seeds=None)
    return replace(row, verdict="undecided")
