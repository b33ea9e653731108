"""Whether suites find BBRv3 with one constant wrong by a tenth, and let an equal copy pass."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fullpipe import Run, Scenario, api
from fullpipe.sweeps import Job
from fullpipe.validation.check import Checked, check
from fullpipe.validation.check.measured import Here, Runner
from fullpipe.validation.check.suite import Case, Demand, Suite

DEMANDS = {
    "goodput": Demand(margin="1 %"),
    "rtt_mean": Demand(margin="1 %"),
    "retransmitted": Demand(margin="10 %, 20"),
}
WRONG = ({"up_gain": 1.1 * 1.25}, {"down_gain": 1.1 * 0.90625})
"""By turns: probes too hard, and does not drain what it has probed."""


def scenario(rng: random.Random, name: str, flows: Sequence[tuple[str, int]]) -> Scenario:
    """Flows on a bottleneck of random rate, delay and buffer."""
    rate, delay = rng.choice([5, 10, 20]), rng.choice([10, 20, 40])
    packets = int(rate * 1e6 * 2 * delay * 1e-3 / 8 / 1500 * rng.choice([0.5, 1, 2, 4]))
    queue = {"kind": "drop_tail", "packets": max(10, packets)}
    bottleneck = {"rate": f"{rate} Mbit/s", "delay": f"{delay} ms", "queue": queue}
    return Scenario(
        name=name,
        duration="20 s",
        warmup="2 s",
        topology={"kind": "dumbbell", "bottleneck": bottleneck},
        flows=[{"cca": cca, "count": count, "start_jitter": "1 s"} for cca, count in flows],
        record={"interval": "off"},
    )


def suite(number: int, most_seeds: int) -> Suite:
    """BBRv3 alone, two of them, and one with CUBIC, each on a path of its own."""
    rng = random.Random(number)
    flows = {"alone": [("bbr3", 1)], "two": [("bbr3", 2)], "rival": [("bbr3", 1), ("cubic", 1)]}
    cases = [Case(name, scenario(rng, name, of)) for name, of in flows.items()]
    return Suite(f"suite {number}", Path("suite.toml"), cases, DEMANDS, seeds=10, most_seeds=most_seeds)


def remembering() -> Runner:
    """Runs no job twice: several checks have the same base."""
    made: dict[tuple[str, int], Run] = {}

    def runner(todo: Sequence[Job]) -> list[Run]:
        keys = [(job.scenario.digest, job.seed) for job in todo]
        new = {key: job for key, job in zip(keys, todo, strict=True) if key not in made}
        made.update(zip(new, api.run_all(list(new.values())), strict=True))
        return [made[key] for key in keys]

    return runner


OF_BASES = remembering()
"""Never given a change: an equal copy, which may have the digest of its base, is a run of its own."""


def against_bbr3(number: int, change: dict[str, Any], most_seeds: int = 80) -> Checked:
    """The verdicts on a change of the first entry of every case."""
    base = suite(number, most_seeds)
    ours, theirs = Here(base.with_values(change), "native", api.run_all), Here(base, "native", OF_BASES)
    return check(base.with_free(change), theirs, ours)


def test_a_constant_that_is_wrong_by_a_tenth_regresses(cases: Callable[[int], int]) -> None:
    n = cases(20)
    wrong = [{"flows.0.cca": {"kind": "bbr3", **WRONG[i % len(WRONG)]}} for i in range(n)]
    said = [against_bbr3(i, change).decision for i, change in enumerate(wrong)]
    assert said.count("regressed") >= 0.9 * n


def test_an_equal_copy_is_identical(cases: Callable[[int], int]) -> None:
    copy = {"flows.0.cca": {"kind": "bbr3", "up_gain": 1.25}}
    assert all(against_bbr3(i, copy).is_identical for i in range(cases(20)))


def test_other_random_numbers_regress_in_one_suite_of_twenty(cases: Callable[[int], int]) -> None:
    n = cases(20)
    said = [against_bbr3(100 + i, {"flows.0.stream": "other"}, most_seeds=20).decision for i in range(n)]
    assert said.count("regressed") <= 1
