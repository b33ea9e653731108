"""Numbers in two bytes keep every extreme."""

from __future__ import annotations

from base64 import b64decode

import numpy as np

from fullpipe.report.svg.marks import NOTHING, Quantised, extremes, quantised


def decoded(found: Quantised) -> np.ndarray:
    """Its whole steps."""
    return np.frombuffer(b64decode(found.values), "<u2")


def test_single_samples_come_back_within_half_a_step() -> None:
    values = np.random.default_rng(1).normal(size=500)
    found = quantised(values, 1)
    np.testing.assert_allclose(found.low + found.step * decoded(found), values, atol=0.51 * found.step)


def test_what_is_missing_stays_missing() -> None:
    found = quantised(np.array([1.0, np.nan, 3.0]), 1)
    assert decoded(found).tolist() == [0, NOTHING, NOTHING - 1]


def test_groups_have_their_extremes_in_turn() -> None:
    values = np.zeros(100_000)
    values[[70_001, 12_345]] = 5.0, -3.0
    found = decoded(quantised(values, 64))
    assert len(found) == 2 * -(-len(values) // 64)
    assert (found[2 * (12_345 // 64)], found[2 * (70_001 // 64) + 1]) == (0, NOTHING - 1)


def test_constant_and_empty_series_are_finite() -> None:
    for values in (np.full(3, 7.0), np.full(3, np.nan), np.empty(0)):
        found = quantised(values, 1)
        assert np.isfinite([found.low, found.step]).all()


def test_extremes_ignore_what_is_missing() -> None:
    found = extremes(np.array([1.0, np.nan, 3.0, np.nan, np.nan]), 3)
    np.testing.assert_array_equal(found, [[1.0, 3.0], [np.nan, np.nan]])
