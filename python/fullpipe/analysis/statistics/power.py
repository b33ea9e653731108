"""Power of tests, and the number of runs that is enough to find a difference."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from scipy.special import fdtrc, stdtrit

from fullpipe.analysis.statistics.anova import FTest
from fullpipe.analysis.statistics.effect_sizes import noncentral_t
from fullpipe.analysis.statistics.equivalence import MOST_SEEDS, MeanContrast
from fullpipe.analysis.statistics.intervals import check_level, vector

MOST_SIMULATED = 5_000
_REPETITIONS = 1_000


def power_of_pairs(n: int, difference: float, deviation: float, level: float = 0.95) -> float:
    """Power of the two-sided t-test that the mean of n paired differences is 0.

    1 - F(t) + F(-t) of the noncentral t distribution with n - 1 degrees of freedom and noncentrality
    difference sqrt(n) / deviation. Source: Cohen 1988, "Statistical power analysis for the behavioral
    sciences", chapter 2.

    Args:
        n: Number of pairs.
        difference: The true mean of the differences, in any unit.
        deviation: The true standard deviation of the differences, in the same unit.
        level: One minus the allowed rate of false positives.

    Raises:
        ValueError: If there are fewer than two pairs, or the deviation is not positive.

    >>> round(power_of_pairs(34, difference=0.5, deviation=1), 3)
    0.808
    """
    check_level(level)
    if n < 2 or not deviation > 0:
        raise ValueError(f"n: {n}, deviation: {deviation:g}; give two pairs or more and a deviation above 0")
    limit = float(stdtrit(n - 1, (1 + level) / 2))
    centre = difference * math.sqrt(n) / deviation
    return 1 - noncentral_t(limit, n - 1, centre) + noncentral_t(-limit, n - 1, centre)


def pairs_for_power(
    difference: float, deviation: float, power: float = 0.9, level: float = 0.95
) -> int | None:
    """Least number of pairs with a `power_of_pairs` of at least `power`; None if a million are too few.

    Raises:
        ValueError: If the deviation is not positive, or the power is not between 0 and 1.

    >>> pairs_for_power(0.5, 1, power=0.8)
    34
    """
    if not 0 < power < 1:
        raise ValueError(f"power: {power} is not between 0 and 1")

    def is_enough(n: int) -> bool:
        return power_of_pairs(n, difference, deviation, level) >= power

    if not is_enough(MOST_SEEDS):
        return None
    high = 2
    while not is_enough(high):
        high = min(2 * high, MOST_SEEDS)
    return bisect_left(range(high), True, 2, key=is_enough)


def pairs_by_simulation(
    differences: Iterable[float],
    difference: float,
    power: float = 0.9,
    level: float = 0.95,
    *,
    seed: int = 1,
) -> int | None:
    """Least number of pairs for a power, with differences of any distribution, such as two modes.

    Differences of a pilot are drawn with replacement. Drawn differences are shifted to the mean `difference`,
    and scaled by sqrt(n / (n - 1)) so that draws have the sample's variance. The t-test is done on 1,000
    draws of each size. Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 25. The
    same seed gives the same number.

    Returns:
        None if 5,000 pairs are too few.

    Raises:
        ValueError: If there are fewer than two differences, all differences are the same, or the power is not
            between 0 and 1.
    """
    check_level(level)
    if not 0 < power < 1:
        raise ValueError(f"power: {power} is not between 0 and 1")
    x = vector(differences, at_least=2, what="differences")
    if float(np.ptp(x)) == 0:
        raise ValueError("differences: all are equal; the simulation needs differences that vary")
    x = difference + (x - x.mean()) * math.sqrt(x.size / (x.size - 1))

    def is_enough(n: int) -> bool:
        random = np.random.Generator(np.random.PCG64([seed, n]))
        drawn = x[random.integers(0, x.size, size=(_REPETITIONS, n))]
        means, deviations = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
        limit = float(stdtrit(n - 1, (1 + level) / 2))
        return float(np.mean(np.abs(means) * math.sqrt(n) > limit * deviations)) >= power

    high = 4
    while not is_enough(high):
        if high == MOST_SIMULATED:
            return None
        high = min(2 * high, MOST_SIMULATED)
    return bisect_left(range(high), True, max(high // 2, 2), key=is_enough)


def seeds_that_decide(
    found: FTest,
    pairs: Iterable[tuple[MeanContrast, float]],
    seeds: int,
    *,
    level: float = 0.95,
    tests: float = 1.0,
) -> int | None:
    """Number of seeds at which an F test rejects, or all pairs of levels are within their margins.

    Means and variances are assumed to stay the same. F and the degrees of freedom of the error then grow with
    the number of runs, and standard errors fall with its root. For two levels see `pairs_that_decide`.

    Args:
        found: The F test with the present seeds.
        pairs: The contrast of every pair of levels, with its margin in the unit of the values.
        seeds: The present number of seeds.
        level: One minus the error rate of each test.
        tests: Number by which the error rate of the F test is divided.

    Returns:
        None if a million seeds are not enough.
    """
    listed, error = list(pairs), 1 - level

    def rejects(n: int) -> bool:
        k = n / seeds
        return float(fdtrc(found.df1, k * found.df2, k * found.f)) < error / tests

    def is_within(n: int) -> bool:
        k = n / seeds
        return all(
            abs(pair.difference) + float(stdtrit(k * pair.df, level)) * pair.error / math.sqrt(k) < margin
            for pair, margin in listed
        )

    decided = [
        is_enough for is_enough in (rejects, *([is_within] if listed else [])) if is_enough(MOST_SEEDS)
    ]
    return min((bisect_left(range(MOST_SEEDS), True, 2, key=each) for each in decided), default=None)
