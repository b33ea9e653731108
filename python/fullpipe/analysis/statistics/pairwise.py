"""Comparisons of all pairs of groups with a family-wise error rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from fullpipe.analysis.statistics.anova import Groups, Sample
from fullpipe.analysis.statistics.intervals import Interval, check_level
from fullpipe.analysis.statistics.quadrature import studentized_range, studentized_range_quantile
from fullpipe.analysis.statistics.samples import Vector, vector


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
        ValueError: If there are fewer than two groups, fewer than two values in one, or neither of a pair
            varies.
    """
    values = _values(groups)
    samples = [Sample(x.size, float(x.mean()), float(x.var(ddof=1))) for x in values]
    return games_howell_of_samples(samples, level)


def games_howell_of_samples(samples: Sequence[Sample], level: float = 0.95) -> list[MeanPair]:
    """Apply `games_howell` to groups given by moments and effective sample sizes.

    Raises:
        ValueError: If there are fewer than two groups, one is worth no more than one value, or neither of a
            pair varies.
    """
    if len(samples) < 2 or any(sample.n <= 1 for sample in samples):
        raise ValueError("samples: two or more are needed, each worth more than one independent value")
    means, found = [sample.mean for sample in samples], []
    for i, j in combinations(range(len(samples)), 2):
        v, w = (samples[k].variance / samples[k].n for k in (i, j))
        if v + w == 0:
            raise ValueError(f"groups {i} and {j} do not vary; without spread there is no test")
        share = v / (v + w)  # of the variance, so that no square of a tiny one vanishes
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
        raise ValueError("no group varies; without spread there is no test")
    difference, error = means[j] - means[i], math.sqrt(variance / 2)
    half = studentized_range_quantile(level, len(means), freedom) * error
    p = 1 - studentized_range(abs(difference) / error, len(means), freedom)
    interval = Interval(difference - half, difference + half, level, "studentized range")
    return MeanPair(i, j, difference, interval, min(max(p, 0.0), 1.0))
