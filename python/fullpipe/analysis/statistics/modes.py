"""Two modes of runs: a test for a gap between their values, and statistics of each mode."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fullpipe.analysis.statistics.intervals import Interval, t_interval, wilson_interval
from fullpipe.analysis.statistics.samples import Vector, vector

FEWEST = 20
"""Fewest runs for the test: smaller samples rarely have the two runs of the rarer mode that it needs."""
_FEWEST_OF_A_MODE = 2
_GAP = 2.3
"""Smallest gap, in standard deviations within modes. One in 200 samples of 20 normal values has such a gap,
and even fewer larger samples."""
_RELEVANT = 0.05
"""A gap counts if it is at least this share of the larger mean."""


@dataclass(frozen=True, slots=True)
class Mode:
    """Statistics of the runs of one mode."""

    mean: float
    interval: Interval
    """Student's 95 % interval of the mean."""
    runs: int
    share: Interval
    """Wilson's 95 % interval of the probability of this mode."""


@dataclass(frozen=True, slots=True)
class TwoModes:
    """Runs divided into two modes by their values."""

    low: Mode
    high: Mode
    n: int


def two_modes(values: Iterable[float]) -> TwoModes | None:
    """Divide values into two modes if there is a gap between them.

    The sorted values are split with two or more on each side. The split with the largest gap counts, in
    standard deviations within the parts. If all values are positive, their logarithms must have the gap, too,
    so that skewed values are not taken for two modes.

    The idea is that of tests for two clusters (Engelman and Hartigan 1969, "Percentage points of a test for
    clusters"). The limit is ours, from a simulation: at 2.3, fewer than 1 % of samples of 20 to 100 normal
    values are called two modes.

    Returns:
        None if there is one mode, or there are fewer than 20 values.

    >>> two_modes([0.1, 0.2] * 2 + [9.8, 10.1, 10.0, 9.9] * 4).low.runs
    4
    """
    x = np.sort(vector(values, at_least=1))
    if x.size < FEWEST:
        return None
    gaps = _gaps(x)
    if x[0] > 0:
        gaps = np.minimum(gaps, _gaps(np.log(x)))
    place = int(gaps.argmax())
    split = place + _FEWEST_OF_A_MODE
    if gaps[place] < _GAP:
        return None
    low, high = x[:split], x[split:]
    scale = max(abs(float(low.mean())), abs(float(high.mean())))
    if float(high[0] - low[-1]) < _RELEVANT * scale:
        return None
    return TwoModes(_mode(low, x.size), _mode(high, x.size), x.size)


def _gaps(x: Vector) -> Vector:
    """Return the gap of every split, in standard deviations within both parts."""
    n, at = x.size, np.arange(_FEWEST_OF_A_MODE, x.size - _FEWEST_OF_A_MODE + 1)
    centred = x - x.mean()
    sums, squares = np.cumsum(centred), np.cumsum(centred**2)
    below = sums[at - 1]
    within = squares[-1] - below**2 / at - (sums[-1] - below) ** 2 / (n - at)
    deviation = np.sqrt(np.maximum(within, 1e-24 * squares[-1]) / (n - 2))
    gaps = x[at] - x[at - 1]
    return np.asarray(np.divide(gaps, deviation, out=np.zeros_like(gaps), where=deviation > 0))


def _mode(values: Vector, n: int) -> Mode:
    return Mode(float(values.mean()), t_interval(values), values.size, wilson_interval(values.size, n))
