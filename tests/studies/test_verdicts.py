"""The rules that turn a printed number and our runs into a verdict."""

from __future__ import annotations

from math import inf, nan

import pytest

from fullpipe.studies.verdicts import (
    Direction,
    Expectation,
    PartResult,
    Verdict,
    check_comparison,
    check_number,
    differences,
    is_above_zero,
    prediction_interval,
    verdict_in_words,
    verdict_of_all,
)

FIVE = [28.0, 29.0, 30.0, 31.0, 32.0]


def verdict(low: float, high: float, ours: list[float], direction: Direction | None = None) -> Verdict:
    return check_number(Expectation(low, high), ours, direction).verdict


def test_prediction_interval_by_hand() -> None:
    # Mean 3, sd sqrt(2.5), t(4, 97.5 %) = 2.776445: half width 2.776445 * sqrt(2.5 * 1.2) = 4.80895.
    low, high = prediction_interval([1, 2, 3, 4, 5])
    assert (low, high) == (pytest.approx(3 - 4.80895, abs=1e-5), pytest.approx(3 + 4.80895, abs=1e-5))
    with pytest.raises(ValueError, match="at least two runs"):
        prediction_interval([7.0])


def test_reproduced_within_the_interval_of_one_more_run() -> None:
    # Mean 30, half width 4.80895, less than a quarter of the mean.
    assert verdict(34.8, 34.9, FIVE) is Verdict.REPRODUCED
    assert verdict(34.9, 35.0, FIVE) is Verdict.NOT_REPRODUCED


def test_fewer_than_five_runs_have_no_prediction_interval() -> None:
    # With two runs the interval would reach from 17 to 43.
    assert verdict(32, 32, [29, 31]) is Verdict.NOT_REPRODUCED
    assert verdict(32, 32, FIVE[:4]) is Verdict.NOT_REPRODUCED
    assert verdict(32, 32, FIVE) is Verdict.REPRODUCED


def test_a_wide_interval_reproduces_nothing_far_away() -> None:
    # The interval reaches 7.8, a quarter above the mean is 3.75.
    assert verdict(3.7, 3.8, [1, 2, 3, 4, 5]) is Verdict.REPRODUCED
    assert verdict(3.8, 3.9, [1, 2, 3, 4, 5]) is Verdict.NOT_REPRODUCED


def test_reproduced_within_five_per_cent_of_the_middle() -> None:
    assert verdict(95.0, 95.1, [100.0, 100.0]) is Verdict.REPRODUCED
    assert verdict(94.0, 94.9, [100.0, 100.0]) is Verdict.NOT_REPRODUCED
    assert verdict(104.0, 106.0, [100.0]) is Verdict.REPRODUCED


def test_the_tolerance_is_not_added_to_that_of_an_approximate_number() -> None:
    # "Around 60" allows 54 to 66; 5 % of 68 are 3.4.
    assert verdict(54, 66, [66.0, 66.0]) is Verdict.REPRODUCED
    assert verdict(54, 66, [68.0, 68.0]) is Verdict.NOT_REPRODUCED


def test_what_only_the_tolerance_allows_is_marked() -> None:
    assert check_number(Expectation(97.5, 98.5), [95.0, 95.1, 94.9]).by_tolerance
    assert not check_number(Expectation(94.5, 95.5), [95.0, 95.1, 94.9]).by_tolerance
    assert check_number(Expectation(97.5, 98.5), [95.0]).by_tolerance


def test_same_direction_needs_intervals_apart() -> None:
    up = Direction(printed=10.0, ours=[50.0, 51.0, 52.0])
    assert verdict(25, 25, [70.0, 71.0, 72.0], up) is Verdict.SAME_DIRECTION
    assert verdict(25, 25, [40.0, 41.0, 42.0], up) is Verdict.NOT_REPRODUCED
    overlapping = Direction(printed=10.0, ours=[55.0, 71.0, 87.0])
    assert verdict(25, 25, [80.0, 86.0, 92.0], overlapping) is Verdict.NOT_REPRODUCED
    assert verdict(25, 25, [70.0], up) is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(("ours", "same"), [(114.8, False), (118, True), (125, True), (132, False)])
def test_the_same_direction_is_bounded_by_the_size(ours: float, *, same: bool) -> None:
    # Theirs rises by 10; ours by 4.8, 8, 15 and 22 from 110.
    result = check_number(
        Expectation(30, 30), [ours - 0.01, ours, ours + 0.01], Direction(20, [110.0, 110.0, 110.0])
    )
    assert result.factor == pytest.approx((ours - 110) / 10)
    assert result.verdict is (Verdict.SAME_DIRECTION if same else Verdict.NOT_REPRODUCED)


def test_a_range_that_holds_no_change_has_no_direction() -> None:
    none = Direction(0.0, [0.0] * 3)
    assert verdict(-1, 1, [-7.15, -7.1, -7.2], none) is Verdict.NOT_REPRODUCED
    assert verdict(-1, 1, [7.15, 7.1, 7.2], none) is Verdict.NOT_REPRODUCED
    assert verdict(-8, -5, [-9.15, -9.1, -9.2], none) is Verdict.SAME_DIRECTION


def test_what_is_near_a_ceiling_is_judged_by_what_is_missing() -> None:
    printed = Expectation(0.999, 0.999).below(1)
    assert (printed.low, printed.high) == (pytest.approx(0.001), pytest.approx(0.001))
    assert check_number(printed, [1 - 0.954] * 5).verdict is Verdict.NOT_REPRODUCED
    assert check_number(printed, [1 - 0.99902] * 5).verdict is Verdict.REPRODUCED


def test_what_never_happened_is_not_averaged() -> None:
    assert verdict(14.5, 15.5, [13.95, inf, 13.9]) is Verdict.NOT_REPRODUCED
    assert differences([inf, 15.0, inf], [15.0, inf, inf]) == [inf, -inf, 0.0]
    assert check_comparison([inf] * 3).verdict is Verdict.REPRODUCED
    # Nine runs within 2 s do not make up for one that never gets there.
    assert check_comparison([1.9] * 9 + [-inf]).verdict is Verdict.NOT_REPRODUCED


def test_a_comparison_is_of_the_mean_and_not_of_how_often() -> None:
    # "At most 2 s": nine runs of 0.1 s and one of 50 s have a mean of 5.1 s.
    assert check_comparison([1.9] * 9 + [-48.0]).verdict is Verdict.NOT_REPRODUCED
    assert differences([0.1] * 9 + [50.0], [2.0] * 10)[0] == pytest.approx(-1.9 / 3.545)


def test_a_run_without_a_value_makes_a_number_untestable() -> None:
    assert verdict(1, 1, []) is Verdict.NOT_TESTABLE
    assert verdict(1, 1, [1.0, nan, 1.0]) is Verdict.NOT_TESTABLE
    assert check_comparison([1.0, nan]).verdict is Verdict.NOT_TESTABLE
    assert check_comparison([]).verdict is Verdict.NOT_TESTABLE


def test_a_reference_without_a_value_shows_no_direction() -> None:
    up = Direction(10.0, [1.0, nan, 1.0])
    assert verdict(20, 20, [70.0, 71.0, 72.0], up) is Verdict.NOT_REPRODUCED


def test_an_inequality_has_no_tolerance() -> None:
    assert [is_above_zero([0.1]), is_above_zero([0.0]), is_above_zero([-0.1])] == [True, False, False]
    assert [is_above_zero([0.0], strict=False), is_above_zero([-0.1], strict=False)] == [True, False]
    assert check_comparison([0.0, 0.0], strict=False).verdict is Verdict.REPRODUCED
    assert check_comparison([0.0, 0.0]) == PartResult(Verdict.NOT_REPRODUCED, opposite=True)


def test_every_number_of_several_has_to_be_reproduced() -> None:
    good, near, bad = (
        PartResult(v) for v in (Verdict.REPRODUCED, Verdict.SAME_DIRECTION, Verdict.NOT_REPRODUCED)
    )
    assert verdict_of_all([good, good]) is Verdict.REPRODUCED
    assert verdict_of_all([good, near]) is Verdict.SAME_DIRECTION
    assert verdict_of_all([good, bad, good]) is Verdict.NOT_REPRODUCED
    assert verdict_of_all([good, PartResult(Verdict.NOT_TESTABLE)]) is Verdict.NOT_TESTABLE
    assert verdict_of_all([]) is Verdict.NOT_TESTABLE


def test_the_verdict_on_words() -> None:
    clear, unclear = check_comparison([1.0, 1.1, 1.2]), check_comparison([-1.0, 0.1, 1.0])
    wrong = check_comparison([-1.0, -1.1, -1.2])
    assert verdict_in_words([clear, clear]) is Verdict.REPRODUCED
    assert verdict_in_words([clear, clear, unclear]) is Verdict.SAME_DIRECTION
    assert verdict_in_words([clear, unclear]) is Verdict.NOT_REPRODUCED
    assert verdict_in_words([clear, clear, wrong]) is Verdict.NOT_REPRODUCED
    assert verdict_in_words([]) is Verdict.NOT_TESTABLE


def test_middle_of_a_range() -> None:
    assert Expectation(0.01, 0.1).middle == pytest.approx(0.055)
    assert 0.1 in Expectation(0.01, 0.1)
