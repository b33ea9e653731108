"""`fullpipe metrics` as users meet it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Run, Scenario
from fullpipe.cli import app, tables
from fullpipe.runs import Store
from fullpipe.sweeps import Job, Outcome


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scenario = Scenario.named("single-cubic").with_values({"duration": "5 s"})
    run = fullpipe.run(scenario, out=tmp_path_factory.mktemp("runs"))
    assert run.folder
    return run.folder


def test_values_are_shown_in_the_units_of_people(folder: Path) -> None:
    result = CliRunner().invoke(app, ["metrics", str(folder)])
    assert result.exit_code == 0
    (line,) = [line for line in result.output.splitlines() if line.startswith("goodput")]
    goodput = fullpipe.load(folder).flows["goodput_bps"][0]
    assert line.split() == ["goodput", "Mbit/s", f"{goodput / 1e6:.2f}"]


def test_json_has_values_in_base_units_and_doubts(folder: Path) -> None:
    result = CliRunner().invoke(app, ["metrics", str(folder), "--json"])
    found = json.loads(result.output)
    (goodput,) = [v for v in found["values"] if v["metric"] == "goodput"]
    assert goodput["value"] == fullpipe.load(folder).flows["goodput_bps"][0]
    assert {"flow", "quantity", "verdict", "reason", "warmup_s"} == set(found["doubts"][0])


def test_a_mean_with_start_up_in_it_gets_a_warning(folder: Path) -> None:
    output = CliRunner().invoke(app, ["metrics", str(folder)]).output
    assert "warning: cubic-1: the mean" in output


def test_a_run_without_samples_says_that_it_does_not_know(tmp_path: Path) -> None:
    scenario = Scenario.named("single-cubic").with_values({"duration": "1 s", "record.interval": "off"})
    run = fullpipe.run(scenario, out=tmp_path)
    output = CliRunner().invoke(app, ["metrics", str(run.folder)]).output
    assert "the means cannot be checked" in output


def test_no_run_is_bad_input(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["metrics", str(tmp_path)]).exit_code == 2


def smoothed(folder: Path, tmp_path: Path) -> Path:
    """The same run, whose RTT samples are smoothed by its own account."""
    run = fullpipe.load(folder)
    otherwise = {f"flows.rtt_{what}_s": "its RTT samples are smoothed" for what in ("mean", "p95")}
    smoothed = Run(run.meta.model_copy(update={"otherwise": otherwise}), run.tables)
    copy = Store(tmp_path / "smoothed").save(smoothed).folder
    assert copy
    return copy


def test_metrics_of_smoothed_samples_are_named(folder: Path, tmp_path: Path) -> None:
    output = CliRunner().invoke(app, ["metrics", str(smoothed(folder, tmp_path))]).output
    assert "rtt_mean, rtt_p95, rtt_inflation, power of native: its RTT samples are smoothed" in output
    assert "smoothed" not in CliRunner().invoke(app, ["metrics", str(folder)]).output


def test_json_says_what_is_smoothed(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["metrics", str(smoothed(folder, tmp_path)), "--json"])
    assert set(json.loads(result.output)["otherwise"]) == {"flows.rtt_mean_s", "flows.rtt_p95_s"}


def test_a_run_says_below_its_flows_what_is_smoothed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fullpipe.load(smoothed(folder, tmp_path))
    tables.show([Outcome(Job(run.scenario, seed=1), run)])
    assert "RTT mean, RTT p95 of native: its RTT samples are smoothed" in capsys.readouterr().out
