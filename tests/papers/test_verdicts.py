"""The rule that turns a printed number and our runs into a verdict."""

from __future__ import annotations

import math

import pytest

from fullpipe.papers.verdicts import (
    Direction,
    Expectation,
    Verdict,
    judge,
    judge_comparisons,
    prediction_interval,
)


def test_prediction_interval_by_hand() -> None:
    # Mean 3, sd sqrt(2.5), t(4, 97.5 %) = 2.776445: half width 2.776445 * sqrt(2.5 * 1.2) = 4.80895.
    low, high = prediction_interval([1, 2, 3, 4, 5])
    assert (low, high) == (pytest.approx(3 - 4.80895, abs=1e-5), pytest.approx(3 + 4.80895, abs=1e-5))
    assert prediction_interval([7.0]) == (7.0, 7.0)


def test_reproduced_within_the_interval_of_one_more_run() -> None:
    # Mean 30, sd 1, n = 3: half width 4.302653 * sqrt(4/3) = 4.968, less than a quarter of the mean.
    assert judge(Expectation(34.9, 35.0), [29, 30, 31]) is Verdict.REPRODUCED
    assert judge(Expectation(35.0, 35.1), [29, 30, 31]) is Verdict.NOT_REPRODUCED


def test_a_wide_interval_reproduces_nothing_far_away() -> None:
    # The interval reaches 7.8, a quarter above the mean is 3.75.
    assert judge(Expectation(3.7, 3.8), [1, 2, 3, 4, 5]) is Verdict.REPRODUCED
    assert judge(Expectation(3.8, 3.9), [1, 2, 3, 4, 5]) is Verdict.NOT_REPRODUCED


def test_reproduced_within_five_per_cent() -> None:
    assert judge(Expectation(95.0, 95.1), [100.0, 100.0]) is Verdict.REPRODUCED
    assert judge(Expectation(94.0, 94.9), [100.0, 100.0]) is Verdict.NOT_REPRODUCED
    assert judge(Expectation(104.0, 106.0), [100.0]) is Verdict.REPRODUCED


def test_same_direction_needs_intervals_apart() -> None:
    up = Direction(printed=10.0, ours=[50.0, 51.0, 52.0])
    assert judge(Expectation(20, 20), [70.0, 71.0, 72.0], direction=up) is Verdict.SAME_DIRECTION
    assert judge(Expectation(20, 20), [40.0, 41.0, 42.0], direction=up) is Verdict.NOT_REPRODUCED
    overlapping = Direction(printed=10.0, ours=[69.0, 71.0, 73.0])
    assert judge(Expectation(20, 20), [70.0, 71.5, 73.0], direction=overlapping) is Verdict.NOT_REPRODUCED
    assert judge(Expectation(20, 20), [70.0], direction=up) is Verdict.NOT_REPRODUCED


def test_what_cannot_be_judged() -> None:
    assert judge(Expectation(1, 1), []) is Verdict.NOT_TESTABLE
    assert judge(Expectation(1, 1), [1.0], testable=False) is Verdict.NOT_TESTABLE
    assert judge(Expectation(1, 1), [1.0], consistent=False) is Verdict.CONTRADICTED
    assert judge(Expectation(0, 0), [0.0, 0.0]) is Verdict.REPRODUCED


def test_middle_of_a_range() -> None:
    assert Expectation(0.01, 0.1).middle == pytest.approx(0.055)
    assert math.isclose(Expectation(39.45, 39.55).middle, 39.5)


def test_a_run_without_a_value_makes_a_number_untestable() -> None:
    assert judge(Expectation(1, 1), [1.0, math.nan, 1.0]) is Verdict.NOT_TESTABLE
    assert judge_comparisons([[1.0, 2.0], [1.0, math.nan]]) is Verdict.NOT_TESTABLE


def test_a_reference_without_a_value_shows_no_direction() -> None:
    up = Direction(10.0, [1.0, math.nan, 1.0])
    assert judge(Expectation(20, 20), [70.0, 71.0, 72.0], direction=up) is Verdict.NOT_REPRODUCED
