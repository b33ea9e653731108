"""How often verdicts are wrong where the truth is known: forty kinds of pairs, 200 comparisons of each."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import paired

Draw = Callable[[np.random.Generator, int], "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]
REPETITIONS = 200
MARGIN = 0.03
"""Of the reference, whose mean is 1."""
ONCE_IN = 10_000
"""A test of a true rate fails by chance once in so many."""


def _normal(draw: np.random.Generator, n: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    return draw.normal(1, 0.04, n)


def _skewed(draw: np.random.Generator, n: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    return draw.lognormal(-0.02, 0.2, n)


def _starving(draw: np.random.Generator, n: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """One run in five has next to nothing."""
    return np.where(draw.random(n) < 0.2, 0.05, 1.2375) + draw.normal(0, 0.01, n)


@dataclass(frozen=True)
class Pair:
    """Two sides: what each draws, by how much the second is more, and how alike seeds make them."""

    name: str
    draw: Draw
    more: float
    common: float
    """The share of the variance that both sides of a seed have in common."""
    seeds: int

    def contrast(self, draw: np.random.Generator) -> Contrast:
        """One comparison."""
        shared, first, second = (self.draw(draw, self.seeds) - 1 for _ in range(3))
        reference, other = (
            1 + np.sqrt(self.common) * shared + np.sqrt(1 - self.common) * own for own in (first, second)
        )
        return Contrast(reference.tolist(), (other + self.more).tolist(), MARGIN, "higher")

    def verdicts(self) -> Counter[str]:
        """What is said of many comparisons."""
        draw = np.random.Generator(np.random.PCG64(sum(map(ord, self.name))))
        return Counter(paired([self.contrast(draw)])[0].verdict for _ in range(REPETITIONS))


def pairs() -> Iterator[Pair]:
    shapes: dict[str, Draw] = {"normal": _normal, "skewed": _skewed, "starving": _starving}
    for (shape, draw), more, common, seeds in product(
        shapes.items(), (0.0, 0.01, 0.05, MARGIN), (0.0, 0.9), (10, 20)
    ):
        if not (shape == "starving" and seeds == 10):
            yield Pair(f"{shape} +{more:g} common {common:g} seeds {seeds}", draw, more, common, seeds)


PAIRS = list(pairs())


def most(rate: float, trials: int = REPETITIONS) -> int:
    """As many of some comparisons as a rate explains."""
    return int(binom.ppf(1 - 1 / ONCE_IN, trials, rate))


def test_there_are_forty_kinds_of_pairs() -> None:
    assert len(PAIRS) == 40


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.more == 0], ids=lambda pair: pair.name)
def test_of_equal_sides_one_is_better_at_most_once_in_twenty(pair: Pair) -> None:
    found = pair.verdicts()
    assert found["better"] + found["worse"] <= most(0.05)


def test_the_rate_over_all_equal_sides_is_the_nominal_one() -> None:
    equal = [pair for pair in PAIRS if pair.more == 0]
    found = sum((pair.verdicts() for pair in equal), Counter[str]())
    assert found["better"] + found["worse"] <= most(0.05, found.total())


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.more > 0], ids=lambda pair: pair.name)
def test_what_is_better_is_called_worse_at_most_once_in_forty(pair: Pair) -> None:
    assert pair.verdicts()["worse"] <= most(0.025)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.more >= MARGIN], ids=lambda pair: pair.name)
def test_what_differs_by_the_margin_is_equivalent_at_most_once_in_twenty(pair: Pair) -> None:
    assert pair.verdicts()["equivalent"] <= most(0.05)


def test_a_difference_of_five_per_cent_is_found() -> None:
    (pair,) = [pair for pair in PAIRS if pair.name == "normal +0.05 common 0.9 seeds 20"]
    assert pair.verdicts()["better"] == REPETITIONS


def test_a_difference_of_one_per_cent_does_not_matter() -> None:
    (pair,) = [pair for pair in PAIRS if pair.name == "normal +0.01 common 0.9 seeds 20"]
    assert pair.verdicts()["equivalent"] == REPETITIONS
