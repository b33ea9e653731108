"""One factor: two levels, or several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.statistics import Effect, FTest
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.pairs import (
    Values,
    by_pairs,
    dunn,
    games_howell,
    paired_difference,
    tukey,
    welch_difference,
)
from fullpipe.validation.factors.rows import INTERACTION, LEVEL, Row

WITHOUT_PAIRS = "treats seeds as unpaired (conservative); prefer the paired tests"
"""Assumption of tests that ignore which runs have the same seed."""


def two_levels(design: Design, margin: Margin) -> Iterator[Row]:
    """The difference of two levels: by pairs of runs with the same seed if there are, else of independent
    runs."""
    (levels,) = design.levels
    reference, other = (design.values((level,)) for level in levels)
    if design.is_blocked:
        yield paired_difference(design, levels, reference, other, margin, is_primary=True)
    else:
        yield welch_difference(design, reference, other, margin)


def several_levels(design: Design, margin: Margin, *, classical: bool) -> Iterator[Row]:
    """Whether levels differ, and every pair of them; then the same by ranks. Which pairs differ is said by
    pairs of runs with the same seed if there are, else after Games and Howell."""
    (levels,) = design.levels
    groups = [design.values((level,)) for level in levels]
    n = sum(map(len, groups))
    varies = [len(set(group)) > 1 for group in groups]
    if all(varies):
        pooled = statistics.anova(groups)
        effects = (statistics.omega_squared(pooled, LEVEL), statistics.eta_squared(pooled, LEVEL))
        welch = f_row(design, "Welch ANOVA", (0,), statistics.welch_anova(groups), effects, True)
        yield replace(welch, assumptions=(WITHOUT_PAIRS,) if design.is_blocked else ())
        yield from games_howell(design, groups, margin, is_follow_up=not design.is_blocked)
    if classical:
        pooled = statistics.anova(groups)
        yield f_row(design, "ANOVA", (0,), pooled, (statistics.omega_squared(pooled),), False)
        yield from tukey(design, groups, margin)
    if design.is_blocked:
        yield _friedman(design, groups, n, is_primary=not all(varies))
        yield from by_pairs(design, groups, margin)
    else:
        yield _kruskal(design, groups, n, is_primary=not all(varies))
        yield from dunn(design, groups)


def f_row(
    design: Design,
    test: str,
    places: Sequence[int],
    found: FTest,
    effects: Sequence[Effect],
    is_primary: bool,
) -> Row:
    """A row of an F test of the factors at some places: one of a main effect, several of an interaction."""
    factors = tuple(design.factors[place] for place in places)
    return Row(
        design.subject,
        test,
        INTERACTION.join(factors),
        found.n,
        found.p,
        is_primary,
        statistic=f"F({found.df1:g}, {found.df2:.4g}) = {found.f:.4g}",
        effects=effects,
        factors=factors,
        f=found,
    )


def _friedman(design: Design, groups: Sequence[Values], n: int, *, is_primary: bool) -> Row:
    blocks = list(zip(*groups, strict=True))
    found = statistics.friedman(blocks)
    effects = (statistics.kendalls_w(blocks, LEVEL),)
    test = FTest(found.statistic, found.df1, found.df2 or math.inf, found.p, n)
    row = f_row(design, "Friedman", (0,), test, effects, is_primary)
    return replace(row, statistic=f"F({found.df1:g}, {found.df2:g}) = {found.statistic:.4g}")


def _kruskal(design: Design, groups: Sequence[Values], n: int, *, is_primary: bool) -> Row:
    found = statistics.kruskal_wallis(groups)
    return Row(
        design.subject,
        "Kruskal-Wallis",
        design.factors[0],
        n,
        found.p,
        is_primary,
        statistic=f"chi²({found.df1:g}) = {found.statistic:.4g}",
        effects=(statistics.epsilon_squared(groups, LEVEL),),
        factors=design.factors,
    )
