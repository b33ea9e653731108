"""The functions of the top level: sweeps, and the methods of a run that other packages provide."""

import importlib
from pathlib import Path

import pytest

import fullpipe
from fullpipe import EngineError, Scenario, ScenarioError


@pytest.fixture
def swept() -> Scenario:
    """Two algorithms, for a tenth of a second."""
    values = {"duration": "0.1 s", "sweep": {"flows.0.cca": ["cubic", "reno"]}}
    return Scenario.named("single-reno").with_values(values)


def test_a_sweep_runs_every_point_with_every_seed(swept: Scenario, tmp_path: Path) -> None:
    runs = fullpipe.sweep(swept, [1, 2], out=tmp_path, workers=2)
    assert [(run.flows["cca"][0], run.meta.seed) for run in runs] == [
        ("cubic", 1),
        ("cubic", 2),
        ("reno", 1),
        ("reno", 2),
    ]
    assert all(run.folder and run.folder.is_relative_to(tmp_path) for run in runs)


def test_a_sweep_says_what_an_engine_cannot_run_before_it_runs_anything(
    swept: Scenario, tmp_path: Path
) -> None:
    captured = swept.with_values({"record.packets": ["sender"]})
    with pytest.raises(EngineError, match=r"record\.packets"):
        fullpipe.sweep(captured, engine="ns3", out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_sweep_of_no_scenario_is_refused() -> None:
    with pytest.raises(ScenarioError, match="from_file"):
        fullpipe.sweep("my.toml")  # type: ignore[arg-type]


def test_a_run_has_the_methods_that_metrics_and_plots_provide(swept: Scenario) -> None:
    (run, *_) = fullpipe.sweep(swept)
    assert run.summary() == fullpipe.metrics.summary(run)
    (axes,) = run.plot("goodput").axes
    assert axes.get_ylabel()


@pytest.mark.parametrize(
    ("package", "name"),
    [("metrics", "loss_rate"), ("studies", "run"), ("algorithms", "Controller"), ("scenario", "Scenario")],
)
def test_names_that_are_imported_late_are_listed(package: str, name: str) -> None:
    module = importlib.import_module(
        f"fullpipe.{package}" if package != "metrics" else "fullpipe.analysis.metrics"
    )
    assert name in dir(module)
    assert all(hasattr(module, each) for each in dir(module))
