"""Paired differences and tests of equivalence."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fullpipe.analysis.statistics.intervals import (
    Interval,
    check_level,
    share_interval,
    t_half_width,
    t_interval,
    vector,
    welch_error,
)

# Paired differences between two settings that ran with the same seeds.


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
        ValueError: If there are fewer than two pairs, or the sides have different numbers of values.

    >>> found = paired([1, 2, 3, 4], [2, 4, 3, 5])
    >>> found.difference, round(found.p, 4)
    (1.0, 0.0917)
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    if a.size != b.size:
        raise ValueError(f"reference has {a.size} values, other has {b.size}; give two values per pair")
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
    """Number of pairs with which the test finds a difference or equivalence, if mean and deviation stay the
    same.

    The result is the least n at which the interval of `level` excludes 0, or the interval of level
    1 - 2 (1 - level) is within the margin. For the first interval, the error rate 1 - level is divided by
    `tests`. The result is None if a million pairs are not enough.
    """
    needed = [
        _pairs(abs(found.difference), found.deviation, 1 - (1 - level) / (2 * tests)),
        _pairs(margin - abs(found.difference), found.deviation, level),
    ]
    return min((n for n in needed if n is not None), default=None)


def _pairs(distance: float, deviation: float, quantile: float) -> int | None:
    """Return the least n for which t(n - 1, quantile) * deviation / sqrt(n) is at most a distance."""

    def is_enough(n: int) -> bool:
        return float(t_half_width(deviation, n, 2 * quantile - 1)) <= distance

    if distance <= 0 or not is_enough(MOST_SEEDS):
        return None
    return bisect_left(range(MOST_SEEDS), True, 2, key=is_enough)


# Difference and equivalence of means: Welch's test, and two one-sided tests against a margin.


@dataclass(frozen=True, slots=True)
class Tost:
    """Result of two one-sided tests (TOST) for equivalence."""

    difference: float
    margin: float
    """Difference that does not matter, in the unit of the values."""
    df: float
    p: float
    """The larger p value of the two tests. If it is below 5 %, the 90 % interval is within the margin."""


@dataclass(frozen=True, slots=True)
class WelchT:
    """Result of a test that two means are equal."""

    t: float
    df: float
    p: float


@dataclass(frozen=True, slots=True)
class MeanContrast:
    """A weighted sum of means, such as a difference, with its standard error."""

    difference: float
    """Weighted sum of the means, in the unit of the values."""
    error: float
    """Standard error of the difference, in the unit of the values."""
    df: float

    def interval(self, level: float = 0.95) -> Interval:
        """Student's interval of the difference."""
        check_level(level)
        half = float(stdtrit(self.df, (1 + level) / 2)) * self.error
        return Interval(self.difference - half, self.difference + half, level, "t")

    def relative_to(self, reference: MeanContrast, level: float = 0.95) -> Interval | None:
        """Interval of the difference as a share of the mean of its reference, by Fieller's theorem.

        Cells are independent, and the difference is another mean minus that of the reference. None if the
        mean of the reference is not significantly different from 0.
        """
        check_level(level)
        below = reference.error**2
        critical = float(stdtrit(self.df, (1 + level) / 2))
        of = reference.difference, self.difference, (below, self.error**2), -below
        return share_interval(*of, critical, level)

    def p_within(self, margin: float) -> float:
        """Return the larger p value of two one-sided tests against a margin; see `tost`."""
        return _tost(self.difference, margin, self.error, self.df).p


def contrast_of_pairs(reference: Iterable[float], other: Iterable[float]) -> MeanContrast:
    """Mean of the differences other - reference of values that are paired by position.

    Raises:
        ValueError: If there are fewer than two pairs, or a value has no partner.
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    if a.size != b.size:
        raise ValueError(f"reference has {a.size} values, other has {b.size}; give two values per pair")
    d = b - a
    return MeanContrast(float(d.mean()), float(d.std(ddof=1)) / math.sqrt(d.size), d.size - 1)


def contrast_of_cells(cells: Sequence[Iterable[float]], weights: Sequence[float]) -> MeanContrast:
    """Weighted sum of the means of independent cells; their variances may differ.

    error² = Σ c² s² / n, with error⁴ / Σ ((c² s² / n)² / (n - 1)) degrees of freedom. Source: Satterthwaite
    1946, "An approximate distribution of estimates of variance components". Two cells with the weights -1
    and 1 give Welch's degrees of freedom.

    Raises:
        ValueError: If a cell has fewer than two values, or the numbers of weights and cells differ.

    >>> found = contrast_of_cells([[1, 2, 3], [2, 4, 6]], [-1, 1])
    >>> found.difference, round(found.df, 4)
    (2.0, 2.9412)
    """
    values = [vector(cell, at_least=2, what=f"cell {n}") for n, cell in enumerate(cells)]
    if len(values) != len(weights):
        raise ValueError(f"{len(values)} cells and {len(weights)} weights; give one weight per cell")
    n, c = np.array([x.size for x in values]), np.array(weights, dtype=np.float64)
    parts = c**2 * np.array([x.var(ddof=1) for x in values]) / n
    total = float(parts.sum())
    shares = parts / total if total else n / n.sum()  # shares: squares of tiny variances would underflow
    df = 1 / float((shares**2 / (n - 1)).sum())
    return MeanContrast(float(c @ [x.mean() for x in values]), math.sqrt(total), df)


def welch_t(reference: Iterable[float], other: Iterable[float]) -> WelchT:
    """Two-sided test that the means of independent values are equal; their variances may differ.

    Source: Welch 1947, "The generalization of Student's problem when several different population variances
    are involved". If neither side varies, p is 1 for equal means and 0 otherwise.

    Raises:
        ValueError: If there are fewer than two values on a side.

    >>> round(welch_t([1, 2, 3], [2, 4, 6]).t, 4)
    1.5492
    """
    difference, error, df = _welch(reference, other)
    if error == 0:
        return WelchT(math.copysign(math.inf, difference) if difference else 0.0, df, float(difference == 0))
    return WelchT(difference / error, df, 2 * float(stdtr(df, -abs(difference) / error)))


def tost_of_pairs(reference: Iterable[float], other: Iterable[float], margin: float) -> Tost:
    """Equivalence test: the means of values that are paired by position differ by less than a margin.

    t = (mean difference ∓ margin) / (sd / sqrt(n)) with n - 1 degrees of freedom. Source: Schuirmann 1987, "A
    comparison of the two one-sided tests procedure and the power approach for assessing the equivalence of
    average bioavailability".

    Raises:
        ValueError: If there are fewer than two pairs, a value has no partner, or the margin is not positive.

    >>> round(tost_of_pairs([1, 2, 3, 4], [1.1, 2, 2.9, 4.1], margin=0.2).p, 4)
    0.0177
    """
    pairs = contrast_of_pairs(reference, other)
    return _tost(pairs.difference, margin, pairs.error, pairs.df)


def tost(reference: Iterable[float], other: Iterable[float], margin: float) -> Tost:
    """Equivalence test: the means of independent values, other - reference, differ by less than a margin.

    Source: Schuirmann 1987, as in `tost_of_pairs`; error and degrees of freedom are Welch's (1947).

    Raises:
        ValueError: If there are fewer than two values on a side, or the margin is not positive.
    """
    difference, error, df = _welch(reference, other)
    return _tost(difference, margin, error, df)


def _welch(reference: Iterable[float], other: Iterable[float]) -> tuple[float, float, float]:
    """Return the difference of the means, its standard error, and the degrees of freedom."""
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    return float(b.mean() - a.mean()), *welch_error(a, b)


def _tost(difference: float, margin: float, error: float, df: float) -> Tost:
    if not 0 < margin < math.inf:
        raise ValueError(f"margin: {margin:g} is not a positive number")
    if error == 0:
        return Tost(difference, margin, df, 0.0 if abs(difference) < margin else 1.0)
    return Tost(difference, margin, df, float(stdtr(df, (abs(difference) - margin) / error)))
