"""Durable results: the same bytes in any process, and finished runs when a sweep is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fullpipe import Scenario
from fullpipe.files import HIDDEN
from fullpipe.runs import TABLES, Store
from tests.children import started

Cli = Callable[..., Any]

COMMAND = [sys.executable, "-m", "fullpipe", "run"]
NAMES = ["single-reno", "single-cubic", "single-bbr1"]
WAIT_S = 60.0
"""Time that an interrupted process has to end, on a busy machine."""


def tables(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("tables.arrow")}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Stores of two processes that hash differently; each has made one run of every name, in its order."""
    settings = ["--set", "duration=2 s", "--set", "record.variables=true", "--seed", "5"]
    folders = [tmp_path_factory.mktemp(f"hashed-{seed}") for seed in (1, 2)]
    for seed, (folder, names) in enumerate(zip(folders, (NAMES, NAMES[::-1]), strict=True), 1):
        lines = ["from typer.testing import CliRunner", "from fullpipe.cli import app"]
        for name in names:
            words = ["run", name, "--out", name, *settings]
            lines.append(f"assert CliRunner().invoke(app, {words}).exit_code == 0")
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=folder, env=environment, check=True)
    return folders


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes_in_fresh_processes(fresh: list[Path], name: str) -> None:
    first, second = (tables(folder / name) for folder in fresh)
    assert len(first) == 1
    assert first == second


def test_another_seed_gives_other_bytes(fullpipe: Cli, tmp_path: Path, small_file: Path) -> None:
    for seed in ("1", "2"):
        assert fullpipe("run", small_file, "--out", seed, "--seed", seed).exit_code == 0
    first, second = (next((tmp_path / seed).rglob("tables.arrow")).read_bytes() for seed in ("1", "2"))
    assert first != second


def times(store: Store) -> dict[Path | None, int]:
    """When the metadata of every run was written."""
    return {run.folder: (run.folder / "meta.json").stat().st_mtime_ns for run in store if run.folder}


def test_a_killed_sweep_keeps_its_finished_runs_and_continues(
    tmp_path: Path, small: Scenario, fullpipe: Cli
) -> None:
    scenario = small.with_values({"duration": "60 s", "sweep": {"tcp.initial_window": list(range(1, 41))}})
    (tmp_path / "sweep.toml").write_text(scenario.to_toml(), encoding="utf-8")
    with started([*COMMAND, "sweep.toml", "--jobs", "2", "--json"], cwd=tmp_path) as sweep:
        sweep.stdout.readline()  # the first run is finished, most are not
        sweep.send_signal(signal.SIGKILL)
    store = Store(tmp_path / "runs")
    finished = times(store)
    assert 0 < len(finished) < 40
    assert {store.index().folder(row) for row in store.index().runs.iter_rows(named=True)} == set(finished)
    for kept in store:
        assert {name: kept.tables[name].schema for name in TABLES} == {n: t.schema for n, t in TABLES.items()}

    assert fullpipe("run", "sweep.toml", "--jobs", "2").exit_code == 0
    again = times(store)
    assert len(again) == 40
    assert {folder: again[folder] for folder in finished} == finished
    assert store.index().runs.height == 40


def interrupted(
    folder: Path, small: Scenario, *options: str, by: signal.Signals = signal.SIGINT
) -> tuple[int, str]:
    """Exit code and complaint of a sweep that is interrupted in its second run."""
    scenario = small.with_values({"record.interval": "off", "sweep": {"duration": ["1 s", "80000 s"]}})
    (folder / "long.toml").write_text(scenario.to_toml(), encoding="utf-8")
    command = [*COMMAND, "long.toml", "--jobs", "1", "--json", *options]
    with started(command, cwd=folder) as sweep:
        sweep.stdout.readline()
        sweep.send_signal(by)
        _, complaint = sweep.communicate(timeout=WAIT_S)
        return sweep.returncode, complaint


def test_an_interrupted_sweep_says_how_to_continue(tmp_path: Path, small: Scenario) -> None:
    message = "fullpipe: interrupted; the same command continues where this one stopped\n"
    assert interrupted(tmp_path, small) == (1, message)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_removes_what_is_being_written(
    tmp_path: Path, small: Scenario, by: signal.Signals
) -> None:
    message = "fullpipe: interrupted; the same command continues where this one stopped\n"
    assert interrupted(tmp_path, small, by=by) == (-by, message)
    assert len(list(Store(tmp_path / "runs"))) == 1
    assert list(tmp_path.rglob(f"{HIDDEN}*")) == []


def test_an_interrupted_run_that_keeps_nothing_says_so(tmp_path: Path, small: Scenario) -> None:
    message = "fullpipe: interrupted; nothing was stored\n"
    assert interrupted(tmp_path, small, "--no-store") == (1, message)


STUCK = """
from fullpipe.algorithms import Controller

class Stuck(Controller):
    slow_start = 1.0

    def on_ack(self, ack, path):
        print("stuck", flush=True)
        while True:
            pass
"""


def test_an_interrupt_ends_an_algorithm_that_loops_for_ever(tmp_path: Path, small: Scenario) -> None:
    (tmp_path / "stuck.py").write_text(STUCK, encoding="utf-8")
    scenario = small.with_values({"flows.0.cca": "python:stuck:Stuck"})
    (tmp_path / "stuck.toml").write_text(scenario.to_toml(), encoding="utf-8")
    command = [*COMMAND, "stuck.toml", "--allow-python", "--jobs", "1"]
    with started(command, cwd=tmp_path) as stuck:
        assert stuck.stdout.readline() == "stuck\n"
        stuck.send_signal(signal.SIGINT)
        _, complaint = stuck.communicate(timeout=WAIT_S)
        assert stuck.returncode == 1
        assert "interrupted" in complaint


def test_two_processes_share_a_store(tmp_path: Path, small_file: Path) -> None:
    command = [*COMMAND, str(small_file), "--json", "--jobs", "1"]
    several = [[*command, "--seeds", "30"], [*command, "--seeds", "30", "--set", "flows.0.cca=reno"]]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started(each, cwd=tmp_path))
            for each in (*several, several[0])  # two of them make the same runs
        ]
        printed = [process.communicate()[0].splitlines() for process in processes]
    assert [len(lines) for lines in printed] == [30, 30, 30]
    found = Store(tmp_path / "runs").index()
    assert found.runs.height == found.packed("flows").height == 60
    assert {found.folder(row) for row in found.runs.iter_rows(named=True)} == {
        run.folder for run in Store(tmp_path / "runs")
    }
    assert list((tmp_path / "runs" / ".writing").iterdir()) == []


def test_a_sweep_that_is_killed_again_and_again_is_in_the_index_as_far_as_it_came(
    tmp_path: Path, small: Scenario
) -> None:
    scenario = small.with_values({"duration": "20 s"})
    (tmp_path / "sweep.toml").write_text(scenario.to_toml(), encoding="utf-8")
    printed: list[str] = []
    for wanted in (5, 15, 25):  # finished runs when the sweep is killed
        command = [*COMMAND, "sweep.toml", "--seeds", "200", "--jobs", "2", "--json"]
        with started(command, cwd=tmp_path) as sweep:
            printed = [sweep.stdout.readline() for _ in range(wanted)]
            sweep.send_signal(signal.SIGKILL)
        runs = Store(tmp_path / "runs").index().runs
        assert {json.loads(line)["seed"] for line in printed} <= set(runs["seed"])
        assert runs.height == len(list(Store(tmp_path / "runs")))
