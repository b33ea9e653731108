"""`fullpipe metrics` as users meet it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe import Scenario
from fullpipe.cli import app


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
    assert "whether means can be trusted is not known" in output


def test_no_run_is_bad_input(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["metrics", str(tmp_path)]).exit_code == 2
