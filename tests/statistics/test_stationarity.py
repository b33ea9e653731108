"""When a mean should not be trusted."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe.analysis.statistics import doubtful_means, geweke, mser5, steadiness


def noise(n: int, sd: float = 1.0, seed: int = 1) -> np.ndarray:
    return np.random.Generator(np.random.PCG64(seed)).normal(0, sd, n)


def autoregression(n: int, r1: float, seed: int = 1) -> np.ndarray:
    x = noise(n, float(np.sqrt(1 - r1**2)), seed)
    for t in range(1, n):
        x[t] += r1 * x[t - 1]
    return x


def test_start_up_is_found_and_its_end() -> None:
    values = [0.0] * 40 + list(10 + noise(160, 0.5))
    found = steadiness(values)
    assert (found.verdict, found.warmup) == ("warm-up", 40)


def test_a_mean_without_its_start_up_is_trusted() -> None:
    values = [0.0] * 40 + list(10 + noise(160, 0.5))
    assert steadiness(values[40:]).trusted


def test_white_noise_is_steady() -> None:
    assert steadiness(10 + noise(200)).trusted


def test_a_regular_sawtooth_is_steady() -> None:
    assert steadiness([10 + (n % 20) for n in range(400)]).trusted


def test_what_keeps_rising_drifts() -> None:
    assert steadiness([float(n) for n in range(100)]).verdict == "drift"


def test_few_independent_samples_are_noisy() -> None:
    found = steadiness(10 + 3 * autoregression(200, 0.97))
    assert not found.trusted


def test_too_few_samples_say_nothing() -> None:
    assert steadiness([1.0] * 29).verdict == "too short"


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_constant_is_steady(value: float) -> None:
    assert steadiness([value] * 50).trusted


def test_white_noise_is_rarely_suspected() -> None:
    suspected = sum(not steadiness(10 + noise(200, seed=seed)).trusted for seed in range(200))
    assert suspected <= 10


def test_a_step_in_the_middle_is_not_trusted() -> None:
    assert not steadiness([10.0] * 100 + [20.0] * 100 + list(20 + noise(20))).trusted


def test_mser5_by_brute_force() -> None:
    values = np.concatenate([np.linspace(0, 10, 30), 10 + noise(120)])
    z = values.reshape(-1, 5).mean(axis=1)
    error = [((z[d:] - z[d:].mean()) ** 2).sum() / (z.size - d) ** 2 for d in range(z.size // 2 + 1)]
    assert mser5(values) == 5 * int(np.argmin(error))


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=100))
def test_mser5_keeps_at_least_half(values: list[float]) -> None:
    assert 0 <= mser5(values) <= len(values) / 2


def test_geweke_of_noise_is_about_standard_normal() -> None:
    z = [geweke(10 + noise(500, seed=seed)) for seed in range(300)]
    assert abs(float(np.mean(z))) < 0.2
    assert 0.8 < float(np.std(z)) < 1.3


def test_doubts_name_the_flow_and_the_warmup() -> None:
    times = [0.1 * (n + 1) for n in range(200)]
    rates = [0.0] * 40 + list(10 + noise(160, 0.5))
    series = pl.DataFrame(
        {"time_s": times, "flow": ["a"] * 200, "goodput_bps": rates, "srtt_s": [0.05] * 200}
    )
    flows = pl.DataFrame({"flow": ["a"], "start_s": [0.0], "end_s": [20.0]})
    (doubt,) = doubtful_means(series, flows)
    assert (doubt.flow, doubt.quantity, doubt.verdict) == ("a", "goodput", "warm-up")
    assert doubt.warmup_s == pytest.approx(4.0)
    assert 'warmup = "4 s"' in str(doubt)
    assert doubtful_means(series, flows, warmup_s=4.0) == []


def test_without_samples_there_is_no_doubt() -> None:
    series = pl.DataFrame({"time_s": [], "flow": [], "goodput_bps": [], "srtt_s": []}).cast(
        {"time_s": pl.Float64, "flow": pl.String, "goodput_bps": pl.Float64, "srtt_s": pl.Float64}
    )
    flows = pl.DataFrame({"flow": ["a"], "start_s": [0.0], "end_s": [20.0]})
    assert doubtful_means(series, flows) == []
