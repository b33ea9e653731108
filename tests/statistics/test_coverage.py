"""How often an interval holds the true value: 95 % of 2,000 repetitions, give or take 1.5 points."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit

from fullpipe import statistics
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.statistics import Interval
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import Finding, Subject
from fullpipe.validation.compare.rules import independent, paired
from fullpipe.validation.compare.sentence import difference_of, one
from tests.statistics.test_levels import REPETITIONS, Random, allowed

Draw = Callable[[Random], Interval | None]


def _means(random: Random) -> list[np.ndarray]:
    return [random.normal(mean, 1, 20) for mean in (0, 0.5, 1)]


def _pairs(random: Random) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that have much in common; the second is higher by 0.5, and varies alike."""
    shared = random.normal(0, 0.8, 25)
    return 10 + shared + random.normal(0, 0.6, 25), 10.5 + shared + random.normal(0, 0.6, 25)


def _of_cells(random: Random) -> Interval | None:
    """Two levels of two cells each: from a mean of 10 to one of 15."""
    cells = [random.normal(mean, sd, n) for mean, sd, n in ((8, 1, 6), (12, 4, 9), (14, 2, 12), (16, 3, 8))]
    base = statistics.contrast_of_cells(cells, [0.5, 0.5, 0, 0])
    return statistics.contrast_of_cells(cells, [-0.5, -0.5, 0.5, 0.5]).relative_to(base)


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
    "relative change of cells": (0.5, _of_cells),
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


_SEEDS, _HALF_WIDTH = 12, 0.09


def _sides(random: Random, correlation: float, change: float) -> tuple[list[float], list[float]]:
    """A base whose interval has a half-width of 9 % of the mean, and another side with the same spread."""
    spread = 100 * _HALF_WIDTH / float(stdtrit(_SEEDS - 1, 0.975)) * np.sqrt(_SEEDS)
    common, base, other = random.normal(0, spread, (3, _SEEDS))
    shared, own = np.sqrt(correlation) * common, np.sqrt(1 - correlation)
    return (100 + shared + own * base).tolist(), (100 * (1 + change) + shared + own * other).tolist()


def _printed(found: Finding) -> tuple[float, float]:
    """Ends of the interval of a relative change, in per cent, as a table has them."""
    shown = difference_of(found, has_unit=True)
    told = re.fullmatch(r"\S+ % \[(\S+), (\S+)\]", shown)
    assert told, shown
    return float(told[1]), float(told[2])


@pytest.mark.parametrize(
    ("rule", "correlation"), [("paired", 0.0), ("paired", 0.5), ("paired", 0.9), ("independent", 0.0)]
)
def test_printed_relative_changes_cover_the_truth(
    rule: str, correlation: float, cases: Callable[[int], int]
) -> None:
    repetitions, change = cases(REPETITIONS), 1.48
    random = np.random.Generator(np.random.PCG64(round(100 * correlation) + 1))
    level = 0.95 if rule == "paired" else 0.90
    subject, margin = Subject("flows", 0, "new", "goodput", "bit/s"), Margin(relative=0.05)
    covered = 0
    for _ in range(repetitions):
        contrast = Contrast(
            *_sides(random, correlation, change), 5.0, "higher", subject=subject, stated=margin
        )
        found = independent(contrast) if rule == "independent" else paired([contrast])[0]
        low, high = _printed(found)
        covered += low <= 100 * change <= high
    assert abs(covered / repetitions - level) <= allowed(level, repetitions), covered


def test_a_relative_interval_excludes_0_if_the_absolute_interval_does() -> None:
    random = np.random.Generator(np.random.PCG64(3))
    for _ in range(200):
        a, b = _sides(random, 0.5, random.uniform(-0.2, 0.2))
        for pairs in (True, False):
            absolute = statistics.paired(a, b).interval(0.95) if pairs else statistics.welch_interval(b, a)
            relative = statistics.relative_interval(a, b, pairs=pairs)
            assert relative
            assert (0 in relative) == (0 in absolute)


def test_a_relative_interval_belongs_to_the_ratio_of_the_means() -> None:
    random = np.random.Generator(np.random.PCG64(4))
    a, b = _sides(random, 0.5, 0.3)
    for ratio, pairs in ((statistics.ratio_of_pairs, True), (statistics.ratio, False)):
        whole, relative = ratio(a, b).interval, statistics.relative_interval(a, b, pairs=pairs)
        assert whole
        assert relative
        assert (relative.low, relative.high) == pytest.approx((whole.low - 1, whole.high - 1))


def test_a_base_that_may_be_0_has_no_relative_interval() -> None:
    subject, margin = Subject("flows", 0, "new", "goodput", "bit/s"), Margin(relative=0.05)
    values = [0.0, 0.0, 5e6, 0.0], [6e6, 7e6, 6.5e6, 7e6]
    assert statistics.relative_interval(*values, pairs=True) is None
    (found,) = paired([Contrast(*values, 1e5, "higher", subject=subject, stated=margin)])
    assert found.relative is None
    assert not found.is_relative
    assert difference_of(found, has_unit=True) == "+5.38 Mbit/s [+1.20, +9.55]"
    assert "%" not in one(found)
