"""Which flows compete for throughput, and that fairness and starvation are of them alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Run, Scenario, metrics
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.cli import app

BOTTLENECK = {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"kind": "drop_tail", "packets": 40}}
WEB = {"kind": "web", "objects": [2, 4], "think": "500 ms"}
READERS = {"cca": "cubic", "name": "reader", "count": 2, "workload": WEB}
BULK = {"cca": "cubic", "count": 2, "start_jitter": "100 ms"}


def scenario(*flows: dict[str, Any], **more: Any) -> Scenario:
    topology = {"kind": "dumbbell", "bottleneck": BOTTLENECK}
    return Scenario(
        **{"name": "mixed", "duration": "3 s", "topology": topology, "flows": list(flows), **more}
    )


def value(run: Run, of: str, metric: str) -> float | None:
    (found,) = metrics.measured(run).filter(of=of, metric=metric)["value"].to_list()
    return found  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def mixed() -> Run:
    return fullpipe.run(scenario(BULK, READERS, {"workload": {"kind": "voip"}}))


@pytest.mark.parametrize(
    ("flow", "competes"),
    [
        ({"cca": "cubic"}, True),
        ({"cca": "cubic", "workload": {"kind": "bulk"}}, True),
        ({"cca": "cubic", "start": "1 s", "stop": "2 s"}, True),
        ({"cca": "cubic", "tcp": {"send_buffer": "64 KiB"}}, True),
        ({"cca": "cubic", "size": "100 kB"}, False),
        ({"cca": "cubic", "application": [{"at": "1 s", "rate": "1 Mbit/s"}]}, False),
        ({"cca": "cubic", "workload": {"kind": "cbr", "rate": "1 Mbit/s"}}, False),
        ({"cca": "cubic", "workload": {"kind": "on_off", "on": "1 s", "off": "1 s"}}, False),
        ({"cca": "cubic", "workload": WEB}, False),
        ({"cca": "cubic", "workload": {"kind": "video"}}, False),
        ({"cca": "cubic", "workload": {"kind": "request_response", "response": "20 kB"}}, False),
        ({"cca": "cubic", "workload": {"kind": "poisson", "interval": "1 s", "sizes": "20 kB"}}, False),
        ({"workload": {"kind": "ping"}}, False),
    ],
    ids=str,
)
def test_a_bulk_flow_always_has_more_to_send(flow: dict[str, Any], competes: bool) -> None:
    run = fullpipe.run(scenario({**flow, "name": "it"}))
    assert metrics.bulk_flows(run)["flow"].to_list() == (["it"] if competes else [])


def test_a_flow_that_was_there_in_the_warm_up_only_does_not_compete() -> None:
    early = {"cca": "cubic", "name": "early", "stop": "500 ms"}
    run = fullpipe.run(scenario(early, {"cca": "cubic", "name": "late"}, warmup="1 s"))
    assert metrics.bulk_flows(run)["flow"].to_list() == ["late"]


def test_readers_and_calls_have_no_part_in_fairness(mixed: Run) -> None:
    assert value(mixed, ALL, "jain") == value(mixed, "cubic", "jain")
    assert value(mixed, ALL, "bulk") == 2
    assert value(mixed, "reader", "jain") is None
    assert value(mixed, "reader", "bulk") == 0


def test_readers_do_not_starve(mixed: Run) -> None:
    rates = mixed.flows.filter(mixed.flows["flow"].str.starts_with("reader"))["goodput_bps"]
    assert (rates < 1e6).all()
    assert value(mixed, "reader", "starved") is None
    assert value(mixed, ALL, "starved") == 0


def test_a_bulk_flow_that_gets_next_to_nothing_starves() -> None:
    run = fullpipe.run(scenario({**BULK, "count": 12}))
    assert value(run, "cubic", "starved") == metrics.starved_flows(run.flows) > 0


def test_the_fair_share_is_that_of_bulk_flows() -> None:
    # Beside twenty readers with next to nothing the mean over all flows would never be reached. That two
    # flows come close to theirs within 30 s is a matter of chance.
    busy = scenario(BULK, {**READERS, "count": 20}, duration="30 s")
    runs = [fullpipe.run(busy, seed=seed) for seed in range(1, 6)]
    assert any(value(run, "cubic", "convergence") is not None for run in runs)
    assert all(value(run, "reader", "convergence") is None for run in runs)


def test_the_summary_says_what_its_fairness_is_of(mixed: Run) -> None:
    totals = mixed.summary()["totals"]
    assert totals["jain"] == value(mixed, ALL, "jain")
    assert totals["bulk_flows"] == 2


def shown(tmp_path: Path, described: Scenario, *more: str) -> str:
    path = tmp_path / "it.toml"
    path.write_text(described.to_toml(), encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(path), "--no-store", *more])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_run_shows_of_how_many_flows_its_fairness_is(tmp_path: Path) -> None:
    text = shown(tmp_path, scenario({**BULK, "start_jitter": "0 s"}, READERS))
    assert re.search(r"Jain [01]\.\d{3} of 2 bulk flows$", text, re.MULTILINE)


def test_flows_of_other_times_are_said_to_be(tmp_path: Path) -> None:
    text = shown(tmp_path, scenario({"cca": "cubic"}, {"cca": "cubic", "start": "1 s"}))
    assert "of 2 bulk flows while all are active" in text


def test_starts_within_the_warm_up_are_the_same_time(tmp_path: Path) -> None:
    assert "while all are active" not in shown(tmp_path, scenario(BULK, warmup="1 s"))


def test_a_run_without_bulk_flows_shows_no_fairness(tmp_path: Path) -> None:
    assert "Jain" not in shown(tmp_path, scenario({"cca": "cubic"}, READERS))
    assert "Jain" not in shown(tmp_path, scenario({"cca": "cubic"}, READERS), "--seeds", "2")


def test_several_runs_show_of_how_many_flows_fairness_is(tmp_path: Path) -> None:
    lines = shown(tmp_path, scenario(BULK, READERS), "--seeds", "2").splitlines()
    assert "jain is over 2 bulk flows" in lines


def test_nothing_is_said_of_fairness_that_is_not_shown(tmp_path: Path) -> None:
    assert "jain" not in shown(tmp_path, scenario(BULK, READERS), "--seeds", "2", "--metric", "goodput")
