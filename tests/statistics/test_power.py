"""How many pairs of runs find a difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from fullpipe import statistics
from tests.statistics.test_levels import REPETITIONS, Random, allowed


@pytest.mark.parametrize(("size", "power"), [(0.2, 0.8), (0.5, 0.8), (0.5, 0.9), (1.5, 0.95)])
def test_pairs_are_those_of_statsmodels(size: float, power: float) -> None:
    expected = TTestPower().solve_power(effect_size=size, power=power, alpha=0.05)
    assert statistics.pairs_for_power(size, 1.0, power) == int(np.ceil(expected))


def test_pairs_have_no_unit() -> None:
    assert statistics.pairs_for_power(0.5e6, 1e6) == statistics.pairs_for_power(0.5, 1.0)


def test_what_is_next_to_nothing_is_never_found() -> None:
    assert statistics.pairs_for_power(1e-6, 1.0) is None
    assert statistics.pairs_by_simulation([-1.0, 1.0, 0.5], 1e-6) is None


def test_by_simulation_normal_differences_need_as_many() -> None:
    differences = np.random.Generator(np.random.PCG64(5)).normal(0, 1, 4_000)
    found = statistics.pairs_by_simulation(differences, 0.5)
    assert found == pytest.approx(statistics.pairs_for_power(0.5, float(differences.std())), rel=0.06)


def test_by_simulation_the_same_seed_gives_the_same() -> None:
    differences = [0.0, 0.1, -0.1, 5.0, 0.05]
    found = {statistics.pairs_by_simulation(differences, 1.0, seed=3) for _ in range(2)}
    assert len(found) == 1


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_a_power_is_between_0_and_1(power: float) -> None:
    with pytest.raises(ValueError, match="power"):
        statistics.pairs_for_power(1, 1, power)
    with pytest.raises(ValueError, match="power"):
        statistics.pairs_by_simulation([1, 2], 1, power)


def test_differences_that_do_not_vary_are_refused() -> None:
    with pytest.raises(ValueError, match="all are equal"):
        statistics.pairs_by_simulation([1.0, 1.0], 1)
    with pytest.raises(ValueError, match="deviation above 0"):
        statistics.power_of_pairs(10, 1, 0)


def starving(random: Random, n: int) -> np.ndarray:
    """Differences where one run in five starves on either side."""
    sides = [np.where(random.random(n) < 0.2, 0.05, 1.2375) for _ in range(2)]
    return np.asarray(sides[1] - sides[0] + random.normal(0, 0.02, n))


def test_planned_pairs_find_the_difference_as_often_as_planned(cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    n = statistics.pairs_for_power(0.5, 1.0, 0.9)
    assert n is not None
    random = np.random.Generator(np.random.PCG64(6))
    found = [statistics.paired(np.zeros(n), random.normal(0.5, 1, n)).p < 0.05 for _ in range(repetitions)]
    assert abs(sum(found) / repetitions - 0.9) <= allowed(0.9, repetitions) + 0.005  # n is a whole number


def test_planned_pairs_find_it_where_one_run_in_five_starves(cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(7))
    n = statistics.pairs_by_simulation(starving(random, 1_000), 0.3)
    assert n is not None
    draws = (0.3 + starving(random, n) for _ in range(repetitions))
    found = sum(statistics.paired(np.zeros(n), draw).p < 0.05 for draw in draws) / repetitions
    assert abs(found - 0.9) <= 0.03  # that of a thousand draws, of each of a hundred sizes, comes on top


def test_seeds_that_decide_between_two_levels_are_those_of_their_pairs() -> None:
    draw = np.random.default_rng(6)
    first = draw.normal(10, 1, 12)
    second = first + draw.normal(0.1, 0.5, 12)
    pairs, contrast = statistics.paired(first, second), statistics.contrast_of_pairs(first, second)
    t = contrast.difference / contrast.error
    found = statistics.FTest(t**2, 1, contrast.df, pairs.p, 24)
    for margin, tests in ((0.3, 1), (0.05, 1), (0.05, 4)):
        exact = statistics.pairs_that_decide(pairs, margin, tests=tests)
        seeds = statistics.seeds_that_decide(found, [(contrast, margin)], 12, tests=tests)
        assert seeds == pytest.approx(exact, rel=0.1)


def test_no_number_of_seeds_decides_between_levels_without_a_difference_or_a_margin() -> None:
    found = statistics.FTest(0.0, 2, 27.0, 1.0, 30)
    contrast = statistics.MeanContrast(0.0, 1.0, 9)
    assert statistics.seeds_that_decide(found, [(contrast, 0.0)], 10) is None
