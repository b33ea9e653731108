"""Levels of smallest and largest values keep every extreme."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from fullpipe.report.pyramid import COARSE, FACTOR, NOTHING, extremes, quantised


def decoded(level: str) -> np.ndarray:
    """The numbers of a level."""
    return np.frombuffer(b64decode(level), "<u2")


def test_single_samples_come_back_within_half_a_step() -> None:
    values = np.random.default_rng(1).normal(size=500)
    found = quantised(values, 1)
    (level,) = found.levels
    np.testing.assert_allclose(found.low + found.step * decoded(level), values, atol=0.51 * found.step)


def test_what_is_missing_stays_missing() -> None:
    found = quantised(np.array([1.0, np.nan, 3.0]), 1)
    assert decoded(found.levels[0]).tolist() == [0, NOTHING, NOTHING - 1]


def test_every_level_has_the_extremes() -> None:
    values = np.zeros(100_000)
    values[[70_001, 12_345]] = 5.0, -3.0
    found = quantised(values, 1)
    assert len(found.levels) == 3
    for level in found.levels:
        assert (decoded(level).min(), decoded(level).max()) == (0, NOTHING - 1)


@pytest.mark.parametrize("size", [1, 4, 64])
def test_the_last_level_is_coarse_enough_to_be_drawn(size: int) -> None:
    levels = quantised(np.arange(1e6), size).levels
    assert len(decoded(levels[-1])) <= 2 * COARSE
    assert len(decoded(levels[-2])) > 2 * COARSE / FACTOR


def test_constant_and_empty_series_are_finite() -> None:
    for values in (np.full(3, 7.0), np.full(3, np.nan), np.empty(0)):
        found = quantised(values, 1)
        assert np.isfinite([found.low, found.step]).all()


def test_extremes_ignore_what_is_missing() -> None:
    found = extremes(np.array([1.0, np.nan, 3.0, np.nan, np.nan]), 3)
    np.testing.assert_array_equal(found, [[1.0, 3.0], [np.nan, np.nan]])
