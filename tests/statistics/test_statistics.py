"""Numbers worked by hand, and what holds for any numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import statistics

finite = st.floats(-1e6, 1e6)


def test_summary_of_five_numbers() -> None:
    found = statistics.summarise([5, 1, 4, 2, 3])
    assert (found.n, found.mean, found.minimum, found.maximum) == (5, 3.0, 1.0, 5.0)
    assert (found.q1, found.median, found.q3) == (2.0, 3.0, 4.0)
    # Squared deviations 4 + 1 + 0 + 1 + 4 = 10, over n - 1 = 4.
    assert found.sd == pytest.approx(math.sqrt(2.5))
    assert found.sem == pytest.approx(math.sqrt(0.5))


def test_quartiles_are_interpolated() -> None:
    # Position of q1 among 1, 2, 3, 4 is 0.25 * 3 = 0.75 steps after the first.
    found = statistics.summarise([1, 2, 3, 4])
    assert (found.q1, found.median, found.q3) == (1.75, 2.5, 3.25)


def test_one_value_has_no_spread() -> None:
    found = statistics.summarise([7.0])
    assert found.mean == 7.0
    assert math.isnan(found.sd)
    assert math.isnan(found.sem)


def test_t_interval_from_the_table() -> None:
    # t(4 degrees of freedom, 97.5 %) = 2.776445 in any table; half width = 2.776445 * sqrt(0.5).
    found = statistics.t_interval([1, 2, 3, 4, 5])
    assert found.half_width == pytest.approx(2.776445 * math.sqrt(0.5), rel=1e-6)
    assert (found.low + found.high) / 2 == pytest.approx(3.0)
    assert 3.0 in found
    assert 9.0 not in found


def test_t_interval_covers_as_often_as_it_says() -> None:
    generator = np.random.default_rng(7)
    covered = sum(0.0 in statistics.t_interval(generator.normal(size=10)) for _ in range(2000))
    # Binomial(2000, 0.95): standard deviation 9.7.
    assert abs(covered - 1900) < 40


def test_bootstrap_of_two_points() -> None:
    # Means of two draws from {0, 1} are 0, 1/2, 1 with chances 1/4, 1/2, 1/4: both tails reach the ends.
    found = statistics.bootstrap_interval([0, 1], method="bootstrap-percentile")
    assert (found.low, found.high) == (0.0, 1.0)


def test_bca_equals_percentile_when_there_is_neither_bias_nor_skew() -> None:
    sample = np.arange(-10.0, 11.0)
    plain = statistics.bootstrap_interval(sample, method="bootstrap-percentile")
    corrected = statistics.bootstrap_interval(sample)
    assert corrected.low == pytest.approx(plain.low, abs=0.15)
    assert corrected.high == pytest.approx(plain.high, abs=0.15)


def test_bca_follows_the_skew() -> None:
    sample = np.exp(np.random.default_rng(3).normal(size=30))
    plain = statistics.bootstrap_interval(sample, method="bootstrap-percentile")
    corrected = statistics.bootstrap_interval(sample)
    assert corrected.low > plain.low
    assert corrected.high > plain.high


def test_bootstrap_is_reproducible_and_takes_any_statistic() -> None:
    sample = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]

    def median(x: np.ndarray) -> float:
        return float(np.median(x))

    first = statistics.bootstrap_interval(sample, median, seed=5)
    assert first == statistics.bootstrap_interval(sample, median, seed=5)
    assert 3.5 in first


def test_bootstrap_of_a_constant_is_a_point() -> None:
    found = statistics.bootstrap_interval([2.0, 2.0, 2.0])
    assert (found.low, found.high) == (2.0, 2.0)


def test_cohens_d_by_hand() -> None:
    # Means 4 and 3, both variances 4: d = 1 / 2.
    assert statistics.cohens_d([2, 4, 6], [1, 3, 5]) == pytest.approx(0.5)
    # Variances 1 (three values) and 4 (three values), pooled 2.5; means 2 and 4.
    assert statistics.cohens_d([1, 2, 3], [2, 4, 6]) == pytest.approx(-2 / math.sqrt(2.5))
    assert statistics.cohens_d([1, 1], [1, 1]) == 0.0
    assert statistics.cohens_d([1, 1], [0, 0]) == math.inf


def test_cliffs_delta_by_hand() -> None:
    # Nine pairs: 3 > 2 once; smaller six times; two ties.
    assert statistics.cliffs_delta([1, 2, 3], [2, 3, 4]) == pytest.approx(-5 / 9)
    assert statistics.cliffs_delta([5, 6], [1, 2]) == 1.0


def test_magnitudes() -> None:
    words = [statistics.magnitude_of_delta(d) for d in (0.1, -0.2, 0.4, -1.0)]
    assert words == ["negligible", "small", "medium", "large"]


def test_lag1_by_hand() -> None:
    # Deviations -2, -1, 0, 1, 2: products 2 + 0 + 0 + 2 = 4 over 10.
    assert statistics.lag1_autocorrelation([1, 2, 3, 4, 5]) == pytest.approx(0.4)
    # 5 * 0.6 / 1.4.
    assert statistics.effective_sample_size([1, 2, 3, 4, 5]) == pytest.approx(15 / 7)
    # Alternation: deviations ±1, three products of -1 over 4.
    assert statistics.lag1_autocorrelation([1, -1, 1, -1]) == pytest.approx(-0.75)
    assert statistics.effective_sample_size([1, -1, 1, -1]) == 4.0


def test_effective_sample_size_of_an_autoregression() -> None:
    generator = np.random.default_rng(11)
    x = np.zeros(20_000)
    for t in range(1, x.size):
        x[t] = 0.8 * x[t - 1] + generator.normal()
    assert statistics.effective_sample_size(x) == pytest.approx(x.size * 0.2 / 1.8, rel=0.1)
    warning = statistics.autocorrelation_warning(x, "goodput")
    assert warning is not None
    assert warning.startswith("goodput: 20000 samples")


def test_no_warning_for_independent_samples() -> None:
    assert statistics.autocorrelation_warning(np.random.default_rng(2).normal(size=500)) is None


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf, 1.0]])
def test_bad_values_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values:"):
        statistics.t_interval(values)


def test_bad_options_are_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        statistics.t_interval([1, 2], level=95)
    with pytest.raises(ValueError, match="resamples"):
        statistics.bootstrap_interval([1, 2], resamples=5)
    with pytest.raises(ValueError, match="method"):
        statistics.bootstrap_interval([1, 2], method="t")


@given(st.lists(finite, min_size=2, max_size=30), st.lists(finite, min_size=2, max_size=30))
def test_effects_change_sign_with_the_order(a: list[float], b: list[float]) -> None:
    assert statistics.cliffs_delta(a, b) == -statistics.cliffs_delta(b, a)
    assert -1 <= statistics.cliffs_delta(a, b) <= 1
    assert statistics.cohens_d(a, b) == pytest.approx(-statistics.cohens_d(b, a))


@given(st.lists(finite, min_size=3, max_size=50))
def test_bounds_of_the_summary_and_of_the_sample_size(values: list[float]) -> None:
    found = statistics.summarise(values)
    assert found.minimum <= found.q1 <= found.median <= found.q3 <= found.maximum
    assert 1 <= statistics.effective_sample_size(values) <= len(values)


def test_an_interval_is_clipped_to_what_can_be() -> None:
    found = statistics.t_interval([0.98, 1.0])
    assert found.high > 1
    clipped = found.clipped(0.0, 1.0)
    assert (clipped.low, clipped.high) == (max(found.low, 0.0), 1.0)
    assert found.clipped() == found
