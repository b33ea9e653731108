"""The E-model against the tables of ITU-T G.107 and against itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.analysis.metrics import mos, mouth_to_ear_s, opinion, rating

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
