"""Rank tests and their effect sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr, ndtri, stdtrit

from fullpipe.analysis.statistics.anova import Groups, Matrix
from fullpipe.analysis.statistics.effect_sizes import Effect
from fullpipe.analysis.statistics.intervals import Interval, Vector, check_level, ranked, vector
from fullpipe.analysis.statistics.pairwise import holm

# Rank tests of groups, and of levels within blocks.


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
        ValueError: If there are fewer than two groups, fewer than two values in one group, or all values are
            the same.

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
    """Compare every pair of groups by the ranks of `kruskal_wallis`; p values are corrected by Holm's
    procedure.

    z = (mean rank i - mean rank j) / sqrt((N (N + 1) / 12 - Σ (t³ - t) / (12 (N - 1))) (1 / n(i) + 1 /
    n(j))).
    Source: Dunn 1964, "Multiple comparisons using rank sums"; Holm 1979.

    Raises:
        ValueError: In the same cases as `kruskal_wallis`.
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
    = (n - 1) chi-squared / (n (k - 1) - chi-squared) with k - 1 and (k - 1)(n - 1) degrees of freedom. With
    few blocks, the error rate of F is closer to its nominal value than the error rate of chi-squared. If all
    levels are tied in every block, p is 1. The effect is Kendall's W, chi-squared / (n (k - 1)). Sources:
    Friedman 1937, "The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance"; Iman and Davenport 1980, "Approximations of the critical region of the Friedman statistic".

    Args:
        blocks: A row per block, a column per level.

    Raises:
        ValueError: If there are fewer than two blocks or levels, or rows have different lengths.

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


# Effect sizes by ranks, with bootstrap intervals.


def epsilon_squared(groups: Groups, level: float = 0.95, *, resamples: int = 2_000, seed: int = 1) -> Effect:
    """Share of the variance of ranks that groups explain: H / (N - 1) (Kelley 1935; see `kruskal_wallis`).

    The interval is for the share in the population. The interval is computed from bootstrap draws within
    every group, with the bias-corrected value (H - k + 1) / (N - k) of each draw; see `_ends`. The same seed
    gives the same interval.

    Raises:
        ValueError: In the same cases as `kruskal_wallis`.
    """
    check_level(level)
    values = [vector(group, at_least=2, what=f"group {n}") for n, group in enumerate(groups)]
    found = kruskal_wallis(values)
    together = np.concatenate(values)
    of = np.repeat(range(len(values)), [x.size for x in values])
    distinct, places = np.unique(together, return_inverse=True)
    random = np.random.Generator(np.random.PCG64(seed))
    counts = np.zeros((len(values), resamples, distinct.size))
    for n, x in enumerate(values):
        drawn = random.multinomial(x.size, np.full(x.size, 1 / x.size), size=resamples)
        at, firsts = np.unique(np.sort(places[of == n]), return_index=True)
        counts[n][:, at] = np.add.reduceat(drawn[:, np.argsort(places[of == n])], firsts, axis=1)
    shares, unbiased = _explained(counts), together.size - len(values)
    k = len(values)
    drawn_values = (shares * (together.size - 1) - (k - 1)) / unbiased
    value = (found.statistic - (k - 1)) / unbiased
    return Effect("epsilon²", found.effect, _ends(drawn_values, value, together.size - k, level))


def _explained(counts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Vector:
    """Return, for every draw, the share of the variance of midranks between groups.

    Args:
        counts: Counts by group, draw and distinct value.
    """
    total = counts.sum(axis=0)
    middle = np.cumsum(total, axis=1) - (total - 1) / 2
    n = total.sum(axis=1, keepdims=True)
    away = middle - (n + 1) / 2
    spread = (total * away**2).sum(axis=1)
    sizes = counts.sum(axis=2)
    between = ((counts * away).sum(axis=2) ** 2 / sizes).sum(axis=0)
    return np.asarray(np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0))


def kendalls_w(
    blocks: Sequence[Sequence[float]], level: float = 0.95, *, resamples: int = 2_000, seed: int = 1
) -> Effect:
    """Agreement of blocks on the order of levels: W, from 0 to 1 (Kendall and Babington Smith 1939).

    The interval is for W with infinitely many blocks. The interval is computed from bootstrap draws of
    blocks. The value of a draw is the mean rank correlation of two blocks, (n W - 1) / (n - 1), which is
    unbiased; see `_ends`.

    Args:
        blocks: A row per block, such as a seed, and a column per level.
        level: Level of the interval.
        resamples: Number of draws.
        seed: Seed of the draws; the same seed gives the same interval.

    Raises:
        ValueError: In the same cases as `friedman`.
    """
    check_level(level)
    found = friedman(blocks)
    ranks = ranked(np.asarray(blocks, dtype=np.float64), axis=1)
    n = len(ranks)
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = random.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    agreement = (n * _agreement(drawn, ranks) - 1) / (n - 1)
    return Effect(
        "Kendall's W", found.effect, _ends(agreement, (n * found.effect - 1) / (n - 1), n - 1, level)
    )


def _agreement(counts: Matrix, ranks: Matrix) -> Vector:
    n, k = ranks.shape
    spread = counts @ (ranks**2 - (k + 1) ** 2 / 4).sum(axis=1)
    sums = ((counts @ ranks - n * (k + 1) / 2) ** 2).sum(axis=1)
    return np.asarray(np.divide(sums / n, spread, out=np.zeros_like(sums), where=spread > 0))


def _ends(drawn: Vector, value: float, freedom: int, level: float) -> Interval:
    """Percentile interval of the draws, centred on the value and widened for small samples.

    The widening replaces the normal quantile by Student's, and corrects the variance of draws, which is too
    small.

    Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13; Hesterberg 2015, "What
    teachers should know about the bootstrap", section 4.1, for the widening.
    """
    tail = (1 - level) / 2
    n = freedom + 1
    wider = math.sqrt(n / freedom) * float(stdtrit(freedom, 1 - tail)) / float(ndtri(1 - tail))
    low, high = (wider * (float(end) - float(drawn.mean())) for end in np.quantile(drawn, [tail, 1 - tail]))
    return Interval(
        min(max(value + low, 0.0), 1.0), max(min(value + high, 1.0), 0.0), level, "bootstrap-percentile"
    )
