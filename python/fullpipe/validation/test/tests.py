"""Tests of a design: two levels, several levels, several factors, and several metrics in one joint test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.statistics import Effect, FTest, Interval, MeanPair, Tost
from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.compare.rules import LEVEL
from fullpipe.validation.test.design import Design
from fullpipe.validation.test.factor import INTERACTION, Row

Groups = Sequence[Sequence[float]]
"""Values of every level of a factor, the reference first."""
WITHOUT_PAIRS = "treats seeds as unpaired (conservative); prefer the paired tests"
"""Assumption of tests that ignore which runs have the same seed."""
ASSUMPTIONS = (
    "runs are independent of each other",
    "metrics are normal together within a group",
    "their covariances are the same in every group",
)


def tests_of(design: Design, margin: Margin, *, classical: bool) -> Iterator[Row]:
    """The tests that suit a design, the primary tests first.

    Args:
        design: The values of a subject.
        margin: The largest difference of the metric that does not matter.
        classical: Also test with equal variances.

    Raises:
        ValueError: If the values cannot be tested: see `fullpipe.statistics`.
    """
    if len(design.factors) > 1:
        yield from several_factors(design, classical=classical)
    elif len(design.levels[0]) == 2:
        yield _two_levels(design, margin)
    else:
        yield from several_levels(design, margin, classical=classical)


def _two_levels(design: Design, margin: Margin) -> Row:
    """The difference of two levels: paired by seed if both have the same seeds, else of independent runs."""
    groups = _groups(design)
    if design.is_blocked:
        return _paired_difference(design, groups, (0, 1), margin, is_primary=True)
    reference, other = groups
    welch = statistics.welch_t(reference, other)
    return _difference(
        design,
        "Welch difference",
        groups,
        (0, 1),
        welch.p,
        is_primary=True,
        statistic=f"t({welch.df:.4g}) = {welch.t:.4g}",
        difference=_mean(other) - _mean(reference),
        interval=statistics.welch_interval(other, reference, LEVEL),
        relative=statistics.relative_interval(reference, other, LEVEL, pairs=False),
        effects=[
            *_ratio(statistics.ratio, reference, other),
            statistics.hedges_g(other, reference, LEVEL),
            statistics.cliffs_delta_interval(other, reference, level=LEVEL),
        ],
        factors=design.factors,
        f=FTest(welch.t**2, 1, welch.df, welch.p, len(reference) + len(other)),
        **_against(statistics.tost, reference, other, margin),
    )


def several_levels(design: Design, margin: Margin, *, classical: bool) -> Iterator[Row]:
    """Yield tests of whether levels differ, and of every pair of levels; then the same tests by ranks. Pairs
    of levels are tested by their differences per seed if all levels have the same seeds, else by the
    Games-Howell test."""
    groups = _groups(design)
    varies = all(len(set(group)) > 1 for group in groups)
    if varies:
        pooled = statistics.anova(groups)
        found, effects = statistics.welch_anova(groups), _explained(pooled)
        welch = _f_row(design, "Welch ANOVA", (0,), found, effects, is_primary=True)
        yield replace(welch, assumptions=(WITHOUT_PAIRS,) if design.is_blocked else ())
        for row in _of_means(design, "Games-Howell", groups, statistics.games_howell(groups, LEVEL), margin):
            yield replace(row, is_follow_up=not design.is_blocked)
    if classical:
        pooled = statistics.anova(groups)
        yield _f_row(design, "ANOVA", (0,), pooled, (statistics.omega_squared(pooled),))
        yield from _of_means(design, "Tukey HSD", groups, statistics.tukey_hsd(groups, LEVEL), margin)
    if design.is_blocked:
        yield _friedman(design, groups, is_primary=not varies)
        yield from _of_pairs(design, groups, margin)
    else:
        yield _kruskal(design, groups, is_primary=not varies)
        yield from _dunn(design, groups)


def several_factors(design: Design, *, classical: bool) -> Iterator[Row]:
    """The tests of every factor and interaction: with a variance per cell, with a pooled variance, and with
    seeds as random effects if every cell has the same seeds."""
    places = product(*(range(len(levels)) for levels in design.levels))
    every = product(*design.levels)
    cells = {place: design.values(cell) for place, cell in zip(places, every, strict=True)}
    varies = all(len(set(cell)) > 1 for cell in cells.values())
    pooled = statistics.factorial_anova(cells)
    effects = {at: _explained(found) for at, found in pooled.items()}
    if varies:
        for at, found in statistics.welch_factorial_anova(cells).items():
            row = _f_row(design, "Welch-James", at, found, effects[at], is_primary=True)
            yield replace(row, assumptions=(WITHOUT_PAIRS,) if design.is_blocked else ())
    if classical or not varies:
        for at, found in pooled.items():
            yield _f_row(design, "ANOVA", at, found, effects[at], is_primary=not varies)
    if design.is_blocked:
        blocks = {(*cell, n): value for cell, values in cells.items() for n, value in enumerate(values)}
        for at, found in statistics.factorial_mixed_model(blocks).items():
            yield _f_row(design, "mixed model", at, found)


def several_metrics(designs: Sequence[Design]) -> Row:
    """Test of whether the levels of a factor differ in several metrics taken together. The test supplements
    the tests of the single metrics.

    Raises:
        ValueError: If the metrics cannot be tested: see `fullpipe.statistics.manova`.
    """
    groups = []
    for cell, of_cell in designs[0].cells.items():
        seeds = sorted(of_cell)
        if any(sorted(design.cells.get(cell, {})) != seeds for design in designs):
            raise ValueError("the metrics have values of different runs; give values of the same runs")
        groups.append(np.array([[design.cells[cell][seed] for design in designs] for seed in seeds]))
    found = statistics.manova(groups)
    first = designs[0].subject
    metrics = ", ".join(dict.fromkeys(design.subject.metric for design in designs))
    subject = Subject(first.kind, first.entry, first.of, metrics, "", first.point)
    effect = INTERACTION.join(designs[0].factors)
    statistic = f"Pillai {found.trace:.4g}, F({found.df1:g}, {found.df2:g}) = {found.f:.4g}"
    n = sum(map(len, groups))
    return Row(subject, "MANOVA", effect, n, found.p, statistic=statistic, assumptions=ASSUMPTIONS)


def _groups(design: Design) -> list[list[float]]:
    """Values of the levels of a design's only factor."""
    (levels,) = design.levels
    return [design.values((level,)) for level in levels]


def _f_row(
    design: Design,
    test: str,
    places: Sequence[int],
    found: FTest,
    effects: Sequence[Effect] = (),
    *,
    is_primary: bool = False,
) -> Row:
    """Return a row of an F test. `places` has the index of one factor for a main effect, of several for an
    interaction."""
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


def _explained(found: FTest) -> tuple[Effect, Effect]:
    """Two estimates of the share of the variance that a factor explains.

    Both effect sizes estimate the same share, so only eta² has the interval.
    """
    return replace(statistics.omega_squared(found), interval=None), statistics.eta_squared(found, LEVEL)


def _friedman(design: Design, groups: Groups, *, is_primary: bool) -> Row:
    blocks = list(zip(*groups, strict=True))
    found = statistics.friedman(blocks)
    effects = (statistics.kendalls_w(blocks, LEVEL),)
    test = FTest(found.statistic, found.df1, found.df2 or math.inf, found.p, sum(map(len, groups)))
    row = _f_row(design, "Friedman", (0,), test, effects, is_primary=is_primary)
    return replace(row, statistic=f"F({found.df1:g}, {found.df2:g}) = {found.statistic:.4g}")


def _kruskal(design: Design, groups: Groups, *, is_primary: bool) -> Row:
    found = statistics.kruskal_wallis(groups)
    return Row(
        design.subject,
        "Kruskal-Wallis",
        design.factors[0],
        sum(map(len, groups)),
        found.p,
        is_primary,
        statistic=f"chi²({found.df1:g}) = {found.statistic:.4g}",
        effects=(statistics.epsilon_squared(groups, LEVEL),),
        factors=design.factors,
    )


def _of_pairs(design: Design, groups: Groups, margin: Margin) -> Iterator[Row]:
    """Every pair of levels, paired by seed and corrected by Holm's procedure."""
    rows = [
        _paired_difference(design, groups, places, margin) for places in combinations(range(len(groups)), 2)
    ]
    for row, p in zip(rows, statistics.holm([row.p for row in rows]), strict=True):
        yield replace(row, p=p, raw=row.p, is_corrected=True, is_follow_up=True)


def _of_means(
    design: Design, test: str, groups: Groups, found: Iterable[MeanPair], margin: Margin
) -> Iterator[Row]:
    """Every pair of levels by a test that corrects for all pairs."""
    for pair in found:
        reference, other = groups[pair.first], groups[pair.second]
        yield _difference(
            design,
            test,
            groups,
            (pair.first, pair.second),
            pair.p,
            is_corrected=True,
            difference=pair.difference,
            interval=pair.interval,
            relative=_relative_of_all(test, reference, other, pair),
            effects=(statistics.hedges_g(other, reference, LEVEL),),
            **_against(statistics.tost, reference, other, margin),
        )


def _relative_of_all(
    test: str, reference: Sequence[float], other: Sequence[float], pair: MeanPair
) -> Interval | None:
    """The simultaneous interval of a relative change; None for Tukey's test, which assumes that all
    variances are equal."""
    if test != "Games-Howell":
        return None
    error = math.sqrt(sum(statistics.summarise(values).sem ** 2 for values in (reference, other)))
    critical = pair.interval.half_width / error
    return statistics.relative_interval(reference, other, LEVEL, pairs=False, critical=critical)


def _dunn(design: Design, groups: Groups) -> Iterator[Row]:
    """Every pair of levels by ranks."""
    for pair in statistics.dunn(groups):
        places = pair.first, pair.second
        delta = statistics.cliffs_delta_interval(groups[pair.second], groups[pair.first], level=LEVEL)
        row = _difference(design, "Dunn", groups, places, pair.p, is_corrected=True, effects=(delta,))
        yield replace(row, statistic=f"z = {-pair.z:.4g}")


def _paired_difference(
    design: Design, groups: Groups, places: tuple[int, int], margin: Margin, *, is_primary: bool = False
) -> Row:
    """The difference of two levels, paired by seed."""
    reference, other = (groups[place] for place in places)
    found = statistics.paired(reference, other)
    t = abs(found.difference) / (found.deviation / math.sqrt(found.n)) if found.deviation else math.inf
    return _difference(
        design,
        "paired difference",
        groups,
        places,
        found.p if found.deviation else float(found.difference == 0),
        is_primary=is_primary,
        statistic=f"t({found.n - 1}) = {math.copysign(t, found.difference):.4g}",
        difference=found.difference,
        interval=found.interval(LEVEL),
        relative=statistics.relative_interval(reference, other, LEVEL, pairs=True),
        effects=[
            *_ratio(statistics.ratio_of_pairs, reference, other),
            statistics.hedges_g_of_pairs(reference, other, LEVEL),
            statistics.cliffs_delta_interval(other, reference, pairs=True, level=LEVEL),
        ],
        factors=design.factors,
        pairs=found,
        **_against(statistics.tost_of_pairs, reference, other, margin),
    )


def _difference(
    design: Design, test: str, groups: Groups, places: tuple[int, int], p: float, **more: Any
) -> Row:
    """A row of two levels of a design's only factor, with their means."""
    reference, other = (design.levels[0][place] for place in places)
    values = [groups[place] for place in places]
    return Row(
        design.subject,
        test,
        f"{other} - {reference}",
        sum(map(len, values)),
        p,
        levels=(reference, other),
        means=tuple(map(_mean, values)),
        **more,
    )


def _against(
    test: Callable[[Sequence[float], Sequence[float], float], Tost],
    reference: Sequence[float],
    other: Sequence[float],
    margin: Margin,
) -> dict[str, Any]:
    """Return the margin as stated and in the unit of the metric, and p of the equivalence test; None if the
    margin is 0."""
    allowed = margin.allowed(_mean(reference))
    p_equivalent = test(reference, other, allowed).p if allowed else None
    return {"stated": margin, "margin": allowed, "p_equivalent": p_equivalent}


def _ratio(
    ratio: Callable[[Sequence[float], Sequence[float], float], Effect],
    reference: Sequence[float],
    other: Sequence[float],
) -> list[Effect]:
    """The ratio of two means; empty unless both means are positive."""
    return [ratio(reference, other, LEVEL)] if min(_mean(reference), _mean(other)) > 0 else []


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def follow_ups(rows: Sequence[Row]) -> list[float]:
    """P values of pairs of levels, corrected over the subjects of a family; NaN for all other rows.

    The test itself corrects for the pairs of one subject. Holm's procedure corrects over subjects, from the
    smallest p on: p is multiplied by the number of subjects that still have a pair with a p as large or
    larger. Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
    """
    adjusted, largest = [math.nan] * len(rows), 0.0
    order = sorted((n for n, row in enumerate(rows) if row.is_follow_up), key=lambda n: rows[n].p)
    keys = {n: rows[n].subject.key for n in order}
    left = Counter(keys.values())
    for n in order:
        largest = max(largest, min(1.0, len(left) * rows[n].p))
        adjusted[n] = largest
        left[keys[n]] -= 1
        if not left[keys[n]]:
            del left[keys[n]]
    return adjusted
