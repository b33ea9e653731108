"""Whether a factor matters, does not matter, or is undecided, and how often that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

import numpy as np
import pytest
from scipy.stats import binom

from fullpipe import statistics
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.validation.compare.finding import Subject
from fullpipe.validation.test.design import Design
from fullpipe.validation.test.factor import Factor, factors_of, levels_of
from fullpipe.validation.test.tests import several_factors, several_levels

Means = Callable[[tuple[int, ...]], float]
SUBJECT = Subject("flows", 0, "mine", "goodput", "bit/s")
MARGIN = Margin(absolute=3)
REPETITIONS = 200
ONCE_IN = 10_000


def design(
    means: Means, shape: tuple[int, ...], draw: np.random.Generator, *, seeds: int = 10, blocked: bool = True
) -> Design:
    """Runs with these means of cells; the later the cell, the more runs of it vary."""
    shared = draw.normal(0, 3, seeds)
    cells = {}
    for n, place in enumerate(product(*map(range, shape))):
        own = draw.normal(0, 1 + n / prod(shape), seeds)
        values = 100 + means(place) + own + (shared if blocked else draw.normal(0, 1, seeds))
        first = 0 if blocked else n * seeds
        cells[tuple(f"{k}" for k in place)] = dict(enumerate(values.tolist(), first))
    levels = tuple(tuple(f"{k}" for k in range(count)) for count in shape)
    return Design(SUBJECT, tuple("abc"[: len(shape)]), levels, cells)


def factors(made: Design) -> list[Factor]:
    """The factors of a design whose primary tests are corrected among themselves."""
    if len(made.factors) > 1:
        rows = list(islice(several_factors(made, classical=False), 2 ** len(made.factors) - 1))
    else:
        rows = [next(several_levels(made, MARGIN, classical=False))]
    corrected = statistics.holm([row.p for row in rows])
    return list(
        factors_of(
            made, MARGIN, [replace(row, p_corrected=p) for row, p in zip(rows, corrected, strict=True)]
        )
    )


@dataclass(frozen=True)
class Case:
    """A design whose first factor has levels that differ by so much."""

    shape: tuple[int, ...]
    blocked: bool
    more: float
    """Of the last level of the first factor."""

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.shape))} {'blocked' if self.blocked else 'apart'} +{self.more:g}"

    def statuses(self) -> Counter[str]:
        """The status of the first factor in many experiments."""
        draw = np.random.Generator(np.random.PCG64(sum(map(ord, self.name))))

        def mean(place: tuple[int, ...]) -> float:
            return self.more * (place[0] == self.shape[0] - 1)

        return Counter(
            factors(design(mean, self.shape, draw, blocked=self.blocked))[0].status
            for _ in range(REPETITIONS)
        )


SHAPES = [((3,), True), ((3,), False), ((3, 2), True), ((3, 2), False), ((2, 2, 2), False)]


def most(rate: float) -> int:
    """As many of the experiments as a rate explains."""
    return int(binom.ppf(1 - 1 / ONCE_IN, REPETITIONS, rate))


def named(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", [Case(*shape, MARGIN.absolute) for shape in SHAPES], ids=named)
def test_a_factor_whose_levels_differ_by_the_margin_rarely_does_not_matter(case: Case) -> None:
    assert case.statuses()["does not matter"] <= most(0.05)


@pytest.mark.parametrize("case", [Case(*shape, 0.0) for shape in SHAPES], ids=named)
def test_a_factor_of_equal_levels_rarely_matters(case: Case) -> None:
    assert case.statuses()["matters"] <= most(0.05)


@pytest.mark.parametrize("case", [Case(*shape, 0.0) for shape in SHAPES if shape[1]], ids=named)
def test_a_factor_of_equal_levels_mostly_does_not_matter(case: Case) -> None:
    assert case.statuses()["does not matter"] >= 0.8 * REPETITIONS


@pytest.mark.parametrize("case", [Case(*shape, 8.0) for shape in SHAPES[:4]], ids=named)
def test_a_factor_of_levels_far_apart_matters(case: Case) -> None:
    assert case.statuses()["matters"] >= 0.95 * REPETITIONS


def test_a_factor_that_does_not_matter_on_average_may_matter_in_an_interaction() -> None:
    draw = np.random.default_rng(1)
    first, second = factors(design(lambda place: 5.0 * (-1) ** sum(place), (2, 2), draw, seeds=20))
    assert first.status == second.status == "does not matter"
    assert first.interactions == second.interactions
    assert [row.factors for row in first.interactions] == [("a", "b")]


def test_means_of_levels_are_unweighted_over_cells() -> None:
    made = design(lambda place: 10.0 * place[0] + 40.0 * place[1], (2, 2), np.random.default_rng(2))
    few = {
        cell: dict(islice(runs.items(), 3 if cell == ("1", "1") else 10)) for cell, runs in made.cells.items()
    }
    (pair,) = (found := levels_of(replace(made, cells=few), 0, MARGIN)).pairs
    assert np.diff(found.means)[0] == pytest.approx(10, abs=2)
    assert pair.contrast.difference == pytest.approx(np.diff(found.means)[0])


def test_levels_of_one_factor_are_compared_as_by_themselves() -> None:
    for blocked, test in ((True, statistics.tost_of_pairs), (False, statistics.tost)):
        made = design(lambda place: place[0], (2,), np.random.default_rng(3), blocked=blocked)
        first, second = (made.values((level,)) for level in made.levels[0])
        found = levels_of(made, 0, MARGIN)
        assert found.p_equivalent == pytest.approx(test(first, second, MARGIN.absolute).p)


def test_the_margin_is_a_share_of_the_earlier_level() -> None:
    made = design(lambda place: -50.0 * place[0], (2,), np.random.default_rng(4))
    (pair,) = levels_of(made, 0, Margin(0.1)).pairs
    assert pair.allowed == pytest.approx(10, abs=0.5)


def test_the_largest_difference_is_of_the_extreme_means() -> None:
    made = design(lambda place: 30.0 * place[0], (3,), np.random.default_rng(4))
    found = levels_of(made, 0, MARGIN).largest
    assert found.levels == (made.levels[0][0], made.levels[0][2])
    assert found.to_dict()["difference"] == pytest.approx(60, abs=2)


def test_as_many_seeds_as_are_said_decide() -> None:
    draw = np.random.default_rng(5)
    (found,) = factors(design(lambda place: 3.0 * (place[0] == 2), (3,), draw, seeds=4, blocked=False))
    assert found.status == "undecided"
    assert found.seeds is not None
    decided = sum(
        factors(
            design(
                lambda place: found.levels.means[place[0]] - 100,
                (3,),
                draw,
                seeds=2 * found.seeds,
                blocked=False,
            )
        )[0].status
        != "undecided"
        for _ in range(20)
    )
    assert decided >= 15
