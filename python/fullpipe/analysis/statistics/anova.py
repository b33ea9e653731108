"""Analysis of variance, of one quantity and of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc

from fullpipe.analysis.statistics.intervals import Vector, vector

# Analysis of variance of one factor or several, with a pooled variance or one variance per cell.


Matrix = npt.NDArray[np.float64]
Groups = Sequence[Iterable[float]]
"""Values of every level, one per run."""
Cells = Sequence[Sequence[Iterable[float]]]
"""Values of every combination: a row per level of the first factor, a column per level of the second."""
Cell = tuple[int, ...]
"""One level of every factor, as an index from 0."""
Factors = tuple[int, ...]
"""Indices of factors: one for a main effect, several for an interaction."""
EFFECTS = ("first", "second", "interaction")
"""Names of the effects of two factors."""


@dataclass(frozen=True, slots=True)
class FTest:
    """Result of a test that some means are equal."""

    f: float
    df1: float
    df2: float
    """Degrees of freedom of the denominator; for Welch's tests rarely an integer."""
    p: float
    n: int
    """Number of values in all cells."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Moments of a group whose values are unknown or not independent."""

    n: float
    """Effective number of independent values, rarely an integer."""
    mean: float
    variance: float
    """Variance of one value, in the square of the unit of the mean."""


def anova(groups: Groups) -> FTest:
    """Classical test that all means are equal. The test assumes equal variances.

    F = (SS between / (k - 1)) / (SS within / (N - k)). Source: Fisher 1925, "Statistical methods for research
    workers", chapter VII. The values may be in any unit.

    Raises:
        ValueError: If there are fewer than two groups, fewer than two values in one, or no group varies.

    >>> round(anova([[1, 2, 3], [2, 3, 4], [4, 5, 6]]).f, 4)
    7.0
    """
    return _pooled(*_one_way(groups))


def welch_anova(groups: Groups) -> FTest:
    """Test that all means are equal; variances may differ.

    Source: Welch 1951, "On the comparison of several mean values: an alternative approach".

    Raises:
        ValueError: If there are fewer than two groups, a group has fewer than two values, or a group does not
            vary.

    >>> found = welch_anova([[1, 2, 3], [2, 3, 4], [4, 5, 6]])
    >>> round(found.f, 4), round(found.df2, 4)
    (6.0, 4.0)
    """
    return _heteroscedastic(*_one_way(groups))


def anova_of_samples(samples: Sequence[Sample]) -> FTest:
    """Apply `anova` to groups given by size, mean and variance.

    Raises:
        ValueError: If there are fewer than two groups, a group has an effective size of 1 or less, or no
            group varies.

    >>> round(anova_of_samples([Sample(3, 2, 1), Sample(3, 3, 1), Sample(3, 5, 1)]).f, 4)
    7.0
    """
    n, means, variances = _of_samples(samples)
    within = float(((n - 1) * variances).sum())
    return _pooled_of(n, means, within, float(n.sum()) - len(n), _contrasts(len(n)))


def welch_anova_of_samples(samples: Sequence[Sample]) -> FTest:
    """Apply `welch_anova` to groups given by size, mean and variance.

    Raises:
        ValueError: If there are fewer than two groups, or a group has an effective size of 1 or less or does
            not vary.

    >>> round(welch_anova_of_samples([Sample(3, 2, 1), Sample(3, 3, 1), Sample(3, 5, 1)]).f, 4)
    6.0
    """
    n, means, variances = _of_samples(samples)
    return _heteroscedastic_of(n, means, variances / n, _contrasts(len(n)))


def _of_samples(samples: Sequence[Sample]) -> tuple[Vector, Vector, Vector]:
    if len(samples) < 2:
        raise ValueError(f"samples: two or more are needed, there are {len(samples)}")
    n, means, variances = np.array([(s.n, s.mean, s.variance) for s in samples], dtype=np.float64).T
    if n.min() <= 1:
        raise ValueError("samples: a sample has n = 1 or less; give samples with an effective size above 1")
    return n, means, variances


def two_way_anova(cells: Cells) -> Mapping[str, FTest]:
    """Apply `factorial_anova` to two factors, and return the tests by the names in `EFFECTS`.

    Raises:
        ValueError: If a factor has fewer than two levels, a cell has fewer than two values, or no cell
            varies.
    """
    return _by_name(factorial_anova(_two_way(cells)))


def welch_two_way_anova(cells: Cells) -> Mapping[str, FTest]:
    """Apply `welch_factorial_anova` to two factors, and return the tests by the names in `EFFECTS`.

    Raises:
        ValueError: If a factor has fewer than two levels, or a cell has fewer than two values or does not
            vary.
    """
    return _by_name(welch_factorial_anova(_two_way(cells)))


def factorial_anova(cells: Mapping[Cell, Iterable[float]]) -> Mapping[Factors, FTest]:
    """Classical tests of every factor and every interaction. The tests assume equal variances.

    Hypotheses are about unweighted means of cells, as with sums of squares of type III. If all cells have
    equally many values, all types of sums of squares are the same. Source: Yates 1934, "The analysis of
    multiple classifications with unequal numbers in the different classes" (weighted squares of means).

    Args:
        cells: The values of every combination of levels, one per run.

    Returns:
        A test per set of factors: main effects first, then interactions of two factors, of three, and so on.

    Raises:
        ValueError: If a factor has fewer than two levels, a combination is missing, a cell has fewer than two
            values, or no cell varies.
    """
    levels, values = _whole(cells)
    return {effect: _pooled(values, _hypothesis(levels, effect)) for effect in effects_of(len(levels))}


def welch_factorial_anova(cells: Mapping[Cell, Iterable[float]]) -> Mapping[Factors, FTest]:
    """Tests of every factor and every interaction; the variances of cells may differ.

    Source: Johansen 1980, "The Welch-James approximation to the distribution of the residual sum of squares
    in a weighted linear regression". With one factor, the test is Welch's test.

    Args:
        cells: The values of every combination of levels, one per run.

    Returns:
        Tests as in `factorial_anova`.

    Raises:
        ValueError: If a factor has fewer than two levels, a combination is missing, a cell has fewer than two
            values, or a cell does not vary.
    """
    levels, values = _whole(cells)
    return {
        effect: _heteroscedastic(values, _hypothesis(levels, effect)) for effect in effects_of(len(levels))
    }


def effects_of(factors: int) -> list[Factors]:
    """Return every non-empty set of factors, the smaller ones first.

    >>> effects_of(2)
    [(0,), (1,), (0, 1)]
    """
    return [chosen for size in range(1, factors + 1) for chosen in combinations(range(factors), size)]


def _one_way(groups: Groups) -> tuple[list[Vector], Matrix]:
    values = [vector(group, at_least=2, what=f"group {n}") for n, group in enumerate(groups)]
    if len(values) < 2:
        raise ValueError(f"groups: two or more are needed, there are {len(values)}")
    return values, _contrasts(len(values))


def _two_way(cells: Cells) -> dict[Cell, Iterable[float]]:
    return {(i, j): cell for i, row in enumerate(cells) for j, cell in enumerate(row)}


def _by_name(found: Mapping[Factors, FTest]) -> dict[str, FTest]:
    return dict(zip(EFFECTS, found.values(), strict=True))


def _whole(cells: Mapping[Cell, Iterable[float]]) -> tuple[list[int], list[Vector]]:
    """Return the number of levels of every factor, and the values of all cells in the order of indices."""
    levels = [max(places) + 1 for places in zip(*cells, strict=True)]
    order = list(product(*map(range, levels)))
    if not levels or min(levels) < 2 or set(order) != set(cells):
        raise ValueError(
            "cells: give every factor two levels or more, and every combination of levels a cell"
        )
    return levels, [vector(cells[cell], at_least=2, what=f"cell {_named(cell)}") for cell in order]


def _named(cell: Cell) -> str:
    return ", ".join(map(str, cell))


def _hypothesis(levels: Sequence[int], effect: Factors) -> Matrix:
    """Return contrasts of cell means for the factors of an effect, summed over levels of other factors."""
    made: Matrix = np.ones((1, 1))
    for place, k in enumerate(levels):
        made = np.asarray(np.kron(made, _contrasts(k) if place in effect else np.ones((1, k))))
    return made


def _contrasts(levels: int) -> Matrix:
    """Return contrasts of the first level with each other level."""
    return np.asarray(np.hstack([np.ones((levels - 1, 1)), -np.eye(levels - 1)]))


def _pooled(values: Sequence[Vector], contrasts: Matrix) -> FTest:
    n, means = np.array([x.size for x in values]), np.array([x.mean() for x in values])
    within = sum(float(((x - x.mean()) ** 2).sum()) for x in values)
    return _pooled_of(n, means, within, int(n.sum()) - len(values), contrasts)


def _pooled_of(
    n: npt.NDArray[Any], group_means: Vector, within: float, df2: float, contrasts: Matrix
) -> FTest:
    if within == 0:
        raise ValueError("in every group all values are equal; the test needs a variance within groups")
    df1, means = len(contrasts), contrasts @ group_means
    between = float(means @ np.linalg.solve((contrasts / n) @ contrasts.T, means))
    f = (between / df1) / (within / df2)
    return FTest(f, df1, df2, float(fdtrc(df1, df2, f)), round(n.sum()))


def _heteroscedastic(values: Sequence[Vector], contrasts: Matrix) -> FTest:
    n, means = np.array([x.size for x in values]), np.array([x.mean() for x in values])
    return _heteroscedastic_of(n, means, np.array([x.var(ddof=1) for x in values]) / n, contrasts)


def _heteroscedastic_of(
    n: npt.NDArray[Any], group_means: Vector, variances: Vector, contrasts: Matrix
) -> FTest:
    """Return Johansen's F test; `variances` are the variances of the group means."""
    if variances.min() == 0:
        raise ValueError("a group has variance 0; Welch's test divides by the variance of each group")
    variances_of_one = variances / variances.max()  # scaled: products of tiny variances would underflow
    means = contrasts @ group_means
    weighted = contrasts * variances_of_one
    inverse = np.linalg.inv(weighted @ contrasts.T)
    statistic = float(means @ inverse @ means) / float(variances.max())
    shares = np.diag(weighted.T @ inverse @ contrasts)
    df1, a = len(contrasts), float((shares**2 / (n - 1)).sum())
    f = statistic / (df1 + 2 * a - 6 * a / (df1 + 2))
    df2 = df1 * (df1 + 2) / (3 * a)
    return FTest(f, df1, df2, float(fdtrc(df1, df2, f)), round(n.sum()))


# Hotelling's test: whether the means of several metrics of one sample are all zero.


@dataclass(frozen=True, slots=True)
class Hotelling:
    """Result of a test that the means of several metrics are all zero."""

    wilks: float
    """Wilks' lambda, 1 / (1 + T² / (n - 1))."""
    f: float
    df1: int
    df2: int
    p: float


def hotelling(values: Matrix) -> Hotelling:
    """Test that the means of p metrics are all zero, from n rows: a MANOVA with an intercept only.

    T² = n m' S⁻¹ m and F = (n - p) / (p (n - 1)) T² with p and n - p degrees of freedom. Rows must be
    independent. The test is pointless for metrics that cannot be negative, because their means exceed 0.
    Source: Hotelling 1931, "The generalization of Student's ratio".

    Args:
        values: A row per run and a column per metric, each in any unit.

    Raises:
        ValueError: If there are no more rows than metrics, or a metric is a linear combination of others.

    >>> found = hotelling(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]]))
    >>> round(found.wilks, 4), round(found.f, 4)
    (0.1613, 5.2)
    """
    n, metrics = values.shape
    if n <= metrics:
        raise ValueError(f"values: {n} rows are too few; give more rows than the {metrics} metrics")
    spread = np.atleast_2d(np.cov(values.T))
    if np.linalg.matrix_rank(spread) < metrics:
        raise ValueError("values: a metric is a linear combination of others, or does not vary; leave it out")
    means = values.mean(axis=0)
    t2 = n * float(means @ np.linalg.solve(spread, means))
    df1, df2 = metrics, n - metrics
    f = t2 * df2 / (df1 * (n - 1))
    return Hotelling(1 / (1 + t2 / (n - 1)), f, df1, df2, float(fdtrc(df1, df2, f)))
