"""`fullpipe compare` as users meet it, with a second engine that is the native one by another name."""

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner, Result

from fullpipe import Run, Scenario, engines
from fullpipe.cli import app
from fullpipe.engines import Problem, Progress
from fullpipe.engines.native import NativeEngine


class Disguised(NativeEngine):
    """The native engine without segmentation offload, by another name."""

    name: ClassVar[str] = "disguised"

    def check(self, scenario: Scenario) -> list[Problem]:
        refused = any(flow.cca.kind == "copa" for flow in scenario.flows)
        return [Problem("flows[0].cca", "no such algorithm here")] if refused else super().check(scenario)

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        run = super().run(scenario.with_values({"tcp.max_burst": "0 B"}), seed=seed, progress=progress)
        engine = run.meta.engine.model_copy(update={"name": self.name})
        return replace(run, meta=run.meta.model_copy(update={"digest": scenario.digest, "engine": engine}))


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "disguised": Disguised})
    fixed = ["--out", str(tmp_path / "runs"), "--jobs", "1", "--set", "duration=3 s", "--seeds", "2"]

    def run(*words: str, engines: str = "native,disguised") -> Result:
        return CliRunner().invoke(app, ["compare", *words, "--engines", engines, *fixed])

    return run


def test_values_and_verdicts_are_shown(command) -> None:  # type: ignore[no-untyped-def]
    result = command("single-cubic")
    assert result.exit_code == 0, result.output
    assert "single-cubic, 2 seeds; reference native" in result.output
    assert "goodput Mbit/s" in result.output
    assert "equivalent" in result.output


def test_json_has_values_of_every_seed_and_the_margins(command) -> None:  # type: ignore[no-untyped-def]
    found = json.loads(command("single-cubic", "--json", "--margin", "goodput=50%").output)
    (row,) = [row for row in found["rows"] if row["metric"] == "goodput"]
    assert {engine: len(values) for engine, values in row["values"].items()} == {"native": 2, "disguised": 2}
    assert row["margin"] == {"relative": 0.5, "absolute": 0.0}
    assert row["against_reference"]["disguised"]["verdict"] == "equivalent"


def test_a_sweep_is_compared_point_by_point(command) -> None:  # type: ignore[no-untyped-def]
    lines = command("cubic-vs-bbr1", "--json", "--set", "warmup=0 s").output.splitlines()
    points = [json.loads(line)["point"] for line in lines]
    assert len(points) == len(Scenario.named("cubic-vs-bbr1").points())


def test_the_figure_is_kept_with_its_numbers(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    command("single-cubic", "--plot", str(tmp_path / "figures"))
    kinds = sorted(path.suffix for path in (tmp_path / "figures").iterdir())
    assert kinds == [".csv", ".pdf", ".png", ".svg"]


def test_a_label_of_nothing_is_refused_for_stored_runs(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    command("single-cubic")
    label = ["--label", "flows.0.cca.bbr4=Fourth"]
    result = CliRunner().invoke(app, ["compare", str(tmp_path / "runs"), *label])
    assert result.exit_code == 2, result.output
    assert "flows.0.cca.bbr4: no run has this path or value" in " ".join(result.output.split())


def test_the_reference_can_be_chosen(command) -> None:  # type: ignore[no-untyped-def]
    assert "reference disguised" in command("single-cubic", "--reference", "disguised").output


@pytest.mark.parametrize(
    "words",
    [("--reference", "ns3"), ("--metric", "goodputt"), ("--margin", "goodput=x")],
    ids=["reference", "metric", "margin"],
)
def test_bad_input_is_refused(command, words: tuple[str, str]) -> None:  # type: ignore[no-untyped-def]
    assert command("single-cubic", *words).exit_code == 2


@pytest.mark.parametrize("engines", ["native", "native,unknown"])
def test_two_known_engines_are_needed(command, engines: str) -> None:  # type: ignore[no-untyped-def]
    assert command("single-cubic", engines=engines).exit_code == 2


def test_an_engine_that_refuses_is_named(command) -> None:  # type: ignore[no-untyped-def]
    result = command("single-cubic", "--set", "flows.0.cca=copa")
    assert result.exit_code == 2
    assert "disguised: flows[0].cca: no such algorithm here" in result.stderr


def test_a_figure_without_samples_is_refused(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    result = command("single-cubic", "--set", "record.interval=off", "--plot", str(tmp_path / "figures"))
    assert result.exit_code == 2
    assert "no samples to draw" in " ".join(result.stderr.split())
