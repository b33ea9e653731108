"""Runs of two kinds: a test by the gap between them, and what is said of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fullpipe.analysis.statistics.intervals import Interval, t_interval, wilson_interval
from fullpipe.analysis.statistics.samples import Vector, vector

FEWEST = 20
"""Of fewer runs nothing is said: two of the rarer kind are needed, which fewer rarely have."""
_FEWEST_OF_A_MODE = 2
_GAP = 2.3
"""In standard deviations within modes. Of 20 normal values one in 200 has such a gap, of more even fewer."""
_RELEVANT = 0.05
"""A gap counts if it is at least this share of the larger mean."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One kind of runs."""

    mean: float
    interval: Interval
    """Student's, 95 %, of the mean."""
    runs: int
    share: Interval
    """Wilson's, 95 %, of the probability that a run is of this kind."""


@dataclass(frozen=True, slots=True)
class TwoModes:
    """Runs of two kinds, by their values."""

    low: Mode
    high: Mode
    n: int


def two_modes(values: Iterable[float]) -> TwoModes | None:
    """The two kinds that runs are of, if there is a gap between them.

    Of all ways to part the sorted values into two with two or more on each side, the largest gap is taken in
    standard deviations within the parts, in the values and, if all are positive, in their logarithms too, so
    that skewed values are not taken for two kinds. The idea is that of tests for two clusters (Engelman and
    Hartigan 1969, "Percentage points of a test for clusters"); the limit is ours, from a simulation of normal
    values: 2.3, at which fewer than 1 % of 20 to 100 normal values are called two kinds.

    Returns:
        Nothing if there is one kind, or there are fewer than 20 values.

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
    """Of every split the gap, in standard deviations within both parts."""
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
