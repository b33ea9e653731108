"""How often a true hypothesis is rejected: 5 % of 2,000 repetitions, give or take 1.5 points."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from fullpipe import statistics

Random = np.random.Generator
REPETITIONS = 2_000
POINTS = 0.015


def allowed(rate: float, repetitions: int) -> float:
    """How far a share may be from a rate: 1.5 points, or of fewer repetitions what chance explains."""
    return POINTS if repetitions >= REPETITIONS else 3.5 * math.sqrt(rate * (1 - rate) / repetitions)


def three(random: Random) -> list[np.ndarray]:
    return [random.normal(5, 1, 20) for _ in range(3)]


def unlike(random: Random) -> list[np.ndarray]:
    """Of equal means, with several spreads and sizes."""
    return [random.normal(5, sd, n) for sd, n in ((1, 15), (2, 20), (4, 30))]


def blocks(random: Random) -> np.ndarray:
    """Twenty seeds of three levels, which have much in common."""
    return random.normal(0, 2, (20, 1)) + random.normal(0, 1, (20, 3))


def cells(random: Random, sds: tuple[float, ...]) -> list[list[np.ndarray]]:
    made = [random.normal(3, sd, 15) for sd in sds]
    return [made[:2], made[2:]]


def three_factors(random: Random, sds: tuple[float, float]) -> dict[tuple[int, ...], np.ndarray]:
    """Cells of equal means, with one standard deviation for each level of the last factor."""
    return {cell: random.normal(3, sds[cell[2]], 15) for cell in product(range(2), range(3), range(2))}


def mixed(random: Random) -> float:
    seeds = random.normal(0, 2, 15)
    values = {
        (i, j, n): float(seeds[n] + random.normal()) for i, j, n in product(range(2), range(2), range(15))
    }
    return statistics.mixed_model(values)["interaction"].p


def equivalence(random: Random) -> float:
    """At the margin itself."""
    shared = random.normal(0, 1, 20)
    return statistics.tost_of_pairs(shared, shared + random.normal(0.5, 0.4, 20), 0.5).p


TESTS: dict[str, Callable[[Random], float]] = {
    "ANOVA": lambda random: statistics.anova(three(random)).p,
    "Welch's ANOVA": lambda random: statistics.welch_anova(unlike(random)).p,
    "Welch's t": lambda random: statistics.welch_t(*unlike(random)[:2]).p,
    "paired t": lambda random: statistics.paired(*blocks(random).T[:2]).p,
    "Kruskal-Wallis": lambda random: statistics.kruskal_wallis(three(random)).p,
    "Friedman": lambda random: statistics.friedman(blocks(random)).p,
    "Dunn": lambda random: min(pair.p for pair in statistics.dunn(three(random))),
    "Tukey": lambda random: min(pair.p for pair in statistics.tukey_hsd(three(random))),
    "Games-Howell": lambda random: min(pair.p for pair in statistics.games_howell(unlike(random))),
    "two-way ANOVA": lambda random: statistics.two_way_anova(cells(random, (1, 1, 1, 1)))["interaction"].p,
    "Johansen": lambda random: statistics.welch_two_way_anova(cells(random, (1, 2, 3, 4)))["interaction"].p,
    "three-way ANOVA": lambda random: statistics.factorial_anova(three_factors(random, (1, 1)))[0, 1, 2].p,
    "Johansen, three factors": lambda random: (
        statistics.welch_factorial_anova(three_factors(random, (1, 4)))[0, 1].p
    ),
    "mixed model": mixed,
    "equivalence by pairs": equivalence,
    "equivalence": lambda random: statistics.tost(random.normal(0, 1, 20), random.normal(2, 2, 30), 2.0).p,
    "MANOVA": lambda random: statistics.manova([random.normal(0, 1, (20, 2)) for _ in range(3)]).p,
}
CONSERVATIVE = {"Dunn": 0.02}
"""What rejects less often by its nature: Holm's procedure takes pairs as if they were independent."""


@pytest.mark.parametrize("name", TESTS)
def test_level(name: str, cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(sum(map(ord, name))))
    rejected = sum(TESTS[name](random) < 0.05 for _ in range(repetitions)) / repetitions
    assert rejected <= 0.05 + allowed(0.05, repetitions)
    assert rejected >= CONSERVATIVE.get(name, 0.05) - allowed(0.05, repetitions)


def test_holm_keeps_the_level_of_a_family(cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS * 10)
    p = np.random.Generator(np.random.PCG64(2)).random((repetitions, 6))
    rejected = sum(min(statistics.holm(row)) < 0.05 for row in p) / repetitions
    assert abs(rejected - 0.05) <= POINTS


def test_benjamini_and_hochberg_keep_the_share_of_false_discoveries(cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS * 10)
    random = np.random.Generator(np.random.PCG64(3))
    shares = []
    for row in random.random((repetitions, 8)):
        row[:4] /= 1_000  # half of the hypotheses are false
        rejected = [i for i, q in enumerate(statistics.benjamini_hochberg(row)) if q < 0.05]
        shares.append(sum(i >= 4 for i in rejected) / max(len(rejected), 1))
    assert abs(float(np.mean(shares)) - 0.05 * 4 / 8) <= POINTS
