"""How often verdicts on real runs are wrong: forty pairs, 200 comparisons of each by seeds drawn from many.

Both sides of a pair are run once, with the same seeds, but for equal sides, which would be the same runs.
What is true of a pair is what all its seeds say together; a comparison sees ten of them. In pairs of equal
sides, which of the two is the reference is drawn for every seed, so that the difference is exactly none.
Without `--long` there is one network, not eight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from fullpipe import Scenario, sweeps
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.validation.compare.comparison import compare_variants
from fullpipe.validation.compare.side import Side

POOL, SEEDS, REPETITIONS = 120, 10, 200
MARGIN = Margin(relative=0.03)
ONCE_IN = 10_000
"""A test of a true rate fails by chance once in so many."""
RIVAL = {"cca": "cubic", "start_jitter": "1 s"}
"""What it leaves to the other flow depends on when it comes."""
OUTAGE = {"kind": "gilbert_elliott", "worsens": 1e-4, "improves": 0.01}
"""A hundred packets are lost in a row, in one run of five."""
NETWORKS = [(cca, delay, queue) for cca, delay, queue in product(("cubic", "bbr3"), (5, 20), (20, 60))]
KINDS = ("same", "+1 %", "+5 %", "bimodal", "other names")


@dataclass(frozen=True)
class Pair:
    """A kind of pair on a network: an algorithm, a delay in ms, and packets of a queue."""

    kind: str
    network: tuple[str, int, int]

    def side(self, *, is_other: bool) -> Scenario:
        """One of the two scenarios."""
        cca, delay_ms, packets = self.network
        faster = {"+1 %": 1.01, "+5 %": 1.05}.get(self.kind, 1.0) if is_other else 1.0
        flow: dict[str, Any] = {"cca": cca, "start_jitter": "100 ms", "name": "one"}
        if is_other and self.kind == "other names":
            flow["name"] = "another"
        bottleneck: dict[str, Any] = {
            "rate": f"{10_000 * faster:g} kbit/s",
            "delay": f"{delay_ms} ms",
            "queue": {"kind": "drop_tail", "packets": packets},
        }
        if self.kind == "bimodal":
            bottleneck["loss"] = OUTAGE
        return Scenario(
            name="side",
            duration="3 s",
            topology={"kind": "dumbbell", "bottleneck": bottleneck},
            flows=[flow, RIVAL],
        )


def pairs(networks: int) -> list[Pair]:
    return [Pair(kind, network) for network in NETWORKS[:networks] for kind in KINDS]


@cache
def run(pair: Pair, *, is_other: bool) -> Side:
    """All seeds of a side."""
    first = POOL if is_other and is_equal(pair) else 0
    made = sweeps.run(sweeps.jobs(pair.side(is_other=is_other), range(first, first + POOL)))
    found = Side.of_runs("other" if is_other else "reference", made, ["goodput"], [])
    rows = found.values.filter(pl.col("entry") == 0).with_columns(pl.col("seed") - first)
    return Side(found.name, found.scenario, rows)


def difference(pair: Pair) -> float:
    """What is true: by how much the other side is more, as a part of the reference."""
    sides = (run(pair, is_other=is_other) for is_other in (False, True))
    reference, other = (float(side.values["value"].to_numpy().mean()) for side in sides)
    return (other - reference) / reference


def samples(pair: Pair, count: int) -> Iterator[tuple[Side, Side]]:
    """The two sides with a few of the seeds."""
    draw = np.random.Generator(np.random.PCG64(sum(map(ord, str(pair)))))
    sides = [run(pair, is_other=is_other) for is_other in (False, True)]
    for _ in range(count):
        chosen = draw.choice(POOL, SEEDS, replace=False)
        swapped = draw.random(SEEDS) < (0.5 if is_equal(pair) else 0.0)
        values = [side.values["value"].to_numpy()[chosen] for side in sides]
        mixed = [np.where(swapped, b, a) for a, b in (values, values[::-1])]
        yield (
            sampled(sides[0], chosen, mixed[0]),
            sampled(sides[1], chosen, mixed[1]),
        )


def sampled(side: Side, chosen: Any, values: Any) -> Side:
    rows = side.values[chosen.tolist()].with_columns(value=pl.Series(values))
    return Side(side.name, side.scenario, rows)


def is_equal(pair: Pair) -> bool:
    return not pair.kind.startswith("+")


@cache
def verdicts(pair: Pair, count: int) -> Counter[str]:
    """What is said of many comparisons."""
    found = (compare_variants(*sides, ["goodput"], {"goodput": MARGIN}) for sides in samples(pair, count))
    return Counter(row.assessment.verdict for each in found for row in each.rows)


@pytest.fixture
def networks(cases: Callable[[int], int]) -> int:
    """How many of the networks to try."""
    return max(1, cases(len(NETWORKS)))


def most(rate: float, trials: int) -> int:
    """As many of some trials as a rate explains."""
    return int(binom.ppf(1 - 1 / ONCE_IN, trials, rate))


def told(kinds: tuple[str, ...], networks: int) -> Counter[str]:
    """The verdicts on all pairs of some kinds."""
    return sum(
        (verdicts(pair, REPETITIONS) for pair in pairs(networks) if pair.kind in kinds), Counter[str]()
    )


def test_there_are_forty_pairs() -> None:
    assert len(pairs(len(NETWORKS))) == 40


@pytest.mark.parametrize("kind", ["same", "bimodal", "other names"])
def test_of_equal_sides_one_is_better_once_in_twenty(kind: str, networks: int) -> None:
    found = told((kind,), networks)
    assert found.total() == REPETITIONS * networks
    assert found["better"] + found["worse"] <= most(0.05, found.total())


@pytest.mark.parametrize("kind", ["+1 %", "+5 %"])
def test_what_is_better_is_called_worse_once_in_forty(kind: str, networks: int) -> None:
    better = [pair for pair in pairs(networks) if pair.kind == kind and difference(pair) > 0]
    assert better
    found = sum((verdicts(pair, REPETITIONS) for pair in better), Counter[str]())
    assert found["worse"] <= most(0.025, found.total())


def test_what_differs_by_more_than_the_margin_is_equivalent_once_in_twenty(networks: int) -> None:
    beyond = [pair for pair in pairs(networks) if not is_equal(pair) and abs(difference(pair)) >= 0.03]
    assert beyond
    found = sum((verdicts(pair, REPETITIONS) for pair in beyond), Counter[str]())
    assert found["equivalent"] <= most(0.05, found.total())


def test_of_two_kinds_of_runs_there_are_both() -> None:
    values = run(pairs(1)[KINDS.index("bimodal")], is_other=False).values["value"].to_numpy()
    starved = (values < 0.6 * np.median(values)).mean()
    assert 0.05 < starved < 0.5


def test_other_names_are_compared_by_place(networks: int) -> None:
    pair = next(pair for pair in pairs(networks) if pair.kind == "other names")
    reference, other = next(samples(pair, 1))
    (row,) = compare_variants(reference, other, ["goodput"]).rows
    assert {"one", "another"} <= set(row.of.replace("/", " ").replace(",", " ").split())


def test_pairs_of_unlike_flows_are_refused() -> None:
    pair = pairs(1)[0]
    reference, scenario = run(pair, is_other=False), pair.side(is_other=True)
    tree = scenario.to_dict()
    more = Scenario(**{**tree, "flows": [*tree["flows"], {"cca": "reno"}]})
    with pytest.raises(ValueError, match="flows"):
        compare_variants(reference, Side("other", more, reference.values), ["goodput"])
