"""Corrections for several tests, and comparisons of all pairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_letters

from fullpipe.analysis.statistics.anova import Groups, Sample
from fullpipe.analysis.statistics.effect_sizes import studentized_range, studentized_range_quantile
from fullpipe.analysis.statistics.intervals import Interval, Vector, check_level, vector

# P values adjusted for many tests.


def holm(p: Sequence[float]) -> list[float]:
    """P values adjusted for the family-wise error: the probability of rejecting any true hypothesis.

    p'(i) = max over j <= i of min(1, (m - j + 1) p(j)), p ascending. Source: Holm 1979, "A simple
    sequentially rejective multiple test procedure". NaN stays NaN, and does not count as a test.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [math.nan] * len(p)
    known = sorted((value, i) for i, value in enumerate(p) if not math.isnan(value))
    largest = 0.0
    for rank, (value, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """P values adjusted for the false discovery rate, the mean share of true hypotheses among the rejected.

    q(i) = min over j >= i of min(1, m p(j) / j), p ascending. Source: Benjamini and Hochberg 1995,
    "Controlling the false discovery rate: a practical and powerful approach to multiple testing"; the
    procedure holds for independent and positively dependent tests. NaN stays NaN, and does not count as a
    test.

    >>> [round(q, 3) for q in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    adjusted = [math.nan] * len(p)
    known = sorted(((value, i) for i, value in enumerate(p) if not math.isnan(value)), reverse=True)
    least = 1.0
    for place, (value, i) in enumerate(known):
        least = min(least, len(known) / (len(known) - place) * value)
        adjusted[i] = least
    return adjusted


# Comparisons of all pairs of groups with a family-wise error rate.


@dataclass(frozen=True, slots=True)
class MeanPair:
    """Comparison of two groups among several."""

    first: int
    second: int
    difference: float
    """Difference of the means, second - first, in the unit of the values."""
    interval: Interval
    """Simultaneous interval: its level is the probability that all pairs' intervals cover the true values."""
    p: float
    """P value, corrected for all pairs."""


def tukey_hsd(groups: Groups, level: float = 0.95) -> list[MeanPair]:
    """Compare every pair of means, all variances taken as equal.

    q = |difference| / sqrt(MSE / 2 (1 / n(i) + 1 / n(j))) against the studentized range with N - k degrees of
    freedom. Sources: Tukey 1949, "Comparing individual means in the analysis of variance"; Kramer 1956,
    "Extension of multiple range tests to group means with unequal numbers of replications".

    Raises:
        ValueError: If there are fewer than two groups, fewer than two values in one, or no group varies.
    """
    values = _values(groups)
    freedom = sum(x.size for x in values) - len(values)
    mean_square = sum(float(((x - x.mean()) ** 2).sum()) for x in values) / freedom
    means = [float(x.mean()) for x in values]
    return [
        _pair(means, i, j, mean_square * (1 / values[i].size + 1 / values[j].size), freedom, level)
        for i, j in combinations(range(len(values)), 2)
    ]


def games_howell(groups: Groups, level: float = 0.95) -> list[MeanPair]:
    """Compare every pair of means; variances may differ.

    q = |difference| / sqrt((v(i) + v(j)) / 2), v = sd² / n, against the studentized range with Welch's
    degrees of freedom. Source: Games and Howell 1976, "Pairwise multiple comparison procedures with unequal
    n's and/or variances".

    Raises:
        ValueError: If there are fewer than two groups, a group has fewer than two values, or both groups of a
            pair do not vary.
    """
    values = _values(groups)
    samples = [Sample(x.size, float(x.mean()), float(x.var(ddof=1))) for x in values]
    return games_howell_of_samples(samples, level)


def games_howell_of_samples(samples: Sequence[Sample], level: float = 0.95) -> list[MeanPair]:
    """Apply `games_howell` to groups given by moments and effective sample sizes.

    Raises:
        ValueError: If there are fewer than two groups, a group has an effective size of 1 or less, or both
            groups of a pair do not vary.
    """
    if len(samples) < 2 or any(sample.n <= 1 for sample in samples):
        raise ValueError("samples: give two or more samples, each with an effective size above 1")
    means, found = [sample.mean for sample in samples], []
    for i, j in combinations(range(len(samples)), 2):
        v, w = (samples[k].variance / samples[k].n for k in (i, j))
        if v + w == 0:
            raise ValueError(f"groups {i} and {j} have variance 0; the test needs a variance within groups")
        share = v / (v + w)  # a share: the square of a tiny variance would underflow
        freedom = 1 / (share**2 / (samples[i].n - 1) + (1 - share) ** 2 / (samples[j].n - 1))
        found.append(_pair(means, i, j, v + w, freedom, level))
    return found


def _values(groups: Groups) -> list[Vector]:
    values = [vector(group, at_least=2, what=f"group {n}") for n, group in enumerate(groups)]
    if len(values) < 2:
        raise ValueError(f"groups: two or more are needed, there are {len(values)}")
    return values


def _pair(means: Sequence[float], i: int, j: int, variance: float, freedom: float, level: float) -> MeanPair:
    check_level(level)
    if variance == 0:
        raise ValueError("in every group all values are equal; the test needs a variance within groups")
    difference, error = means[j] - means[i], math.sqrt(variance / 2)
    half = studentized_range_quantile(level, len(means), freedom) * error
    p = 1 - studentized_range(abs(difference) / error, len(means), freedom)
    interval = Interval(difference - half, difference + half, level, "studentized range")
    return MeanPair(i, j, difference, interval, min(max(p, 0.0), 1.0))


# Compact letter display: letters that show which groups differ.


def compact_letters(order: Sequence[int], differing: Iterable[tuple[int, int]]) -> list[str]:
    """Letters of groups: two groups share a letter if and only if they are not listed as different.

    The steps are insert, absorb and sweep. At first all groups share one letter. Insert: each pair that
    differs splits every letter that both groups have into two letters, one without the first group and one
    without the second group. Absorb: a letter is dropped if all its groups share another letter. Sweep: a
    group loses a letter if the group shares another letter with every other group of the lost letter.

    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal
    of Computational and Graphical Statistics 13(2).

    Args:
        order: The groups, 0 to n - 1, in the order in which they get letters, usually by falling mean.
        differing: The pairs of groups that differ.

    Returns:
        The letters of every group, by group index; beyond 52 letters, numbers in parentheses.

    >>> compact_letters([0, 1, 2], [(0, 2)])
    ['a', 'ab', 'b']
    """
    pairs = [frozenset(pair) for pair in differing]
    columns = [frozenset(order)]
    for pair in pairs:
        split = [part for column in columns for part in _without(column, pair)]
        columns = _absorbed(split)
    rank = {group: place for place, group in enumerate(order)}
    swept = sorted(_swept(columns, order), key=lambda column: sorted(rank[group] for group in column))
    names = [_name(n) for n in range(len(swept))]
    return [
        "".join(name for name, column in zip(names, swept, strict=True) if group in column)
        for group in sorted(order)
    ]


def _without(column: frozenset[int], pair: frozenset[int]) -> list[frozenset[int]]:
    return [column - {group} for group in sorted(pair)] if pair <= column else [column]


def _absorbed(columns: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Remove duplicate columns, and columns whose groups are all in another column."""
    each = list(dict.fromkeys(columns))
    return [one for one in each if not any(one < other for other in each)]


def _swept(columns: Sequence[frozenset[int]], order: Sequence[int]) -> list[frozenset[int]]:
    """Remove a group from a column if the group shares another column with every other group of the
    column."""
    found = [set(column) for column in columns]
    for column in found:
        for group in reversed(order):
            others = [other for other in found if other is not column]
            if group in column and _is_said_elsewhere(group, column, others):
                column.remove(group)
    return [frozenset(column) for column in found if column]


def _is_said_elsewhere(group: int, column: Collection[int], others: Iterable[Collection[int]]) -> bool:
    with_group = [other for other in others if group in other]
    return bool(with_group) and all(any(each in other for other in with_group) for each in column)


def _name(number: int) -> str:
    return ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
