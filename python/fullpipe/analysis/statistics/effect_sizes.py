"""Effect sizes with their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from scipy.special import chdtri, gammaln, ncfdtr, ndtr, stdtrit

from fullpipe.analysis.statistics.anova import FTest
from fullpipe.analysis.statistics.intervals import (
    Interval,
    Vector,
    check_level,
    ratio_ends,
    root,
    vector,
    welch_error,
)

# Effect sizes: how large a difference is, apart from its significance.


Magnitude = Literal["negligible", "small", "medium", "large"]
"""Words for the size of an effect: see `magnitude_of_delta`."""


def cohens_d(first: Iterable[float], second: Iterable[float]) -> float:
    """Difference of means in pooled standard deviations; positive if the first is larger.

    d = (mean1 - mean2) / sqrt(((n1 - 1) s1² + (n2 - 1) s2²) / (n1 + n2 - 2)). Source: Cohen 1988,
    "Statistical power analysis for the behavioral sciences". If no value varies within a sample, d is 0 for
    equal means, else an infinity with the sign of the difference.

    >>> cohens_d([2, 4, 6], [1, 3, 5])
    0.5
    """
    a = vector(first, at_least=2, what="first")
    b = vector(second, at_least=2, what="second")
    pooled = ((a.size - 1) * a.var(ddof=1) + (b.size - 1) * b.var(ddof=1)) / (a.size + b.size - 2)
    difference = float(a.mean() - b.mean())
    if pooled == 0:
        return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    return difference / float(np.sqrt(pooled))


def cliffs_delta(first: Iterable[float], second: Iterable[float]) -> float:
    """P(first > second) - P(first < second) over all pairs of values: from -1 to 1.

    δ = (#(x > y) - #(x < y)) / (n1 n2) over all pairs. Source: Cliff 1993, "Dominance statistics". Cliff's δ
    assumes nothing about the distributions, so it also suits flows that either starve or get a full share.

    >>> round(cliffs_delta([1, 2, 3], [2, 3, 4]), 4)
    -0.5556
    """
    a = vector(first, at_least=1, what="first")
    b = vector(second, at_least=1, what="second")
    return float(np.sign(a[:, None] - b[None, :]).mean())


def magnitude_of_delta(delta: float) -> Magnitude:
    """Word for Cliff's δ: small from 0.147, medium from 0.33, large from 0.474 (Romano et al. 2006)."""
    size = abs(delta)
    if size < 0.147:
        return "negligible"
    if size < 0.33:
        return "small"
    return "medium" if size < 0.474 else "large"


# Distributions, by integration over the sample standard deviation: noncentral t, and studentized range.


_NODES = np.polynomial.legendre.leggauss(200)
_FEW_NODES = np.polynomial.legendre.leggauss(80)
_FARTHEST = 8.0
"""Limit of integration over a normal value, in standard deviations."""


def noncentral_t(t: float, freedom: float, noncentrality: float) -> float:
    """P(T <= t) = E[Φ(t s - noncentrality)], with s² chi-squared over its degrees of freedom.

    Source: Johnson and Welch 1940, "Applications of the non-central t-distribution".
    """
    s, weights = _deviations(freedom)
    return float(weights @ ndtr(t * s - noncentrality))


def studentized_range(q: float, groups: int, freedom: float) -> float:
    """P(Q <= q), where Q is the range of the means of groups over their standard error.

    E[k ∫ φ(z) (Φ(z) - Φ(z - q s))^(k - 1) dz], with s as in `noncentral_t`. Source: Lund and Lund 1983,
    "Probabilities and upper quantiles for the studentized range".
    """
    s, weights = _deviations(freedom)
    nodes, own = _FEW_NODES
    z = _FARTHEST * nodes
    inner = (ndtr(z) - ndtr(z - q * s[:, None])) ** (groups - 1)
    density = np.exp(-(z**2) / 2) * own * _FARTHEST / math.sqrt(2 * math.pi)
    return float(weights @ (groups * (inner @ density)))


@lru_cache(maxsize=1024)
def studentized_range_quantile(level: float, groups: int, freedom: float) -> float:
    """Return the q with P(Q <= q) = level."""

    @cache  # the loop below has already computed the upper end of the search
    def beyond(q: float) -> float:
        return (studentized_range(q, groups, freedom) if q else 0.0) - level  # P(Q <= 0) = 0

    high = 10.0
    while beyond(high) < 0:
        high *= 2
    return root(beyond, 0.0, high, xtol=1e-8)


@lru_cache(maxsize=256)
def _deviations(freedom: float) -> tuple[Vector, Vector]:
    """Return values of s of `noncentral_t` and their weights: Gauss-Legendre quadrature between the quantiles
    1e-15 and 1 - 1e-15."""
    low, high = (math.sqrt(float(chdtri(freedom, tail)) / freedom) for tail in (1 - 1e-15, 1e-15))
    nodes, weights = _NODES
    s = low + (high - low) * (nodes + 1) / 2
    logarithm = (freedom - 1) * np.log(s) - freedom * s**2 / 2
    density = weights * np.exp(logarithm - logarithm.max())
    return s, density / density.sum()


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect size with its interval."""

    name: str
    value: float
    interval: Interval | None
    """None if the interval is undefined: see the function that returned the effect."""


def eta_squared(found: FTest, level: float = 0.95) -> Effect:
    """Share of the variance that a factor explains in this sample (partial); biased upwards.

    η² = df1 F / (df1 F + df2). The interval is for the share in the population, λ / (λ + N). The ends of the
    interval follow from the two λ for which the observed F is the upper or the lower quantile of the
    noncentral F distribution. The interval assumes equal variances, like `anova` and `two_way_anova`. Source:
    Steiger 2004, "Beyond the F test: effect size confidence intervals and tests of close fit in the analysis
    of variance and contrast analysis".
    """
    explained = found.df1 * found.f
    return Effect("eta²", explained / (explained + found.df2), _explained(found, level))


def omega_squared(found: FTest, level: float = 0.95) -> Effect:
    """Share of the variance that a factor explains (partial), nearly unbiased; 0 if the estimate is negative.

    ω² = df1 (F - 1) / (df1 (F - 1) + N). Source: Hays 1963, "Statistics for psychologists"; Olejnik and
    Algina 2003 for partial ω². The interval is the same as in `eta_squared`.
    """
    more = found.df1 * (found.f - 1)
    return Effect("omega²", max(more / (more + found.n), 0.0), _explained(found, level))


def _explained(found: FTest, level: float) -> Interval:
    check_level(level)

    def share(quantile: float) -> float:
        def beyond(noncentrality: float) -> float:
            return float(ncfdtr(found.df1, found.df2, noncentrality, found.f)) - quantile

        noncentrality = _root(beyond, found.f * found.df1)
        return noncentrality / (noncentrality + found.n)

    return Interval(share((1 + level) / 2), share((1 - level) / 2), level, "noncentral F")


def _root(beyond: Callable[[float], float], about: float) -> float:
    """Return the root of a decreasing function on [0, inf); 0 if the function is not positive at 0."""
    if beyond(0.0) <= 0:
        return 0.0
    high = 2 * about + 10
    while beyond(high) > 0:
        high *= 2
    return root(beyond, 0.0, high, xtol=1e-9, rtol=1e-9)


def hedges_g(first: Iterable[float], second: Iterable[float], level: float = 0.95) -> Effect:
    """Difference of means in pooled standard deviations, first - second, nearly unbiased.

    g = J d with Cohen's d and J = Γ(ν / 2) / (sqrt(ν / 2) Γ((ν - 1) / 2)), ν = n1 + n2 - 2. The interval has
    all noncentralities for which t = d / sqrt(1 / n1 + 1 / n2) is between both quantiles of the noncentral t
    distribution. The interval is None if no side varies. Sources: Hedges 1981, "Distribution theory for
    Glass's estimator of effect size and related estimators"; Cumming and Finch 2001, "A primer on the
    understanding, use, and calculation of confidence intervals".
    """
    a, b = vector(first, at_least=2, what="first"), vector(second, at_least=2, what="second")
    return _standardised("Hedges' g", cohens_d(a, b), a.size + b.size - 2, 1 / a.size + 1 / b.size, level)


def hedges_g_of_pairs(reference: Iterable[float], other: Iterable[float], level: float = 0.95) -> Effect:
    """Mean of the differences other - reference in standard deviations of these differences, nearly unbiased.

    The formula is that of `hedges_g` for one sample: d = mean / sd, ν = n - 1, t = d sqrt(n). The result
    grows with the correlation of both sides. Source: Hedges 1981.

    Raises:
        ValueError: If there are fewer than two pairs, or a value has no partner.
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    if a.size != b.size:
        raise ValueError(f"reference has {a.size} values, other has {b.size}; give two values per pair")
    d = b - a
    deviation, mean = float(d.std(ddof=1)), float(d.mean())
    size = mean / deviation if deviation else float(np.copysign(np.inf, mean)) if mean else 0.0
    return _standardised("Hedges' g of pairs", size, d.size - 1, 1 / d.size, level)


def _standardised(name: str, d: float, freedom: int, scale: float, level: float) -> Effect:
    check_level(level)
    corrected = d if freedom < 2 else d * _correction(freedom)
    if not math.isfinite(d):
        return Effect(name, d, None)
    t = d / math.sqrt(scale)

    def bound(quantile: float) -> float:
        def beyond(noncentrality: float) -> float:
            return noncentral_t(t, freedom, noncentrality) - quantile

        reach = abs(t) + 10
        while beyond(-reach) < 0 or beyond(reach) > 0:
            reach *= 2
        return root(beyond, -reach, reach, xtol=1e-9) * math.sqrt(scale)

    ends = Interval(bound((1 + level) / 2), bound((1 - level) / 2), level, "noncentral t")
    return Effect(name, corrected, ends)


def _correction(freedom: int) -> float:
    return math.exp(float(gammaln(freedom / 2) - gammaln((freedom - 1) / 2))) / math.sqrt(freedom / 2)


def cliffs_delta_interval(
    first: Iterable[float], second: Iterable[float], *, pairs: bool = False, level: float = 0.95
) -> Effect:
    """Cliff's δ with its interval: P(first > second) - P(first < second).

    (δ - δ³ ± z s sqrt((1 - δ²)² + z² s²)) / (1 - δ² + z² s²), where s² is the variance of δ, from the
    dominance of every value over the values of the other side. Sources: Cliff 1996, "Answering ordinal
    questions with ordinal data using ordinal statistics"; Feng and Cliff 2004, "Monte Carlo evaluation of
    ordinal d with improved confidence interval". The interval is None if all values of one side exceed all
    values of the other side.

    Args:
        first: One value per run.
        second: One value per run.
        pairs: Whether values are paired by position, so that their dominances vary together.
        level: Level of the interval.
    """
    check_level(level)
    a, b = vector(first, at_least=2, what="first"), vector(second, at_least=2, what="second")
    delta = cliffs_delta(a, b)
    wins = np.sign(a[:, None] - b[None, :])
    of_first, of_second = wins.mean(axis=1) - delta, wins.mean(axis=0) - delta
    if pairs:
        variance = float(((of_first + of_second) ** 2).sum()) / (a.size * (a.size - 1))
    else:
        variance = _spread(of_first) + _spread(of_second)
    if abs(delta) == 1 or variance == 0:
        return Effect("Cliff's delta", delta, None)
    freedom = (a.size if pairs else a.size + b.size - 1) - 1
    z = float(stdtrit(freedom, (1 + level) / 2))
    middle, rest = delta - delta**3, 1 - delta**2
    half = z * math.sqrt(variance * (rest**2 + z**2 * variance))
    ends = ((middle - half) / (rest + z**2 * variance), (middle + half) / (rest + z**2 * variance))
    return Effect("Cliff's delta", delta, Interval(max(ends[0], -1.0), min(ends[1], 1.0), level, "Cliff"))


def _spread(of_values: Vector) -> float:
    return float((of_values**2).sum()) / (of_values.size * (of_values.size - 1))


def ratio_of_pairs(reference: Iterable[float], other: Iterable[float], level: float = 0.95) -> Effect:
    """Ratio of the means, other over reference, of values that are paired by position.

    The interval is the set of r with t² (s_oo - 2 r s_or + r² s_rr) / n >= (mean_o - r mean_r)². The interval
    is None if the mean of the reference does not differ significantly from 0, because the interval would be
    unbounded.
    Source: Fieller 1954, "Some problems in interval estimation".

    Raises:
        ValueError: If there are fewer than two pairs, a value has no partner, or the mean of the reference is
            0.

    >>> found = ratio_of_pairs([10, 11, 9, 10], [12, 13, 11, 12])
    >>> round(found.value, 4)
    1.2
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    if a.size != b.size:
        raise ValueError(f"reference has {a.size} values, other has {b.size}; give two values per pair")
    covariance = np.cov(a, b) / a.size
    return _fieller(a, b, float(covariance[0, 1]), a.size - 1, level)


def ratio(reference: Iterable[float], other: Iterable[float], level: float = 0.95) -> Effect:
    """Ratio of the means, other over reference, of independent values.

    The interval is that of `ratio_of_pairs` without a covariance, and with the degrees of freedom of
    `welch_interval`. Source: Fieller 1954.

    Raises:
        ValueError: If there are fewer than two values on a side, or the mean of the reference is 0.
    """
    a, b = vector(reference, at_least=2, what="reference"), vector(other, at_least=2, what="other")
    _, freedom = welch_error(a, b)
    return _fieller(a, b, 0.0, freedom, level)


def _fieller(a: Vector, b: Vector, covariance: float, freedom: float, level: float) -> Effect:
    check_level(level)
    mean_a, mean_b = float(a.mean()), float(b.mean())
    if mean_a == 0:
        raise ValueError("reference: the mean is 0, so that the ratio is undefined")
    variances = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    ends = ratio_ends(mean_a, mean_b, variances, covariance, float(stdtrit(freedom, (1 + level) / 2)))
    return Effect("ratio", mean_b / mean_a, Interval(*ends, level, "Fieller") if ends else None)
