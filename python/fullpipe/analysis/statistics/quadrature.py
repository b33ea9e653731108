"""Distributions by integration over the sample deviation: noncentral t, and the studentized range."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np
from scipy.special import chdtri, ndtr

from fullpipe.analysis.statistics.samples import Vector
from fullpipe.analysis.statistics.slow_imports import root

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

    @cache  # the search begins with both ends; the loop below has computed the upper one
    def beyond(q: float) -> float:
        return (studentized_range(q, groups, freedom) if q else 0.0) - level  # P(Q <= 0) = 0

    high = 10.0
    while beyond(high) < 0:
        high *= 2
    return root(beyond, 0.0, high, xtol=1e-8)


@lru_cache(maxsize=256)
def _deviations(freedom: float) -> tuple[Vector, Vector]:
    """Return values of s and their weights: Gauss-Legendre quadrature between the quantiles 1e-15 and
    1 - 1e-15."""
    low, high = (math.sqrt(float(chdtri(freedom, tail)) / freedom) for tail in (1 - 1e-15, 1e-15))
    nodes, weights = _NODES
    s = low + (high - low) * (nodes + 1) / 2
    logarithm = (freedom - 1) * np.log(s) - freedom * s**2 / 2
    density = weights * np.exp(logarithm - logarithm.max())
    return s, density / density.sum()
