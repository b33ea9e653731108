"""Time series in two bytes a number, for a page to draw: samples, or extremes where they are too many."""

from __future__ import annotations

import warnings
from base64 import b64encode
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
NOTHING = 0xFFFF
"""Stands for no sample."""
_STEPS = NOTHING - 1


@dataclass(frozen=True)
class Quantised:
    """Numbers as whole steps from the smallest: value = low + step * number."""

    low: float
    step: float
    values: str
    """Whole numbers in base64, two bytes each, low byte first."""


def extremes(values: Values, size: int) -> Values:
    """The smallest and the largest of every `size` values, ignoring NaN.

    Returns:
        An array of shape (groups, 2); NaN where a group has no value.
    """
    groups = -(-len(values) // size)
    padded = np.full(groups * size, np.nan)
    padded[: len(values)] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of groups without any value
        parts = padded.reshape(groups, size)
        return np.column_stack([np.nanmin(parts, axis=1), np.nanmax(parts, axis=1)])


def quantised(values: Values, size: int) -> Quantised:
    """Quantise the smallest and the largest of every `size` samples, or the samples if it is 1."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / _STEPS or 1.0
    chosen = values if size == 1 else extremes(values, size).ravel()
    numbers = np.where(np.isfinite(chosen), np.rint((chosen - low) / step), NOTHING)
    return Quantised(low, step, b64encode(numbers.astype("<u2").tobytes()).decode())
