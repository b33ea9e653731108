"""What is used of the parts of scipy that take long to import: `scipy.stats` alone half a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt


def ranked(values: npt.ArrayLike, axis: int | None = None) -> npt.NDArray[np.float64]:
    """Ranks from 1, of each row with `axis=1`; equal values share the mean of theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=axis), dtype=np.float64)


def rank_correlation(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Spearman's, of two samples of the same length: NaN if one does not vary."""
    from scipy.stats import spearmanr

    return float(spearmanr(one, other).statistic)


def root(function: Callable[[float], float], low: float, high: float, **tolerances: Any) -> float:
    """Where a function is 0 between two places at which it has different signs, by Brent's method."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, **tolerances))
