"""When there are enough runs, and how often what they then say is right."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from fullpipe.analysis.precision import Known, Target, how_precise, known, looks, modes_of, read_targets
from fullpipe.analysis.statistics import two_modes
from fullpipe.errors import ScenarioError
from tests.statistics.test_levels import REPETITIONS, Random, allowed

STARVING = 0.2
"""The probability of a run in which a flow has next to nothing."""
Draw = Callable[[Random, int], np.ndarray]


def normal(deviation: float) -> Draw:
    return lambda random, n: 10e6 * random.normal(1, deviation, n)


def starving(random: Random, n: int) -> np.ndarray:
    """Of mean 10 Mbit/s."""
    return 10e6 * (np.where(random.random(n) < STARVING, 0.05, 1.2375) + random.normal(0, 0.01, n))


def last_look(values: np.ndarray, target: Target, most: int = 500) -> Known:
    """What is known when seeds end, as `fullpipe.sweeps.until` ends them."""
    was_precise = False
    for n in looks(most):
        found = how_precise(values[:n].tolist(), target, "bit/s")
        if found.is_precise and was_precise:
            break
        was_precise = found.is_precise
    return found


@pytest.mark.parametrize("deviation", [0.045, 0.05, 0.1])
def test_intervals_hold_the_mean_however_seeds_end(deviation: float, cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    random, draw = np.random.Generator(np.random.PCG64(11)), normal(deviation)
    found = [last_look(draw(random, 500), Target("goodput", 0.02)) for _ in range(repetitions)]
    covered = sum(10e6 in each.interval for each in found) / repetitions
    assert abs(covered - 0.95) <= allowed(0.95, repetitions)


@pytest.mark.parametrize("relative", [0.02, 0.1])
def test_where_one_run_in_five_starves_its_probability_is_held(
    relative: float, cases: Callable[[int], int]
) -> None:
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(12))
    found = [last_look(starving(random, 500), Target("goodput", relative)) for _ in range(repetitions)]
    covered = sum(STARVING in each.modes.low.share if each.modes else 10e6 in each.interval for each in found)
    assert abs(covered / repetitions - 0.95) <= allowed(0.95, repetitions)


@pytest.mark.parametrize("n", [20, 50, 100])
def test_one_kind_is_called_two_at_most_once_in_a_hundred(n: int, cases: Callable[[int], int]) -> None:
    repetitions = cases(10 * REPETITIONS)
    random = np.random.Generator(np.random.PCG64(n))
    found = sum(two_modes(random.normal(10, 3, n)) is not None for _ in range(repetitions))
    assert found / repetitions <= 0.01


def test_skewed_values_are_rarely_called_two_kinds(cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(4))
    found = sum(two_modes(random.lognormal(0, 1, 50)) is not None for _ in range(repetitions))
    assert found / repetitions <= 0.01


@pytest.mark.parametrize(("n", "share"), [(20, 0.9), (30, 0.97), (50, 0.99), (100, 0.99)])
def test_that_one_run_in_five_starves_is_found(n: int, share: float, cases: Callable[[int], int]) -> None:
    repetitions = cases(REPETITIONS)
    random = np.random.Generator(np.random.PCG64(n))
    found = sum(two_modes(starving(random, n)) is not None for _ in range(repetitions))
    assert found / repetitions >= share


def test_two_kinds_have_their_means_and_probabilities() -> None:
    found = two_modes([0.0, 0.1, 0.2, 0.1] + [9.9, 10.1] * 8)
    assert found is not None
    assert (found.low.runs, found.high.runs) == (4, 16)
    assert (found.low.mean, found.high.mean) == pytest.approx((0.1, 10.0))
    assert (found.low.share.low, found.low.share.high) == pytest.approx((0.0807, 0.4160), abs=1e-4)


def test_a_gap_that_does_not_matter_parts_nothing() -> None:
    assert two_modes([10.0] * 10 + [10.01] * 10) is None


def test_twenty_values_are_needed() -> None:
    assert two_modes([0.1] * 4 + [10.0] * 15) is None


def test_looks_are_a_tenth_apart_or_ten() -> None:
    found = list(looks(200))
    assert found[:4] == [20, 30, 40, 50]
    assert found[8:] == [100, 110, 121, 134, 148, 163, 180, 198, 200]
    assert list(looks(20)) == [20]


def test_targets_are_read() -> None:
    assert read_targets("goodput ci<2%, rtt_p95 ci < 5 %") == [
        Target("goodput", 0.02),
        Target("rtt_p95", 0.05),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("goodput<2%", "write METRIC ci<X%"),
        ("goodput ci<0%", "write METRIC ci<X%"),
        ("", "write METRIC ci<X%"),
        ("gooput ci<2%", 'did you mean "goodput"'),
        ("ci<2%, goodput ci<3%", "is given twice"),
    ],
)
def test_what_is_no_target_is_refused(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        read_targets(text)


def table(groups: dict[str, list[float | None]]) -> pl.DataFrame:
    rows = [
        (seed, "native", "flows", None, of, "goodput", value, "bit/s")
        for of, values in groups.items()
        for seed, value in enumerate(values, 1)
    ]
    columns = ["seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_every_group_counts() -> None:
    narrow, wide = [10e6, 10.1e6] * 10, [5e6, 9e6] * 10
    found = known(table({"a": narrow, "b": wide}), [Target("goodput", 0.02)])
    assert [each.is_precise for each in found] == [True, False]


def test_next_to_nothing_is_held_against_what_others_have() -> None:
    starved = np.linspace(20e3, 150e3, 20).tolist()  # ±18 kbit/s is no 2 % of it, but of a tenth of 10 Mbit/s
    alone = known(table({"a": starved}), [Target("goodput", 0.02)])
    beside = known(table({"a": starved, "b": [10e6, 10.1e6] * 10}), [Target("goodput", 0.02)])
    assert [each.is_precise for each in alone] == [False]
    assert [each.is_precise for each in beside] == [True, True]


def test_a_floor_in_the_unit_of_the_metric() -> None:
    (found,) = known(table({"a": np.linspace(1e3, 3e3, 20).tolist()}), [Target("goodput", 0.02)])
    assert (found.allowed, found.is_precise) == (10e3, True)


def test_a_metric_that_some_runs_lack_is_refused() -> None:
    with pytest.raises(ScenarioError, match="goodput of a: 1 of 3 runs have no value"):
        known(table({"a": [1.0, None, 2.0]}), [Target("goodput", 0.02)])
    with pytest.raises(ScenarioError, match="goodput: no run has a value of it"):
        known(table({"a": [None, None]}), [Target("goodput", 0.02)])


def test_modes_of_a_table_say_what_they_are_of() -> None:
    values = table({"a": [10e6, 10.1e6] * 10, "b": [0.1e6] * 4 + [9.9e6, 10e6] * 8})
    ((row, found),) = modes_of(values, ["goodput"])
    assert (row["of"], row["unit"], found.low.runs) == ("b", "bit/s", 4)
