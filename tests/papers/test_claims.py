"""Claims on measurements made up by hand: every kind, both readings, and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from fullpipe.papers.claims import Claim, Court, Judged
from fullpipe.papers.experiments import Experiment, Measurements, measured
from fullpipe.papers.verdicts import Verdict, holds, judge_comparisons
from fullpipe.results import Run
from fullpipe.scenario import Scenario
from fullpipe.sweeps import Job

SCENARIO = Scenario.named("single-reno")
READINGS = ("new a", "new b")
OTHERS = ("old", "older")
Values = Mapping[tuple[str, float], float]


def measurements(quantity: str, values: Values, *, spread: float = 0.01, seeds: int = 3) -> Measurements:
    """One experiment with the condition "size"; seed i is (i - 1) spreads away from the value."""
    found = Measurements()
    for (algorithm, size), value in values.items():
        for seed in range(seeds):
            job = Job(SCENARIO, seed, point={"experiment": "e", "algorithm": algorithm, "size": size})
            found.add(job, {quantity: value + (seed - (seeds - 1) / 2) * spread})
    return found


def judged(row: Mapping[str, Any], values: Values, **how: Any) -> list[Judged]:
    claim = Claim.of({"id": "x", "says": "y", "experiment": "e", "quantity": "q", **row})
    return Court(measurements("q", values, **how), "new", READINGS, OTHERS).judged(claim)


VALUES: Values = {
    ("new a", 1): 5,
    ("new a", 2): 10,
    ("new b", 1): 9,
    ("new b", 2): 18,
    ("old", 1): 10,
    ("old", 2): 20,
    ("older", 1): 30,
    ("older", 2): 15,
}


def test_a_change_is_one_of_the_means_over_conditions() -> None:
    row = {"change": {"of": "new", "against": "old"}, "between": [-50, -50]}
    a, b = judged(row, VALUES)
    assert (a.mean, b.mean) == (pytest.approx(-50, abs=0.1), pytest.approx(-10, abs=0.1))
    assert (a.verdict, b.verdict) == (Verdict.REPRODUCED, Verdict.SAME_DIRECTION)
    assert (a.closest, b.closest) == (True, False)


def test_a_change_can_be_in_points() -> None:
    row = {"change": {"of": "new", "against": "old"}, "points": True, "between": [-1.5, -1.5]}
    assert [j.mean for j in judged(row, VALUES)] == [pytest.approx(-7.5), pytest.approx(-1.5)]


def test_a_value_is_one_of_each_algorithm() -> None:
    row = {"value": {"algorithm": ["old"]}, "where": {"size": 2}, "between": [20, 20]}
    (found,) = judged(row, VALUES)
    assert (found.mean, found.verdict, found.reading) == (pytest.approx(20), Verdict.REPRODUCED, "")


def test_higher_compares_under_every_condition() -> None:
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert [(j.held, j.compared, j.verdict) for j in judged(row, VALUES)] == [(2, 2, "reproduced")] * 2
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "older"}, "each": {"size": [1, 2]}}
    (found,) = judged(row, VALUES)
    assert (found.held, found.compared, found.verdict) == (1, 2, Verdict.NOT_REPRODUCED)


def test_each_may_span_algorithms() -> None:
    row = {"higher": {"algorithm": "old"}, "each": {"algorithm": ["new", "older"]}, "where": {"size": 2}}
    assert [(j.held, j.compared) for j in judged(row, VALUES)] == [(2, 2), (2, 2)]


def test_slack_lets_a_difference_pass() -> None:
    # 9 against 10 is a relative difference of 1 / 9.5.
    row = {"higher": {"algorithm": "new"}, "lower": {"algorithm": "old"}, "where": {"size": 1}}
    assert judged(row, VALUES)[1].held == 0
    assert judged({**row, "slack": 0.2}, VALUES)[1].held == 1


def test_rising_and_falling_go_from_each_value_to_the_next() -> None:
    for kind, expected in (("rising", 1), ("falling", 0)):
        (found,) = judged({kind: "size", "each": {"algorithm": ["old"]}}, VALUES)
        assert (found.held, found.compared) == (expected, 1)
        assert judged({kind: "size", "each": {"algorithm": ["older"]}}, VALUES)[0].held == 1 - expected


def test_ranks_leave_out_the_other_readings_and_the_algorithm_itself() -> None:
    row = {"lowest": 1, "where": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert [(j.held, j.compared) for j in judged(row, VALUES)] == [(2, 2), (1, 2)]
    (old,) = judged({"lowest": 1, "where": {"algorithm": "old"}, "each": {"size": [1, 2]}}, VALUES)
    assert old.held == 1
    assert judged({"highest": 2, "where": {"algorithm": "new", "size": 2}}, VALUES)[1].held == 1


def test_what_is_not_measured() -> None:
    (contradicted,) = judged({"contradicted": "why"}, {})
    (untestable,) = judged({"untestable": "why"}, {})
    assert (contradicted.verdict, untestable.verdict) == (Verdict.CONTRADICTED, Verdict.NOT_TESTABLE)
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "older"}, "where": {"size": 7}}
    assert judged(row, VALUES)[0].verdict is Verdict.NOT_TESTABLE


def test_the_verdict_on_words() -> None:
    clear, unclear, wrong = [1.0, 1.1, 1.2], [-1.0, 0.1, 1.0], [-1.0, -1.1, -1.2]
    assert judge_comparisons([clear, clear]) is Verdict.REPRODUCED
    assert judge_comparisons([clear, clear, unclear]) is Verdict.SAME_DIRECTION
    assert judge_comparisons([clear, unclear]) is Verdict.NOT_REPRODUCED
    assert judge_comparisons([clear, clear, wrong]) is Verdict.NOT_REPRODUCED
    assert judge_comparisons([]) is Verdict.NOT_TESTABLE
    assert [holds([0.1]), holds([0.0]), holds([-0.1])] == [True, False, False]


def test_an_experiment_runs_all_algorithms_under_all_conditions() -> None:
    swept = Scenario.named("cubic-vs-bbr1")
    (path,) = swept.sweep

    def sent(run: Run) -> dict[str, float]:
        return {"sent": float(run.flows["sent_packets"].sum())}

    experiment = Experiment("e", swept, {path: "size"}, sent)
    todo = experiment.jobs({"Reno": "reno", "BBR": "bbr1"}, (1, 2))
    assert len(todo) == 2 * 5 * 2
    assert {flow.cca.kind for flow in todo[0].scenario.flows} == {"reno"}
    assert todo[-1].point == {"experiment": "e", "algorithm": "BBR", "size": "8 bdp"}
    found = Measurements()
    for job in todo:
        found.add(job, {"sent": float(job.seed)})
    assert found.at("e", "sent", "BBR", {"size": "1 bdp"}) == [1.0, 2.0]
    assert found.choices("e", "size") == list(swept.sweep[path])
    assert found.table().height == 2 * 5
    assert found.table().row(0, named=True)["mean"] == 1.5
    assert measured([experiment], [], []).table().height == 0


def test_what_an_engine_could_not_run_is_not_testable() -> None:
    missing = {**VALUES, ("older", 1): math.nan}
    change = {"change": {"of": "older", "against": "old"}, "between": [-50, -50]}
    lowest = {"lowest": 1, "where": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert {j.verdict for j in judged(change, missing)} == {Verdict.NOT_TESTABLE}
    assert {j.verdict for j in judged(lowest, missing)} == {Verdict.NOT_TESTABLE}
    assert Verdict.NOT_TESTABLE not in {j.verdict for j in judged(lowest, VALUES)}


def test_a_run_that_is_missing_has_no_numbers() -> None:
    experiment = Experiment("e", SCENARIO, {}, lambda _: {"q": 1.0})
    jobs = [Job(SCENARIO, 1, point={"experiment": "e", "algorithm": name}) for name in ("a", "b")]
    found = measured([experiment], jobs, [None, Run.__new__(Run)])
    assert [found.at("e", "q", name, {}) for name in ("a", "b")] == [[], [1.0]]
    assert found.table()["algorithm"].to_list() == ["b"]
