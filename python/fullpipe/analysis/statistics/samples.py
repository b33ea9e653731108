"""Checks of samples: a vector of finite floats, or an error with the reason."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


def vector(values: Iterable[float], *, at_least: int, what: str = "values") -> Vector:
    """Return the values as a vector. Raises ValueError for too few of them, for NaN and for infinities."""
    result = np.asarray(list(values), dtype=np.float64)
    if result.size < at_least:
        raise ValueError(f"{what}: {at_least} or more numbers are needed, there are {result.size}")
    if not np.isfinite(result).all():
        raise ValueError(f"{what}: every number must be finite; drop missing ones and say so")
    return result
