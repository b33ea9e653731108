"""Claims on measurements made up by hand: every kind, both ways of readings, and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.studies import tables
from fullpipe.studies.claim_checks import ClaimChecker, ClaimResult
from fullpipe.studies.claims import Claim
from fullpipe.studies.experiments import Experiment, Measurements, measured
from fullpipe.studies.verdicts import Cause, Verdict
from fullpipe.sweeps import Job

SCENARIO = Scenario.named("single-reno")
READINGS = ("new a", "new b")
OTHERS = ("old", "older")
Values = Mapping[tuple[str, float], float]


def measurements(values: Values, *, spread: float = 0.01, seeds: int = 3) -> Measurements:
    """One experiment with the condition "size"; seed i is (i - 1) spreads away from the value."""
    found = Measurements()
    for (algorithm, size), value in values.items():
        for seed in range(seeds):
            job = Job(SCENARIO, seed, point={"experiment": "e", "algorithm": algorithm, "size": size})
            found.add(job, {"q": value + (seed - (seeds - 1) / 2) * spread})
    return found


def claimed(row: Mapping[str, Any]) -> Claim:
    return Claim.from_row({"id": "x", "says": "y", "experiment": "e", "quantity": "q", **row})


def checked(row: Mapping[str, Any], values: Values, **how: Any) -> list[ClaimResult]:
    found = measurements(values, **how)
    return ClaimChecker(found, READINGS, subject="new", others=OTHERS).check(claimed(row))


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
CHANGE = {"change": {"of": "new", "against": "old"}, "mean_over": ["size"]}


def test_what_is_to_hold_everywhere_has_a_part_for_every_value_that_was_measured() -> None:
    a, b = checked({"change": CHANGE["change"], "between": [-50, -50], "at_each": ["size"]}, VALUES)
    assert [part.where for part in a.parts] == [{"size": 1}, {"size": 2}]
    assert [round(part.mean or 0) for part in a.parts] == [-50, -50]
    assert (a.verdict, b.verdict) == (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)


def test_a_change_is_one_of_the_means_over_conditions_that_the_claim_names() -> None:
    a, b = checked({**CHANGE, "between": [-50, -50]}, VALUES)
    assert (a.mean, b.mean) == (pytest.approx(-50, abs=0.1), pytest.approx(-10, abs=0.1))
    assert (a.verdict, b.verdict) == (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED)
    assert b.factor == pytest.approx(0.2, abs=0.01)
    assert (a.closest, b.closest) == (True, False)


def test_a_mean_that_is_not_claimed_is_refused() -> None:
    with pytest.raises(ValueError, match="x: add size to where or to mean_over"):
        checked({"change": {"of": "new", "against": "old"}, "between": [-50, -50]}, VALUES)


def test_a_change_can_be_in_points() -> None:
    row = {**CHANGE, "points": True, "between": [-1.5, -1.5]}
    assert [j.mean for j in checked(row, VALUES)] == [pytest.approx(-7.5), pytest.approx(-1.5)]


def test_equal_values_are_no_change() -> None:
    equal: Values = {("old", 1): 0, ("older", 1): 0}
    for points in (False, True):
        row = {"change": {"of": "old", "against": "older"}, "points": points, "between": [-1, 1]}
        (found,) = checked(row, equal, spread=0)
        assert (found.mean, found.verdict) == (0, Verdict.REPRODUCED)


def test_the_reading_that_counts_is_the_first() -> None:
    assert [j.counts for j in checked({**CHANGE, "between": [-50, -50]}, VALUES)] == [True, False]
    row = {**CHANGE, "between": [-50, -50], "uncounted": "said before"}
    assert [j.counts for j in checked(row, VALUES)] == [False, False]


def test_a_number_is_one_under_one_condition() -> None:
    (found,) = checked({"where": {"algorithm": "old", "size": 2}, "between": [20, 20]}, VALUES)
    assert (found.mean, found.verdict, found.reading) == (pytest.approx(20), Verdict.REPRODUCED, "")


def test_all_of_several_numbers_have_to_be_reproduced_and_not_their_mean() -> None:
    # The mean of 10 and 20 is 15.
    row = {"where": {"algorithm": "old"}, "each": {"size": [1, 2]}, "between": [15, 15]}
    (found,) = checked(row, VALUES)
    assert (found.verdict, found.held, len(found.parts), found.mean) == (Verdict.NOT_REPRODUCED, 0, 2, None)
    (found,) = checked({**row, "between": [10, 20]}, VALUES)
    assert (found.verdict, found.held) == (Verdict.REPRODUCED, 2)


def test_a_number_may_have_a_reference_condition() -> None:
    against = {"where": {"size": 1}, "printed": 100}
    row = {"where": {"algorithm": "old", "size": 2}, "between": [115, 115], "against": against}
    (found,) = checked(row, VALUES)
    assert (found.verdict, found.factor) == (Verdict.SAME_DIRECTION, pytest.approx(10 / 15))
    (found,) = checked({**row, "between": [85, 85]}, VALUES)
    assert found.verdict is Verdict.NOT_REPRODUCED


def test_a_number_below_a_ceiling_is_judged_by_what_is_missing_to_it() -> None:
    row = {"where": {"algorithm": "old", "size": 2}, "between": [20.9, 20.9]}
    assert checked(row, VALUES)[0].verdict is Verdict.REPRODUCED
    assert checked({**row, "ceiling": 21}, VALUES)[0].verdict is Verdict.NOT_REPRODUCED


def test_inequalities_are_inequalities() -> None:
    where = {"where": {"algorithm": "old", "size": 2}}
    held = {
        bound: checked({**where, bound: value}, VALUES, spread=0)[0].held
        for bound, value in {"above": 20, "below": 20, "at_least": 20, "at_most": 20}.items()
    }
    assert held == {"above": 0, "below": 0, "at_least": 1, "at_most": 1}
    (found,) = checked({**where, "at_least": 19.9, "below": 20.1}, VALUES)
    assert (found.verdict, len(found.parts), found.mean) == (Verdict.REPRODUCED, 2, pytest.approx(20))
    (found,) = checked({**where, "above": 20.1}, VALUES)  # within 5 % of it
    assert found.verdict is Verdict.NOT_REPRODUCED


def test_higher_compares_under_every_condition() -> None:
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert [(j.held, len(j.parts), j.verdict) for j in checked(row, VALUES)] == [(2, 2, "reproduced")] * 2
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "older"}, "each": {"size": [1, 2]}}
    (found,) = checked(row, VALUES)
    assert (found.held, len(found.parts), found.verdict) == (1, 2, Verdict.NOT_REPRODUCED)


def test_each_may_span_algorithms() -> None:
    row = {"higher": {"algorithm": "old"}, "each": {"algorithm": ["new", "older"]}, "where": {"size": 2}}
    assert [(j.held, len(j.parts)) for j in checked(row, VALUES)] == [(2, 2), (2, 2)]


def test_slack_lets_a_difference_pass() -> None:
    # 9 against 10 is a relative difference of 1 / 9.5.
    row = {"higher": {"algorithm": "new"}, "lower": {"algorithm": "old"}, "where": {"size": 1}}
    assert checked(row, VALUES)[1].held == 0
    assert checked({**row, "slack": 0.2}, VALUES)[1].held == 1


def test_rising_and_falling_go_from_each_value_to_the_next() -> None:
    for kind, expected in (("rising", 1), ("falling", 0)):
        (found,) = checked({kind: "size", "each": {"algorithm": ["old"]}}, VALUES)
        assert (found.held, len(found.parts)) == (expected, 1)
        assert checked({kind: "size", "each": {"algorithm": ["older"]}}, VALUES)[0].held == 1 - expected


def test_ranks_leave_out_the_other_readings_and_the_algorithm_itself() -> None:
    row = {"lowest": 1, "where": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert [(j.held, len(j.parts)) for j in checked(row, VALUES)] == [(2, 2), (1, 2)]
    (old,) = checked({"lowest": 1, "where": {"algorithm": "old"}, "each": {"size": [1, 2]}}, VALUES)
    assert old.held == 1
    assert checked({"highest": 2, "where": {"algorithm": "new", "size": 2}}, VALUES)[1].held == 1


def test_readings_may_be_values_of_a_condition() -> None:
    row = {"where": {"algorithm": "old"}, "between": [20, 20]}
    found = ClaimChecker(measurements(VALUES), ("2", 1, 2, 3), key="size").check(claimed(row))  # type: ignore[arg-type]
    assert [(j.reading, j.verdict, j.counts) for j in found] == [
        (1, Verdict.NOT_REPRODUCED, False),
        (2, Verdict.REPRODUCED, False),
    ]


def test_what_is_not_measured() -> None:
    (contradicted,) = checked({"contradicted": "why"}, {})
    (untestable,) = checked({"untestable": "why", "why": "Wi-Fi access"}, {})
    assert (contradicted.verdict, untestable.verdict) == (Verdict.CONTRADICTED, Verdict.NOT_TESTABLE)
    assert (contradicted.why, untestable.why) == (Cause.OWN_ERROR, Cause.WIFI_ACCESS)
    row = {"higher": {"algorithm": "old"}, "lower": {"algorithm": "older"}, "where": {"size": 7}}
    assert checked(row, VALUES)[0].verdict is Verdict.NOT_TESTABLE


def test_what_is_not_reproduced_has_a_cause_under_the_reading_that_counts() -> None:
    row = {**CHANGE, "between": [-1, -1]}
    assert [j.why for j in checked(row, VALUES)] == [Cause.UNKNOWN, None]
    assert checked({**row, "why": "loss detection"}, VALUES)[0].why is Cause.LOSS_DETECTION
    assert checked({**CHANGE, "between": [-50, -50], "why": "loss detection"}, VALUES)[0].why is None
    # Another reading that reproduces it is no experiment: it may do so by chance, or for another reason.
    assert [j.why for j in checked({**CHANGE, "between": [-10, -10]}, VALUES)] == [Cause.UNKNOWN, None]
    with pytest.raises(ValueError, match="not a valid Cause"):
        claimed({**row, "why": "the moon"})


def test_the_tally_counts_a_printed_number_once_and_under_one_reading() -> None:
    found = measurements(VALUES)
    checker = ClaimChecker(found, READINGS, subject="new", others=OTHERS)
    rows = [
        {**CHANGE, "id": "a", "between": [-50, -50]},
        {**CHANGE, "id": "b", "between": [-50, -50], "uncounted": "a, in other words"},
        {"id": "c", "where": {"algorithm": "old", "size": 2}, "between": [7, 7]},
    ]
    given = [j for row in rows for j in checker.check(claimed(row))]
    lines = tables.tallies(given).splitlines()
    assert lines[0] == "2 printed numbers and claims, each counted once: 1 reproduced, 1 not reproduced."
    assert "Rows not counted, as they are printed twice or true by definition: 1." in lines
    assert 'Causes of "not reproduced": unknown (1).' in lines
    assert lines[-1] == 'Under the reading "new b" (1 counted): 1 not reproduced.'


def test_causes_of_what_is_not_reproduced_add_up_to_it() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "where": {"algorithm": "old", "size": 2}, "between": [7, 7]},
        {"id": "b", "where": {"algorithm": "old", "size": 2}, "between": [7, 7], "why": "queue size"},
        {"id": "c", "untestable": "needs a radio", "why": "Wi-Fi access"},
        {"id": "d", "contradicted": "another table"},
    ]
    lines = tables.tallies([j for row in rows for j in checked(row, VALUES)]).splitlines()
    assert "Of 2 not reproduced, the cause of 1 is unknown." in lines
    assert 'Causes of "not reproduced": queue size (1), unknown (1).' in lines
    assert 'Causes of "not testable here": Wi-Fi access (1).' in lines


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
    assert found.open("e", "sent", "BBR", {}) == {"size"}
    assert found.choices("e", "size") == list(swept.sweep[path])
    assert found.table().height == 2 * 5
    assert found.table().row(0, named=True)["mean"] == 1.5
    assert measured([experiment], [], []).table().height == 0


def test_a_difference_of_conditions_is_a_quantity() -> None:
    found = measurements(VALUES)
    found.subtract("e", "q", "size", 2, 1, "growth")
    assert found.at("e", "growth", "old", {}) == [pytest.approx(10)] * 3


def test_what_an_engine_could_not_run_is_not_testable() -> None:
    missing = {**VALUES, ("older", 1): math.nan}
    change = {"change": {"of": "older", "against": "old"}, "between": [-50, -50], "mean_over": ["size"]}
    lowest = {"lowest": 1, "where": {"algorithm": "new"}, "each": {"size": [1, 2]}}
    assert {j.verdict for j in checked(change, missing)} == {Verdict.NOT_TESTABLE}
    assert {j.verdict for j in checked(lowest, missing)} == {Verdict.NOT_TESTABLE}
    assert Verdict.NOT_TESTABLE not in {j.verdict for j in checked(lowest, VALUES)}


def test_a_run_that_is_missing_has_no_numbers() -> None:
    experiment = Experiment("e", SCENARIO, {}, lambda _: {"q": 1.0})
    jobs = [Job(SCENARIO, 1, point={"experiment": "e", "algorithm": name}) for name in ("a", "b")]
    found = measured([experiment], jobs, [None, Run.__new__(Run)])
    assert [found.at("e", "q", name, {}) for name in ("a", "b")] == [[], [1.0]]
    assert found.table()["algorithm"].to_list() == ["b"]
