"""Effective number of independent samples in a series of one run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

import numpy as np

from fullpipe.analysis.statistics.samples import vector


def lag1_autocorrelation(values: Iterable[float]) -> float:
    """r1 = Σ (x[t] - m)(x[t+1] - m) / Σ (x[t] - m)², with m the mean; 0 for a constant.

    Source: Box, Jenkins and Reinsel, "Time series analysis", section 2.1.

    >>> lag1_autocorrelation([1, 2, 3, 4, 5])
    0.4
    """
    x = vector(values, at_least=3)
    deviation = x - x.mean()
    spread = float(np.dot(deviation, deviation))
    return float(np.dot(deviation[:-1], deviation[1:])) / spread if spread > 0 else 0.0


def effective_sample_size(values: Iterable[float]) -> float:
    """Number of independent samples that would give the mean equally well: n (1 - r1) / (1 + r1).

    Exact for a long first-order autoregression. Source: Bayley and Hammersley 1946, "The effective number of
    independent observations in an autocorrelated time series". The result is between 1 and n: a negative r1,
    which would give more than n, counts as 0.

    >>> round(effective_sample_size([1, 2, 3, 4, 5]), 4)
    2.1429
    """
    x = vector(values, at_least=3)
    r1 = max(lag1_autocorrelation(x), 0.0)
    return float(np.clip(x.size * (1 - r1) / (1 + r1), 1, x.size))


def integrated_autocorrelation_time(values: Iterable[float]) -> float:
    """Number of values of a series that equal one independent value: 1 + 2 Σ r(k), at least 1.

    It is 1 for a constant. The sum ends before the first pair r(2k) + r(2k+1) that is not positive, where
    noise dominates. n over this time is the effective sample size of any series, while
    `effective_sample_size` assumes a first-order autoregression. Source: Geyer 1992, "Practical Markov chain
    Monte Carlo", section 3.3 (initial positive sequence).

    >>> round(integrated_autocorrelation_time([1, 2, 3, 2, 1, 2, 3, 2, 1, 1, 1, 3, 3, 3]), 4)
    1.6
    """
    x = vector(values, at_least=3)
    deviation = x - x.mean()
    square = np.correlate(deviation, deviation)[0]
    if square == 0:
        return 1.0

    def r(lag: int) -> float:
        return float(np.dot(deviation[: x.size - lag], deviation[lag:]) / square) if lag else 1.0

    pairs = (r(lag) + r(lag + 1) for lag in range(0, x.size // 2 * 2, 2))
    positive = np.fromiter(takewhile(lambda pair: not pair <= 0, pairs), float)
    return max(1.0, float(2 * positive.sum()) - 1)


def autocorrelation_warning(values: Iterable[float], name: str = "the series") -> str | None:
    """Return a warning if samples cannot be taken as independent; otherwise None.

    The limit is r1 > 2 / sqrt(n), the two-sided 5 % bound of white noise (Bartlett 1946).
    """
    x = vector(values, at_least=3)
    r1 = lag1_autocorrelation(x)
    if r1 <= 2 / np.sqrt(x.size):
        return None
    worth = effective_sample_size(x)
    return (
        f"{name}: {x.size} samples with lag-1 autocorrelation {r1:.2f} are worth about {worth:.0f} "
        "independent ones; compare runs with different seeds instead"
    )
