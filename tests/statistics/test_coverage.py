"""How often an interval holds the true value: 95 % of 2,000 repetitions, give or take 1.5 points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from fullpipe import statistics
from fullpipe.analysis.statistics import Interval
from tests.statistics.test_levels import REPETITIONS, Random, allowed

Draw = Callable[[Random], Interval | None]


def _means(random: Random) -> list[np.ndarray]:
    return [random.normal(mean, 1, 20) for mean in (0, 0.5, 1)]


def _pairs(random: Random) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that have much in common; the second is higher by 0.5, and varies alike."""
    shared = random.normal(0, 0.8, 25)
    return 10 + shared + random.normal(0, 0.6, 25), 10.5 + shared + random.normal(0, 0.6, 25)


def _share(means: tuple[float, ...]) -> float:
    """The share of the variance of groups with these means and variance 1."""
    between = float(np.var(means))
    return between / (between + 1)


def _rank_share(means: tuple[float, ...]) -> float:
    """Epsilon squared of very many normal values: 12 times the variance of the mean of F over groups."""
    apart = np.subtract.outer(np.array(means), np.array(means)) / np.sqrt(2)
    return 12 * float(np.var(ndtr(apart).mean(axis=1)))


def _agreement(means: tuple[float, ...]) -> float:
    """Kendall's W of very many blocks of normal values: the variance of mean ranks over that of ranks."""
    apart = np.subtract.outer(np.array(means), np.array(means)) / np.sqrt(2)
    k = len(means)
    return 12 * float(np.var(0.5 + ndtr(apart).sum(axis=1))) / (k**2 - 1)


MEANS = (0.0, 0.5, 1.0)
INTERVALS: dict[str, tuple[float, Draw]] = {
    "Student": (1.0, lambda random: statistics.t_interval(random.normal(1, 1, 10))),
    "Welch": (
        0.0,
        lambda random: statistics.welch_interval(random.normal(0, 1, 10), random.normal(0, 3, 15)),
    ),
    "Satterthwaite": (
        1.0,
        lambda random: statistics.contrast_of_cells(
            [random.normal(mean, sd, n) for mean, sd, n in ((0, 1, 6), (1, 4, 9), (2, 2, 12), (1, 3, 8))],
            [-0.5, -0.5, 0.5, 0.5],
        ).interval(),
    ),
    "pairs": (0.5, lambda random: statistics.paired(*_pairs(random)).interval(0.95)),
    "Wilson": (0.2, lambda random: statistics.wilson_interval(int(random.binomial(50, 0.2)), 50)),
    "eta squared": (
        _share(MEANS),
        lambda random: statistics.eta_squared(statistics.anova(_means(random))).interval,
    ),
    "Hedges' g": (
        0.7,
        lambda random: statistics.hedges_g(random.normal(0.7, 1, 20), random.normal(0, 1, 15)).interval,
    ),
    "Hedges' g of pairs": (
        0.5 / np.sqrt(2 * 0.36),
        lambda random: statistics.hedges_g_of_pairs(*_pairs(random)).interval,
    ),
    "Cliff's delta": (
        2 * float(ndtr(0.7 / np.sqrt(2))) - 1,
        lambda random: (
            statistics.cliffs_delta_interval(random.normal(0.7, 1, 30), random.normal(0, 1, 30)).interval
        ),
    ),
    "Cliff's delta of pairs": (
        2 * float(ndtr(0.5 / np.sqrt(2))) - 1,
        lambda random: statistics.cliffs_delta_interval(*reversed(_pairs(random)), pairs=True).interval,
    ),
    "ratio": (
        1.5,
        lambda random: statistics.ratio(random.normal(10, 2, 20), random.normal(15, 4, 20)).interval,
    ),
    "ratio of pairs": (1.05, lambda random: statistics.ratio_of_pairs(*_pairs(random)).interval),
    "epsilon squared": (
        _rank_share(MEANS),
        lambda random: (
            statistics.epsilon_squared(
                [random.normal(mean, 1, 40) for mean in MEANS],
                resamples=1_000,
                seed=int(random.integers(1 << 30)),
            ).interval
        ),
    ),
    "Kendall's W": (
        _agreement(MEANS),
        lambda random: (
            statistics.kendalls_w(
                random.normal(MEANS, 1, (40, 3)).tolist(), resamples=1_000, seed=int(random.integers(1 << 30))
            ).interval
        ),
    ),
    "bootstrap": (
        1.0,
        lambda random: statistics.bootstrap_interval(
            random.normal(1, 1, 60), resamples=400, seed=int(random.integers(1 << 30))
        ),
    ),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_coverage(name: str, cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    truth, draw = INTERVALS[name]
    random = np.random.Generator(np.random.PCG64(sum(map(ord, name))))
    found = [draw(random) for _ in range(repetitions)]
    covered = sum(interval is not None and truth in interval for interval in found) / repetitions
    assert abs(covered - 0.95) <= allowed(0.95, repetitions), covered


@pytest.mark.parametrize("test", [statistics.tukey_hsd, statistics.games_howell])
def test_intervals_of_all_pairs_hold_all_differences(test, cases: Callable[[int], int]) -> None:  # type: ignore[no-untyped-def]
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(7))
    covered = 0
    for _ in range(repetitions):
        pairs = test(_means(random))
        covered += all(MEANS[pair.second] - MEANS[pair.first] in pair.interval for pair in pairs)
    assert abs(covered / repetitions - 0.95) <= allowed(0.95, repetitions)
