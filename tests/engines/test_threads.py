"""Threads within a run change nothing."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import fullpipe
from fullpipe.cli import app
from fullpipe.engines.overtime import on_threads, threads

SCENARIO = """
name = "eight"
duration = "2 s"
record = { interval = "100 ms" }

[topology]
kind = "dumbbell"
bottleneck = { rate = "50 Mbit/s", delay = "10 ms", queue = { kind = "drop_tail", packets = 60 } }
access = { rate = "500 Mbit/s", delay = "2 ms" }

[[flows]]
count = 5
cca = "cubic"

[[flows]]
count = 3
cca = "bbr1"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "eight.toml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.parametrize("count", [2, 3, 8])
def test_tables_are_the_same_on_any_number_of_threads(count: int) -> None:
    read = fullpipe.Scenario.from_toml(SCENARIO)
    one, several = fullpipe.run(read), fullpipe.run(read, threads=count)
    assert one.flows["goodput_bps"].sum() > 30e6
    for name in one.tables:
        assert one.tables[name].equals(several.tables[name], null_equal=True), name


def test_a_number_of_threads_holds_within_its_context() -> None:
    with on_threads(3):
        assert threads() == 3
    assert threads() == 1


@pytest.mark.parametrize("count", [0, 65])
def test_threads_out_of_range_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"threads: {count} is out of range; give 1 to 64"):
        fullpipe.run(fullpipe.Scenario.from_toml(SCENARIO), threads=count)


def test_the_command_line_runs_on_threads(scenario: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(scenario), "--no-store", "--threads", "2", "--json"])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("more", [["--engine", "ns3"], ["--on", "files"]])
def test_threads_are_refused_where_there_are_none(scenario: Path, more: list[str]) -> None:
    done = CliRunner().invoke(app, ["run", str(scenario), "--threads", "2", *more])
    assert done.exit_code == 2
    assert "needs --engine native and --on local" in done.output


@pytest.mark.parametrize(("count", "clock"), [(1, "thread_time"), (2, "process_time")])
def test_the_time_of_all_threads_of_a_run_counts(
    count: int, clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([3.0, 8.0])
    monkeypatch.setattr(f"time.{clock}", lambda: next(times))
    assert fullpipe.run(fullpipe.Scenario.from_toml(SCENARIO), threads=count).meta.cpu_s == 5.0
