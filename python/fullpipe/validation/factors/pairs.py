"""Rows of two levels: of means, by pairs of seeds or of independent runs, and by ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from fullpipe.analysis import statistics
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.statistics import Effect, FTest, Interval
from fullpipe.validation.factors.design import Design
from fullpipe.validation.factors.rows import LEVEL, Row

Values = Sequence[float]


def paired_difference(
    design: Design,
    levels: Sequence[str],
    reference: Values,
    other: Values,
    margin: Margin,
    *,
    is_primary: bool,
) -> Row:
    """The difference of two levels by pairs of runs with the same seed."""
    found, means = statistics.paired(reference, other), _means(reference, other)
    allowed = margin.allowed(means[0])
    t = abs(found.difference) / (found.deviation / math.sqrt(found.n)) if found.deviation else math.inf
    p = found.p if found.deviation else float(found.difference == 0)
    effects = [
        *_ratio(statistics.ratio_of_pairs(reference, other, LEVEL) if min(means) > 0 else None),
        statistics.hedges_g_of_pairs(reference, other, LEVEL),
        statistics.cliffs_delta_interval(other, reference, pairs=True, level=LEVEL),
    ]
    return Row(
        design.subject,
        "paired difference",
        _against(levels),
        2 * found.n,
        p,
        is_primary,
        statistic=f"t({found.n - 1}) = {math.copysign(t, found.difference):.4g}",
        levels=tuple(levels),
        means=means,
        difference=found.difference,
        interval=found.interval(LEVEL),
        effects=effects,
        margin=allowed,
        p_equivalent=statistics.tost_of_pairs(reference, other, allowed).p if allowed else None,
        factors=design.factors,
        pairs=found,
    )


def welch_difference(design: Design, reference: Values, other: Values, margin: Margin) -> Row:
    """The difference of two levels whose runs are independent."""
    means = _means(reference, other)
    allowed, interval = margin.allowed(means[0]), statistics.welch_interval(other, reference, LEVEL)
    welch = statistics.welch_t(reference, other)
    effects = [
        *_ratio(statistics.ratio(reference, other, LEVEL) if min(means) > 0 else None),
        statistics.hedges_g(other, reference, LEVEL),
        statistics.cliffs_delta_interval(other, reference, level=LEVEL),
    ]
    return Row(
        design.subject,
        "Welch difference",
        _against(design.levels[0]),
        len(reference) + len(other),
        welch.p,
        True,
        statistic=f"t({welch.df:.4g}) = {welch.t:.4g}",
        levels=design.levels[0],
        means=means,
        difference=means[1] - means[0],
        interval=interval,
        effects=effects,
        margin=allowed,
        p_equivalent=statistics.tost(reference, other, allowed).p if allowed else None,
        factors=design.factors,
        f=FTest(welch.t**2, 1, welch.df, welch.p, len(reference) + len(other)),
    )


def games_howell(
    design: Design, groups: Sequence[Values], margin: Margin, *, is_follow_up: bool
) -> Iterator[Row]:
    """Every pair of levels, whatever the variances are."""
    for pair in statistics.games_howell(groups, LEVEL):
        yield replace(_mean_pair(design, "Games-Howell", groups, pair, margin), is_follow_up=is_follow_up)


def tukey(design: Design, groups: Sequence[Values], margin: Margin) -> Iterator[Row]:
    """Every pair of levels, with equal variances."""
    for pair in statistics.tukey_hsd(groups, LEVEL):
        yield _mean_pair(design, "Tukey HSD", groups, pair, margin)


def _mean_pair(
    design: Design, test: str, groups: Sequence[Values], pair: statistics.MeanPair, margin: Margin
) -> Row:
    reference, other = groups[pair.first], groups[pair.second]
    means = _means(reference, other)
    allowed = margin.allowed(means[0])
    return _pair_row(
        design,
        test,
        (pair.first, pair.second),
        (len(reference) + len(other), pair.p),
        means=means,
        difference=pair.difference,
        interval=pair.interval,
        effects=(statistics.hedges_g(other, reference, LEVEL),),
        margin=allowed,
        p_equivalent=statistics.tost(reference, other, allowed).p if allowed else None,
    )


def by_pairs(design: Design, groups: Sequence[Values], margin: Margin) -> Iterator[Row]:
    """Every pair of levels by pairs of runs, corrected by Holm's procedure."""
    (levels,) = design.levels
    rows = [
        paired_difference(design, (levels[i], levels[j]), groups[i], groups[j], margin, is_primary=False)
        for i, j in combinations(range(len(levels)), 2)
    ]
    for row, p in zip(rows, statistics.holm([row.p for row in rows]), strict=True):
        yield replace(row, p=p, raw=row.p, is_corrected=True, is_follow_up=True)


def dunn(design: Design, groups: Sequence[Values]) -> Iterator[Row]:
    """Every pair of levels by ranks."""
    for pair in statistics.dunn(groups):
        reference, other = groups[pair.first], groups[pair.second]
        yield _pair_row(
            design,
            "Dunn",
            (pair.first, pair.second),
            (len(reference) + len(other), pair.p),
            statistic=f"z = {-pair.z:.4g}",
            means=_means(reference, other),
            effects=(statistics.cliffs_delta_interval(other, reference, level=LEVEL),),
        )


def _pair_row(
    design: Design,
    test: str,
    places: tuple[int, int],
    n_and_p: tuple[int, float],
    *,
    means: tuple[float, float],
    effects: Sequence[Effect],
    statistic: str = "",
    difference: float | None = None,
    interval: Interval | None = None,
    margin: float | None = None,
    p_equivalent: float | None = None,
) -> Row:
    levels = tuple(design.levels[0][place] for place in places)
    return Row(
        design.subject,
        test,
        _against(levels),
        *n_and_p,
        is_corrected=True,
        statistic=statistic,
        levels=levels,
        means=means,
        difference=difference,
        interval=interval,
        effects=effects,
        margin=margin,
        p_equivalent=p_equivalent,
    )


def _against(levels: Sequence[str]) -> str:
    return f"{levels[1]} - {levels[0]}"


def _means(reference: Values, other: Values) -> tuple[float, float]:
    return sum(reference) / len(reference), sum(other) / len(other)


def _ratio(found: Effect | None) -> list[Effect]:
    return [] if found is None else [found]
