"""Paired differences: two settings that ran with the same seeds."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fullpipe.analysis.statistics.intervals import Interval, t_interval
from fullpipe.analysis.statistics.samples import vector

MOST_SEEDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Paired:
    """Statistics of the differences of pairs."""

    n: int
    difference: float
    """Mean of the differences."""
    deviation: float
    """Standard deviation of the differences."""
    p: float
    """P value of the two-sided t-test that the mean is 0. NaN if the differences do not vary."""
    correlation: float | None
    """Correlation of the two sides: if it is near 0, pairing has no benefit. None if a side does not vary."""
    differences: tuple[float, ...]

    def interval(self, level: float) -> Interval:
        """Student's interval of the mean difference."""
        return t_interval(self.differences, level)


def paired(reference: Iterable[float], other: Iterable[float]) -> Paired:
    """Statistics of the differences other - reference of values that are paired by position.

    Source: Student 1908, "The probable error of a mean".

    Raises:
        ValueError: If there are fewer than two pairs, or a value on one side has none on the other.

    >>> found = paired([1, 2, 3, 4], [2, 4, 3, 5])
    >>> found.difference, round(found.p, 4)
    (1.0, 0.0917)
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    if a.size != b.size:
        raise ValueError(f"{a.size} values and {b.size}: they are no pairs")
    d = b - a
    mean, deviation = float(d.mean()), float(d.std(ddof=1))
    p = math.nan
    if deviation > 0:
        t = abs(mean) / (deviation / math.sqrt(d.size))
        p = 2 * float(stdtr(d.size - 1, -t))
    varies = a.std() > 0 and b.std() > 0
    correlation = float(np.corrcoef(a, b)[0, 1]) if varies else None
    return Paired(d.size, mean, deviation, p, correlation, tuple(map(float, d)))


def pairs_that_decide(found: Paired, margin: float, level: float = 0.95, tests: float = 1) -> int | None:
    """Pairs after which the test decides difference or equivalence, if mean and deviation stay the same.

    The result is the least n at which the interval of `level` excludes 0, or that of 1 - 2 (1 - level) is
    within the margin. The error of the first, 1 - level, is divided by `tests`. None if a million pairs are
    not enough.
    """
    needed = [
        _pairs(abs(found.difference), found.deviation, 1 - (1 - level) / (2 * tests)),
        _pairs(margin - abs(found.difference), found.deviation, level),
    ]
    return min((n for n in needed if n is not None), default=None)


def _pairs(distance: float, deviation: float, quantile: float) -> int | None:
    """Return the least n for which t(n - 1, quantile) * deviation / sqrt(n) is at most a distance."""

    def is_enough(n: int) -> bool:
        return float(stdtrit(n - 1, quantile)) * deviation / math.sqrt(n) <= distance

    if distance <= 0 or not is_enough(MOST_SEEDS):
        return None
    return bisect_left(range(MOST_SEEDS), True, 2, key=is_enough)
