"""The E-model against the tables of ITU-T G.107 and against itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.analysis.metrics import (
    mos,
    mos_wideband,
    mouth_to_ear_s,
    opinion,
    rating,
    rating_wideband,
)

shares = st.floats(0, 1)
delays = st.floats(0, 2)


@pytest.mark.parametrize(
    ("r", "score"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58), (93.2, 4.41)]
)
def test_opinions_are_those_of_table_b1(r: float, score: float) -> None:
    assert opinion(r) == pytest.approx(score, abs=0.01)


def test_delay_costs_more_beyond_the_knee() -> None:
    assert rating(0.1, 0) == pytest.approx(93.2 - 2.4)
    assert rating(0.3, 0) == pytest.approx(93.2 - 7.2 - 0.11 * 122.7)


def test_loss_as_large_as_the_robustness_costs_half_of_what_loss_can_cost() -> None:
    assert rating(0, 0.251) == pytest.approx(93.2 - 95 / 2)


def test_speech_waits_for_its_packet_the_path_and_the_playout_buffer() -> None:
    assert mouth_to_ear_s(0.05, 0.004) == pytest.approx(0.078)


@given(delays, delays, shares, shares)
def test_more_delay_or_more_loss_never_sounds_better(a: float, b: float, p: float, q: float) -> None:
    assert mos(max(a, b), max(p, q)) <= mos(min(a, b), min(p, q))


@given(delays, shares)
def test_a_score_lies_between_1_and_4_5(delay_s: float, loss: float) -> None:
    assert 1.0 <= mos(delay_s, loss) <= 4.5


@pytest.mark.parametrize(("ie", "score"), [(1, 4.494), (13, 4.337), (41, 3.512), (56, 2.922)])
def test_wideband_codings_have_the_scores_of_annex_a(ie: float, score: float) -> None:
    assert mos_wideband(0.0, 0.0, ie=ie) == pytest.approx(score, abs=0.0005)


def test_wideband_loss_costs_what_equation_7_15_says() -> None:
    assert 129 - rating_wideband(0.0, 0.02, ie=20, bpl=4.3) == pytest.approx(20 + 75 * 2 / 6.3)


@pytest.mark.parametrize(("delay_ms", "cost"), [(100, 0), (200, 3.04), (400, 24.07), (1600, 47.24)])
def test_delay_costs_wideband_calls_nothing_up_to_100_ms(delay_ms: float, cost: float) -> None:
    assert rating_wideband(0, 0) - rating_wideband(delay_ms / 1e3, 0) == pytest.approx(cost, abs=0.01)


@given(delays, delays, shares, shares)
def test_more_delay_or_more_loss_never_sounds_better_in_wideband(
    a: float, b: float, p: float, q: float
) -> None:
    best, worst = mos_wideband(min(a, b), min(p, q)), mos_wideband(max(a, b), max(p, q))
    assert 1.0 <= worst <= best + 1e-9 <= 4.5 + 1e-9
