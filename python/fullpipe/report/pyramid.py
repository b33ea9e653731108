"""Time series as pyramids: levels of smallest and largest values, quantised, for a page to draw and zoom."""

from __future__ import annotations

import math
import warnings
from base64 import b64encode
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
FACTOR = 16
"""How many of a level are one of the level above."""
COARSE = 1024
"""A level with at most so many is the last."""
NOTHING = 0xFFFF
"""Stands for no sample."""
_STEPS = NOTHING - 1


@dataclass(frozen=True)
class Quantised:
    """Numbers as whole steps from the smallest: value = low + step * number."""

    low: float
    step: float
    levels: tuple[str, ...]
    """In base64, two bytes each, low byte first: the finest level first, each with smallest and largest in
    turn, but for a finest level of single samples."""


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
    """A series whose finest level has the extremes of every `size` samples, or the samples if it is 1."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    step = (high - low) / _STEPS or 1.0
    finest = values if size == 1 else extremes(values, size).ravel()
    levels, groups = [_packed(finest, low, step)], math.ceil(len(values) / size)
    while groups > COARSE:
        size *= FACTOR
        groups = math.ceil(len(values) / size)
        levels.append(_packed(extremes(values, size).ravel(), low, step))
    return Quantised(low, step, tuple(levels))


def _packed(values: Values, low: float, step: float) -> str:
    numbers = np.where(np.isfinite(values), np.rint((values - low) / step), NOTHING)
    return b64encode(numbers.astype("<u2").tobytes()).decode()
