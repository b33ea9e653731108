"""Rank tests of groups, and of levels within blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from fullpipe.analysis.statistics.anova import Groups
from fullpipe.analysis.statistics.multiple import holm
from fullpipe.analysis.statistics.samples import Vector, vector
from fullpipe.analysis.statistics.slow_imports import ranked


@dataclass(frozen=True, slots=True)
class RankTest:
    """Result of a test that no level tends to larger values than another."""

    statistic: float
    df1: float
    df2: float | None
    """Degrees of freedom of the denominator, if the statistic has an F distribution."""
    p: float
    effect: float
    """Epsilon squared, or Kendall's W: from 0 (no effect) to 1."""


@dataclass(frozen=True, slots=True)
class RankPair:
    """Two levels compared after a rank test."""

    first: int
    second: int
    z: float
    """Standardised difference of mean ranks, first - second."""
    p: float
    """P value after Holm's correction over all pairs."""


def kruskal_wallis(groups: Groups) -> RankTest:
    """Test by ranks that independent groups have the same distribution.

    H = 12 / (N (N + 1)) Σ R(j)² / n(j) - 3 (N + 1), over 1 - Σ (t³ - t) / (N³ - N) for ties, against
    chi-squared with k - 1 degrees of freedom. Source: Kruskal and Wallis 1952, "Use of ranks in one-criterion
    variance analysis". The effect is epsilon squared, H / (N - 1) (Kelley 1935).

    Raises:
        ValueError: If there are fewer than two groups, fewer than two values in one, or all are the same.

    >>> round(kruskal_wallis([[1, 2, 3], [4, 5, 6]]).statistic, 4)
    3.8571
    """
    values, ranks = _ranked(groups)
    n = ranks.size
    parts = np.split(ranks, np.cumsum([x.size for x in values])[:-1])
    spread = float(((ranks - (n + 1) / 2) ** 2).sum())
    between = sum(part.size * (float(part.mean()) - (n + 1) / 2) ** 2 for part in parts)
    h, df = (n - 1) * between / spread, len(values) - 1
    return RankTest(h, df, None, float(chdtrc(df, h)), h / (n - 1))


def dunn(groups: Groups) -> list[RankPair]:
    """Compare every pair of groups after `kruskal_wallis`, with its ranks, corrected by Holm's procedure.

    z = (mean rank i - mean rank j) / sqrt((N (N + 1) / 12 - Σ (t³ - t) / (12 (N - 1))) (1 / n(i) + 1 /
    n(j))).
    Source: Dunn 1964, "Multiple comparisons using rank sums"; Holm 1979.

    Raises:
        ValueError: As `kruskal_wallis`.
    """
    values, ranks = _ranked(groups)
    parts = np.split(ranks, np.cumsum([x.size for x in values])[:-1])
    variance = float(ranks.var(ddof=1))  # equals the bracket in the formula above, ties included
    pairs = list(combinations(range(len(parts)), 2))
    z = [_z(parts[i], parts[j], variance) for i, j in pairs]
    p = holm([2 * float(ndtr(-abs(value))) for value in z])
    return [RankPair(i, j, z[n], p[n]) for n, (i, j) in enumerate(pairs)]


def friedman(blocks: Sequence[Sequence[float]]) -> RankTest:
    """Test that no level tends to larger values within blocks, such as seeds.

    With ranks r within blocks, chi-squared = (k - 1) Σ (R(j) - n (k + 1) / 2)² / Σ (r² - (k + 1)² / 4), and F
    = (n - 1) chi-squared / (n (k - 1) - chi-squared) with k - 1 and (k - 1)(n - 1) degrees of freedom. F
    keeps its level with few blocks. If all levels are tied in every block, p is 1. The effect is Kendall's W,
    chi-squared / (n (k - 1)). Sources: Friedman 1937, "The use of ranks to avoid the assumption of normality
    implicit in the analysis of variance"; Iman and Davenport 1980, "Approximations of the critical region of
    the Friedman statistic".

    Args:
        blocks: A row per block, a column per level.

    Raises:
        ValueError: If there are fewer than two blocks or levels, or rows are of several lengths.

    >>> found = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(found.effect, 4)
    0.5625
    """
    table = np.asarray([vector(block, at_least=2, what="block") for block in blocks])
    if table.ndim != 2 or len(table) < 2:
        raise ValueError(f"blocks: two or more are needed, there are {len(table)}")
    n, k = table.shape
    ranks = ranked(table, axis=1)
    spread = float((ranks**2 - (k + 1) ** 2 / 4).sum())
    if spread == 0:
        return RankTest(0.0, k - 1, (k - 1) * (n - 1), 1.0, 0.0)
    chi2 = (k - 1) * float(((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()) / spread
    rest = n * (k - 1) - chi2
    f = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
    df1, df2 = k - 1, (k - 1) * (n - 1)
    return RankTest(f, df1, df2, float(fdtrc(df1, df2, f)), chi2 / (n * (k - 1)))


def _ranked(groups: Groups) -> tuple[list[Vector], Vector]:
    values = [vector(group, at_least=2, what=f"group {n}") for n, group in enumerate(groups)]
    if len(values) < 2:
        raise ValueError(f"groups: two or more are needed, there are {len(values)}")
    ranks = ranked(np.concatenate(values))
    if float(np.ptp(ranks)) == 0:
        raise ValueError("all values are the same; there is nothing to rank")
    return values, ranks


def _z(first: Vector, second: Vector, variance: float) -> float:
    error = math.sqrt(variance * (1 / first.size + 1 / second.size))
    return (float(first.mean()) - float(second.mean())) / error
