"""Plans that are sent to other machines, and the jobs that a worker makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullpipe import Scenario
from fullpipe.algorithms import classes
from fullpipe.cluster.leases import chunk_runs
from fullpipe.cluster.plan import Plan, patch, patched
from fullpipe.errors import VersionError
from fullpipe.sweeps import Job, jobs

VALUES = st.integers() | st.text(max_size=3) | st.booleans() | st.lists(st.integers(), max_size=2)
TREES = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(VALUES, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
)


def sent(plan: Plan) -> Plan:
    """The plan as another machine reads it."""
    return Plan.from_json(plan.to_json(), "plan.json")


@given(TREES, TREES)
def test_a_patch_turns_one_tree_into_the_other(before: dict[str, object], after: dict[str, object]) -> None:
    assert json.dumps(patched(before, patch(before, after)), sort_keys=True) == json.dumps(
        after, sort_keys=True
    )


def test_a_worker_has_the_same_jobs(small: Scenario) -> None:
    todo = jobs(small, range(1, 6))
    plan = sent(Plan.for_jobs(todo))
    assert [plan.job(index) for index in range(plan.runs)] == todo


def test_jobs_of_several_scenarios_and_engines_keep_their_order(small: Scenario) -> None:
    one, other = small.expand()
    todo = [Job(one, 1), Job(other, 5), Job(one, 2), Job(one, 3, "ns3")]
    plan = sent(Plan.for_jobs(todo))
    assert [(engine.name) for engine in plan.engines] == ["native", "ns3"]
    assert [plan.job(index).seed for index in range(4)] == [1, 5, 2, 3]


def test_the_scenario_crosses_once(small: Scenario) -> None:
    wide = small.with_values({"sweep": {"tcp.initial_window": list(range(1, 101))}})
    size = {n: len(Plan.for_jobs(jobs(wide, range(1, n + 1))).to_json()) for n in (1, 11)}
    alone = len(Plan.for_jobs(jobs(wide.with_values({"tcp.initial_window": 10}))).to_json())
    assert size[1] - alone < 100 * 150  # of every point what differs, and its digest
    assert size[11] - size[1] <= 1000 * 3  # of every seed its number


def test_equal_commands_have_the_same_sweep_whatever_time_calls_may_take(small: Scenario) -> None:
    ids = {Plan.for_jobs(jobs(small, range(3)), timeout_s).id for timeout_s in (None, 1.0)}
    assert len(ids) == 1
    assert Plan.for_jobs(jobs(small, range(4))).id not in ids


def test_another_version_of_fullpipe_is_refused(small: Scenario) -> None:
    plan = Plan.for_jobs(jobs(small)).model_copy(update={"fullpipe": "0.0.1"})
    with pytest.raises(
        VersionError, match=r"planned by fullpipe 0\.0\.1, but this machine has .*; install the version"
    ):
        plan.check()


@pytest.mark.parametrize("what", ["version", "model_version"])
def test_another_version_of_an_engine_is_refused(small: Scenario, what: str) -> None:
    plan = Plan.for_jobs(jobs(small))
    other = plan.engines[0].model_copy(update={what: "other"})
    with pytest.raises(VersionError, match=r"planned with native .*other.*; this machine has native"):
        plan.model_copy(update={"engines": (other,)}).check()


def test_a_digest_that_the_worker_does_not_find_is_refused(small: Scenario) -> None:
    plan = Plan.for_jobs(jobs(small))
    other = plan.points[1].model_copy(update={"digest": "0" * 16})
    with pytest.raises(VersionError, match=f"the scenario {'0' * 16} has the digest {plan.points[1].digest}"):
        sent(plan.model_copy(update={"points": (plan.points[0], other)})).job(1)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"fullpipe": 1}'])
def test_what_is_no_plan_is_refused(data: bytes) -> None:
    with pytest.raises(VersionError, match="not a plan that this version of fullpipe can read"):
        Plan.from_json(data, "plan.json")


def test_algorithms_in_python_need_permission(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from fullpipe.algorithms import Controller\n\n\nclass Mine(Controller):\n    pass\n"
    (tmp_path / "mine_of_plan.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    kind = "python:mine_of_plan:Mine"
    classes.import_class(kind)
    plan = Plan.for_jobs(jobs(small.with_values({"flows.0.cca": kind})))
    monkeypatch.delitem(classes._known, kind)
    with pytest.raises(VersionError, match=f"runs {kind}, which also needs --allow-python on this machine"):
        sent(plan).check()
    sent(plan).check(allow_python=True)


@pytest.mark.parametrize(
    ("run_s", "left", "workers", "runs"),
    [
        (None, 1000, 2, 1),  # how long one takes is not known
        (0.01, 100_000, 2, 1000),  # ten seconds at most
        (0.01, 1000, 2, 250),  # half of a share of what is left
        (0.01, 10, 2, 100),  # one second at least
        (0.01, 10, 2000, 2000),  # and 10 ms per worker
        (20.0, 1000, 2, 1),  # one run at least
    ],
)
def test_sizes_of_chunks(run_s: float | None, left: int, workers: int, runs: int) -> None:
    assert chunk_runs(run_s, left, workers) == runs


@pytest.mark.parametrize(
    ("key", "value"),
    [("engine", 1), ("engine", -1), ("engine", 2**70), ("seeds", [2**63]), ("seeds", [-1])],
)
def test_numbers_that_no_plan_has_are_refused(small: Scenario, key: str, value: object) -> None:
    tree = json.loads(Plan.for_jobs(jobs(small)).to_json())
    tree["points"][0][key] = value
    with pytest.raises(VersionError, match="not a plan that this version of fullpipe can read"):
        Plan.from_json(json.dumps(tree).encode(), "plan.json")
