"""Samples, their summaries and confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

# Checks of samples: a vector of finite floats, or an error with the reason.


Vector = npt.NDArray[np.float64]
Numbers = TypeVar("Numbers", float, Vector)


def vector(values: Iterable[float], *, at_least: int, what: str = "values") -> Vector:
    """Return the values as a vector. Raises ValueError for too few values, for NaN and for infinities."""
    result = np.asarray(list(values), dtype=np.float64)
    if result.size < at_least:
        raise ValueError(f"{what}: {at_least} or more numbers are needed, there are {result.size}")
    if not np.isfinite(result).all():
        raise ValueError(
            f"{what}: every number must be finite; leave out missing values, and report how many"
        )
    return result


# Functions of scipy that are imported on first use: `scipy.stats` alone takes half a second to import.


def ranked(values: npt.ArrayLike, axis: int | None = None) -> npt.NDArray[np.float64]:
    """Return ranks from 1, per row with `axis=1`; equal values share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=axis), dtype=np.float64)


def rank_correlation(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return Spearman's rank correlation of two samples of the same length; NaN if one does not vary."""
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def root(function: Callable[[float], float], low: float, high: float, **tolerances: Any) -> float:
    """Return a root between two arguments at which a function has different signs, by Brent's method."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, **tolerances))


# Summaries of replicates.


@dataclass(frozen=True, slots=True)
class Summary:
    """Five numbers of a box plot, and the moments.

    `sd` is the sample standard deviation, sqrt(sum (x - mean)^2 / (n - 1)), and `sem` is sd / sqrt(n); both
    are NaN for a single value. Quartiles are interpolated linearly (Hyndman and Fan
    1996, "Sample quantiles in statistical packages", definition 7)."""

    n: int
    mean: float
    sd: float
    sem: float
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float


def summarise(values: Iterable[float]) -> Summary:
    """Summarise one or more finite numbers.

    >>> summarise([1, 2, 3, 4, 5]).median
    3.0
    """
    x = vector(values, at_least=1)
    sd = float(x.std(ddof=1)) if x.size > 1 else float("nan")
    low, q1, median, q3, high = five_numbers(x)
    return Summary(
        n=int(x.size),
        mean=float(x.mean()),
        sd=sd,
        sem=sd / float(np.sqrt(x.size)),
        minimum=low,
        q1=q1,
        median=median,
        q3=q3,
        maximum=high,
    )


def five_numbers(values: Vector) -> tuple[float, float, float, float, float]:
    """Minimum, quartiles and maximum, the numbers of a box plot: see `Summary`."""
    low, q1, median, q3, high = (float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    return low, q1, median, q3, high


# Confidence intervals over replicates.


Method = Literal[
    "t",
    "welch",
    "bootstrap-percentile",
    "bootstrap-bca",
    "noncentral F",
    "noncentral t",
    "Cliff",
    "Fieller",
    "Wilson",
    "studentized range",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval with its level and method."""

    low: float
    high: float
    level: float
    method: Method

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def half_width(self) -> float:
        """Half of the distance from `low` to `high`."""
        return (self.high - self.low) / 2

    def clipped(self, low: float = -math.inf, high: float = math.inf) -> Interval:
        """Return the interval truncated to the range of the quantity.

        >>> t_interval([0.98, 1.0]).clipped(high=1).high
        1
        """
        return replace(self, low=min(max(self.low, low), high), high=max(min(self.high, high), low))


def check_level(level: float) -> None:
    """Raise ValueError unless a level is between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level: {level} is not between 0 and 1")


def t_half_width(deviation: Numbers, n: Numbers, level: float = 0.95) -> Numbers:
    """Half-width of Student's interval of a mean: t(n - 1, (1 + level) / 2) · sd / sqrt(n).

    `deviation` is the sample standard deviation of n values. Arrays give an array. The result is NaN for
    fewer than two values.

    >>> round(float(t_half_width(1.0, 4)), 4)
    1.5912
    """
    half: Numbers = stdtrit(n - 1, (1 + level) / 2) * deviation / np.sqrt(n)
    return half


def prediction_limit(n: int, beyond: float) -> float:
    """Distance from the mean of n values, in their standard deviations, that one more value exceeds on one
    side with the probability `beyond`: t(n - 1, 1 - beyond) · sqrt(1 + 1 / n).

    >>> round(prediction_limit(4, 0.025), 4)
    3.5581
    """
    return -float(stdtrit(n - 1, beyond)) * math.sqrt(1 + 1 / n)


def t_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """Interval of the mean: mean ± t(n - 1, (1 + level) / 2) · sd / sqrt(n).

    Source: Student 1908, "The probable error of a mean". The interval is exact for normal replicates and good
    for the means of many flows; with strongly skewed replicates use
    [`bootstrap_interval`][fullpipe.analysis.statistics.bootstrap_interval].

    >>> interval = t_interval([1, 2, 3, 4, 5])
    >>> round(interval.low, 4), round(interval.high, 4)
    (1.0368, 4.9632)
    """
    check_level(level)
    x = vector(values, at_least=2)
    half, mean = float(t_half_width(float(x.std(ddof=1)), x.size, level)), float(x.mean())
    return Interval(mean - half, mean + half, level, "t")


def welch_interval(first: Iterable[float], second: Iterable[float], level: float = 0.95) -> Interval:
    """Interval of the difference of two means, first - second, whose variances may differ.

    Formula: difference ± t(ν, (1 + level) / 2) · sqrt(v1 + v2), with v = sd² / n of each side and
    ν = (v1 + v2)² / (v1² / (n1 - 1) + v2² / (n2 - 1)). If neither side varies, both ends are the difference.
    Source: Welch 1947, "The generalization of Student's problem when several different population variances
    are involved".

    >>> interval = welch_interval([2, 4, 6], [1, 2, 3])
    >>> round(interval.low, 4), round(interval.high, 4)
    (-2.1554, 6.1554)
    """
    check_level(level)
    a, b = vector(first, at_least=2, what="first"), vector(second, at_least=2, what="second")
    error, freedom = welch_error(a, b)
    half, difference = float(stdtrit(freedom, (1 + level) / 2)) * error, float(a.mean() - b.mean())
    return Interval(difference - half, difference + half, level, "welch")


def welch_error(first: Vector, second: Vector) -> tuple[float, float]:
    """Standard error of the difference of two means whose variances may differ, and its degrees of freedom.

    The formulas are those of `welch_interval`. Without variance, the shares of both sides count as equal."""
    v1, v2 = (float(x.var(ddof=1)) / x.size for x in (first, second))
    share = v1 / (v1 + v2) if v1 + v2 else 0.5  # a share: the square of a tiny variance would underflow
    freedom = 1 / (share**2 / (first.size - 1) + (1 - share) ** 2 / (second.size - 1))
    return math.sqrt(v1 + v2), freedom


def ratio_ends(
    denominator: float, numerator: float, variances: tuple[float, float], covariance: float, critical: float
) -> tuple[float, float] | None:
    """Ends of the interval of a ratio of two means, by Fieller's theorem.

    The interval is the set of r with t² (v_n - 2 r c + r² v_d) >= (numerator - r denominator)². None if the
    denominator is less than t standard errors away from 0, because the interval would be unbounded.
    Source: Fieller 1954, "Some problems in interval estimation".

    Args:
        denominator: Mean below the line.
        numerator: Mean above the line.
        variances: Squared standard errors v_d and v_n of both means.
        covariance: Covariance c of both means.
        critical: Quantile t, in standard errors.

    >>> ratio_ends(10, 5, (0, 1), 0, 2)
    (0.3, 0.7)
    """
    t2, (below, above) = critical**2, variances
    square = denominator**2 - t2 * below
    linear = denominator * numerator - t2 * covariance
    constant = numerator**2 - t2 * above
    if square <= 0:
        return None
    root = math.sqrt(max(linear**2 - square * constant, 0.0))
    return (linear - root) / square, (linear + root) / square


def relative_interval(
    reference: Iterable[float],
    other: Iterable[float],
    level: float = 0.95,
    *,
    pairs: bool,
    critical: float | None = None,
) -> Interval | None:
    """Interval of a relative change: the difference of two means, other - reference, over the size of the
    mean of the reference.

    The interval is that of a ratio: see `ratio_ends`. The covariance of difference and reference is that of
    the pairs, or minus the squared error of the reference if the values are independent. Degrees of freedom
    are those of Student's interval of pairs, or those of `welch_interval`. The interval therefore excludes 0
    if, and only if, the interval of the absolute difference does.

    Args:
        reference: Values of the reference.
        other: Values of the other side.
        level: Confidence level.
        pairs: Whether values are paired by position.
        critical: Quantile in standard errors of a difference, for simultaneous intervals; by default, the
            quantile of Student's t.

    Returns:
        None if there are fewer than two values on a side, or if the mean of the reference is not
        significantly different from 0.

    Raises:
        ValueError: If a value has no partner, or `level` is not between 0 and 1.

    >>> found = relative_interval([10, 11, 9, 10], [12, 13, 11, 12], pairs=True)
    >>> round(found.low, 4), round(found.high, 4)
    (0.177, 0.2299)
    """
    check_level(level)
    a, b = vector(reference, at_least=0, what="reference"), vector(other, at_least=0, what="other")
    if min(a.size, b.size) < 2:
        return None
    if pairs and a.size != b.size:
        raise ValueError(f"reference has {a.size} values, other has {b.size}; give two values per pair")
    below = float(a.var(ddof=1)) / a.size
    if pairs:
        table = np.cov(a, b - a) / a.size
        above, covariance, freedom = float(table[1, 1]), float(table[0, 1]), a.size - 1.0
    else:
        error, freedom = welch_error(a, b)
        above, covariance = error**2, -below
    t = float(stdtrit(freedom, (1 + level) / 2)) if critical is None else critical
    mean = float(a.mean())
    return share_interval(mean, float(b.mean()) - mean, (below, above), covariance, t, level)


def share_interval(
    reference: float,
    difference: float,
    variances: tuple[float, float],
    covariance: float,
    critical: float,
    level: float,
) -> Interval | None:
    """Interval of a difference as a share of the size of a reference: see `ratio_ends`."""
    found = ratio_ends(reference, difference, variances, covariance, critical)
    if found is None:
        return None
    low, high = sorted(math.copysign(1, reference) * end for end in found)
    return Interval(low, high, level, "Fieller")


def wilson_interval(successes: int, n: int, level: float = 0.95) -> Interval:
    """Interval of a probability after `successes` in `n` runs.

    (p + z² / 2n ± z sqrt(p (1 - p) / n + z² / 4n²)) / (1 + z² / n). Source: Wilson 1927, "Probable inference,
    the law of succession, and statistical inference".

    Raises:
        ValueError: If there is no run, or there are more successes than runs.

    >>> found = wilson_interval(4, 20)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0807, 0.416)
    """
    check_level(level)
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} of {n}: give one run or more, and 0 to {n} successes")
    z, p = float(ndtri((1 + level) / 2)), successes / n
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    middle, scale = p + z**2 / (2 * n), 1 + z**2 / n
    return Interval(max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0), level, "Wilson")


def bootstrap_interval(
    values: Iterable[float],
    statistic: Callable[[Vector], float] = lambda x: float(np.mean(x)),
    *,
    level: float = 0.95,
    method: Method = "bootstrap-bca",
    resamples: int = 10_000,
    seed: int = 1,
) -> Interval:
    """Bootstrap interval of any statistic: replicates are drawn with replacement.

    Percentile: the (1 ± level)/2 quantiles of the statistic over the resamples. BCa shifts both quantiles p
    to Φ(z0 + (z0 + z_p) / (1 - a (z0 + z_p))), with the bias z0 = Φ⁻¹(share of resamples below the estimate,
    ties half) and the acceleration a = Σ d³ / (6 (Σ d²)^1.5) of the jack-knife deviations d. Source: Efron
    1987, "Better bootstrap confidence intervals". The same seed gives the same interval.

    Raises:
        ValueError: If there are fewer than two values or 100 resamples, `level` is not between 0 and 1, or
            there is no such method.
    """
    check_level(level)
    if resamples < 100:
        raise ValueError(f"resamples: {resamples} are too few to find a quantile; take 1000 or more")
    x = vector(values, at_least=2)
    draws = np.random.Generator(np.random.PCG64(seed)).integers(0, x.size, size=(resamples, x.size))
    found = np.array([statistic(x[draw]) for draw in draws])
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "bootstrap-bca":
        tails = _bca_tails(tails, x, statistic, found)
    elif method != "bootstrap-percentile":
        raise ValueError(f"method: {method!r} is not bootstrap-bca or bootstrap-percentile")
    low, high = (float(q) for q in np.quantile(found, tails))
    return Interval(low, high, level, method)


def _bca_tails(tails: Vector, x: Vector, statistic: Callable[[Vector], float], found: Vector) -> Vector:
    estimate = statistic(x)
    below = float(np.mean(found < estimate) + np.mean(found == estimate) / 2)
    left_out = np.array([statistic(np.delete(x, i)) for i in range(x.size)])
    deviation = left_out.mean() - left_out
    spread = float(np.sum(deviation**2))
    if spread == 0 or not 0 < below < 1:
        return tails
    acceleration = float(np.sum(deviation**3)) / (6 * spread**1.5)
    bias = float(ndtri(below))
    shifted = bias + ndtri(tails)
    return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)), dtype=np.float64)


# Confidence band around an empirical distribution function.


def dkw_half_width(n: int, level: float = 0.95) -> float:
    """Half-width of a band around the empirical distribution function that covers the true function
    everywhere.

    Formula: sqrt(ln(2 / (1 - level)) / (2 n)).
    Source: Dvoretzky, Kiefer and Wolfowitz 1956; with the constant of Massart 1990, "The tight constant in
    the Dvoretzky-Kiefer-Wolfowitz inequality".

    Args:
        n: Number of independent values, one per run.
        level: Probability that the whole function is inside the band.

    Raises:
        ValueError: If there is no value, or `level` is not between 0 and 1.

    >>> round(dkw_half_width(100), 4)
    0.1358
    """
    check_level(level)
    if n < 1:
        raise ValueError(f"n: {n} is below 1")
    return math.sqrt(math.log(2 / (1 - level)) / (2 * n))
