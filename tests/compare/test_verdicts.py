"""Verdicts at known differences, and how often the interval holds what is true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.analysis.metrics import LINK_MEASURES, MEASURES
from fullpipe.analysis.statistics import t_interval, welch_interval
from fullpipe.errors import ScenarioError
from fullpipe.validation.compare import MARGINS, Margin, equivalence, read_margin


def around(mean: float, sd: float, n: int, seed: int) -> list[float]:
    values = np.random.Generator(np.random.PCG64(seed)).normal(0, 1, n)
    values = (values - values.mean()) / values.std(ddof=1)
    return [float(mean + sd * value) for value in values]


def test_a_small_sure_difference_is_equivalent() -> None:
    assert equivalence(around(100, 0.5, 5, 1), around(101, 0.5, 5, 2), margin=3).verdict == "equivalent"


def test_a_large_sure_difference_is_different() -> None:
    found = equivalence(around(100, 0.5, 5, 1), around(90, 0.5, 5, 2), margin=3)
    assert found.verdict == "different"
    assert found.difference == pytest.approx(-10)


def test_a_sure_difference_at_the_margin_is_not_decided() -> None:
    assert equivalence(around(100, 0.5, 5, 1), around(103, 0.5, 5, 2), margin=3).verdict == "not decided"


def test_chaotic_runs_that_share_a_range_overlap() -> None:
    found = equivalence(around(100, 40, 5, 1), around(110, 40, 5, 2), margin=3)
    assert found.verdict == "overlapping ranges"


def test_chaotic_runs_whose_ranges_are_apart_are_not_called_overlapping() -> None:
    assert equivalence([80.0, 120.0], [121.0, 200.0], margin=3).verdict == "not decided"


def test_runs_that_never_vary_are_compared_as_they_are() -> None:
    assert equivalence([10.0] * 3, [10.2] * 3, margin=0.3).verdict == "equivalent"
    assert equivalence([10.0] * 3, [10.4] * 3, margin=0.3).verdict == "different"


def test_equal_runs_are_equivalent_without_any_margin() -> None:
    assert equivalence([0.0, 0.0], [0.0, 0.0], margin=0).verdict == "equivalent"


@pytest.mark.parametrize(("other", "where"), [(101.0, "within"), (150.0, "beyond")])
def test_a_single_run_decides_nothing_but_says_where_it_lies(other: float, where: str) -> None:
    found = equivalence([100.0], [other], margin=3)
    assert (found.verdict, found.interval) == ("not decided", None)
    assert where in found.reason


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8),
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8),
)
def test_a_wider_margin_never_makes_engines_differ(first: list[float], second: list[float]) -> None:
    order = {"equivalent": 0, "overlapping ranges": 1, "not decided": 1, "different": 2}
    verdicts = [order[equivalence(first, second, margin).verdict] for margin in (0.0, 10.0, 1e7)]
    assert verdicts == sorted(verdicts, reverse=True)


def test_the_interval_of_a_difference_covers_it_as_often_as_it_says() -> None:
    generator = np.random.Generator(np.random.PCG64(1))
    covered = 0
    for _ in range(2000):
        first, second = generator.normal(10, 1, 5), generator.normal(12, 3, 8)
        covered += -2 in welch_interval(first, second, 0.90)
    assert covered / 2000 == pytest.approx(0.90, abs=0.02)


def test_engines_at_the_margin_are_called_equivalent_in_one_case_of_twenty() -> None:
    generator = np.random.Generator(np.random.PCG64(2))
    wrong = sum(
        equivalence(generator.normal(100, 1, 10), generator.normal(102, 1, 10), margin=2).verdict
        == "equivalent"
        for _ in range(2000)
    )
    assert wrong / 2000 == pytest.approx(0.05, abs=0.015)


def test_welch_is_student_when_one_side_never_varies() -> None:
    values = [1.0, 2.0, 3.0, 4.0]
    welch, student = welch_interval(values, [0.0] * 9), t_interval(values)
    assert (welch.low, welch.high) == (pytest.approx(student.low), pytest.approx(student.high))


def test_every_measure_has_a_margin() -> None:
    assert set(MARGINS) == {measure.name for measure in (*MEASURES, *LINK_MEASURES)}


def test_the_larger_of_share_and_amount_is_allowed() -> None:
    assert Margin(0.4, 20).allowed(10) == 20
    assert Margin(0.4, 20).allowed(1000) == 400


@pytest.mark.parametrize(
    ("text", "margin"),
    [("goodput=5%", Margin(0.05)), ("rtt_mean=0.001", Margin(0, 0.001)), ("dropped=10%, 5", Margin(0.1, 5))],
)
def test_margins_are_read(text: str, margin: Margin) -> None:
    assert read_margin(text) == (text.partition("=")[0], margin)


@pytest.mark.parametrize("text", ["goodputt=5%", "goodput=much", "goodput", "goodput=", "goodput=-1%"])
def test_a_mistaken_margin_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="--margin"):
        read_margin(text)
