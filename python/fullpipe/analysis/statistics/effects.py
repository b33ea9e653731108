"""Effect sizes: how large a difference is, apart from its significance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from fullpipe.analysis.statistics.samples import vector

Magnitude = Literal["negligible", "small", "medium", "large"]
"""Words for the size of an effect: see `magnitude_of_delta`."""


def cohens_d(first: Iterable[float], second: Iterable[float]) -> float:
    """Difference of means in pooled standard deviations; positive if the first is larger.

    d = (mean1 - mean2) / sqrt(((n1 - 1) s1² + (n2 - 1) s2²) / (n1 + n2 - 2)). Source: Cohen 1988,
    "Statistical power analysis for the behavioral sciences". Two equal constants give 0. Two different ones
    give an infinity with the sign of the difference.

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

    δ = (#(x > y) - #(x < y)) / (n1 n2) over all pairs. Source: Cliff 1993, "Dominance statistics". It assumes
    nothing about the distributions, so it also suits flows that are either starved or not.

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
