"""Functions of scipy modules that are slow to import: `scipy.stats` alone takes half a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt


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
