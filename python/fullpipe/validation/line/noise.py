"""Distributions of what was measured without the noise of the measurement.

Noise widens a distribution, so that its largest and smallest values, which tell a full and an empty queue,
are those of the noise. It is known, as pings of an idle line differ by nothing else, and is taken out.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fullpipe.validation.line.measured import Floats

_LEAST = 0.002
"""Relative noise that is always there: queues differ by a packet."""
_MOST = 0.3
_STEPS_OF_NOISE = 3.0
"""Points of the grid per standard deviation of the noise."""
_MOST_POINTS = 2_000
_MOST_VALUES = 2_000
"""Of more values, so many at equal distances of their ranks say the same."""
_ROUNDS = 400
"""A choice: with 100 to 1,600 no buffer of 57 directions is off by more than 13.4 %, at 100 by 9.4 %."""
_MAD_OF_NORMAL = 0.6745
"""The median absolute value of a normal variable of standard deviation 1."""
_FAR = 3.0
"""Standard deviations. A choice: from 2 to 4.5 no RTT of 50 lines moves by more than 0.8 %."""


def relative_noise(values: Floats) -> float:
    """How much values that should be the same differ, relatively: the standard deviation of their logarithms,
    without those that are far above the median, which met a queue.

    Args:
        values: Above 0, shape (n,).
    """
    logs = np.log(values)
    off = logs - np.median(logs)
    near = off[off <= _FAR * float(np.median(np.abs(off))) / _MAD_OF_NORMAL]
    return float(np.clip(near.std(), _LEAST, _MOST))


def noise_of_steps(values: Floats) -> float:
    """How much values that change slowly differ from one to the next, relatively, beside that change.

    Formula: the median of |ln x[i+1] - ln x[i]| / (0.6745 sqrt(2)).
    Source: von Neumann, Kent, Bellinson and Hart, "The mean square successive difference", Annals of
    Mathematical Statistics 12, 1941, with the median in place of the mean, so that jumps do not count.

    Args:
        values: In the order of time, above 0, shape (n,).
    """
    if values.size < 3:
        return _LEAST
    steps = np.abs(np.diff(np.log(values)))
    return float(np.clip(np.median(steps) / (_MAD_OF_NORMAL * math.sqrt(2)), _LEAST, _MOST))


@dataclass(frozen=True)
class Distribution:
    """Shares of time at values."""

    values: Floats
    """Ascending, shape (m,)."""
    shares: Floats
    """Adding up to 1, shape (m,)."""

    def quantile(self, share: float) -> float:
        """The value below which a share lies."""
        place = int(np.searchsorted(np.cumsum(self.shares), share))
        return float(self.values[min(place, self.values.size - 1)])

    def mean_within(self, low: float, high: float) -> float:
        """The mean of what lies between two values, both included."""
        inside = (self.values >= low) & (self.values <= high)
        return float(np.average(self.values[inside], weights=self.shares[inside]))


def without_noise(values: Floats, noise: float) -> Distribution:
    """The distribution that, with noise of that relative size, makes what was measured most likely.

    Formula: the maximum of the likelihood over all distributions on a grid, by expectation and maximization.
    Source: Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 73, 1978.

    Args:
        values: Above 0, shape (n,), at least one.
        noise: Standard deviation, relative to the values.
    """
    return _most_likely(values.astype(np.float64).tobytes(), noise)


@lru_cache(maxsize=16)
def _most_likely(values: bytes, noise: float) -> Distribution:
    """See `without_noise`. A line and its buffer are found by several quantiles of the same pings."""
    logs = np.log(np.frombuffer(values))
    if logs.size > _MOST_VALUES:
        logs = np.sort(logs)[np.linspace(0, logs.size - 1, _MOST_VALUES).round().astype(int)]
    low, high = float(logs.min()) - noise, float(logs.max()) + noise
    points = min(max(2, math.ceil((high - low) / noise * _STEPS_OF_NOISE)), _MOST_POINTS)
    grid = np.linspace(low, high, points)
    near = np.exp(-0.5 * ((logs[:, None] - grid[None, :]) / max(noise, (high - low) / points)) ** 2)
    shares = np.full(points, 1 / points)
    parts = np.empty_like(near)
    for _ in range(_ROUNDS):
        np.multiply(near, shares, out=parts)
        np.divide(parts, np.maximum(parts.sum(axis=1, keepdims=True), 1e-300), out=parts)
        shares = parts.mean(axis=0)
    return Distribution(np.exp(grid), shares)
