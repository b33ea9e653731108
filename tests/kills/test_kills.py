"""Killed at any moment: no run is lost, no half file has a final name, and the same command continues."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import fullpipe
from fullpipe.runs import TABLES, Store, segments
from tests.children import started

ROOT = Path(__file__).resolve().parents[2]
KILLS = 200
MOST_DELAY_S = 0.004
SCENARIO = """
name = "small"
duration = "1 s"
record = { interval = "10 ms", packets = ["sender"], variables = true }

[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", packets = 20 }

[[flows]]
cca = "bbr1"
"""
RUN = ["run", "small.toml", "--jobs", "2", "--seeds"]
PAPER = ["paper", "kato2025", "--seeds", "1", "--jobs", "2"]
Answer = dict[str, Any]


class Warm:
    """A process that runs commands, and kills them; see warm.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, folder: Path, arguments: list[str], **how: float | str) -> Answer:
        order: Answer = {"folder": str(folder), "arguments": arguments} | how
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: Answer = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def warmed() -> Iterator[Warm]:
    """Such a process."""
    command = [sys.executable, "-m", "tests.kills.warm"]
    settings = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    with started(command, cwd=ROOT, stdin=subprocess.PIPE, stderr=None, env=settings) as process:
        yield Warm(process)


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    with warmed() as process:
        yield process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def files(folder: Path) -> dict[Path, bytes]:
    """All files under final names; meta.json, which says when a run was made, without its content."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    shown = {name: path for name, path in found.items() if not any(p.startswith(".") for p in name.parts)}
    return {name: b"" if name.name == "meta.json" else path.read_bytes() for name, path in shown.items()}


def finished(folder: Path) -> dict[Path, bytes]:
    """Every finished run with its meta.json; all its tables can be read."""
    runs = list(Store(folder / "runs"))
    for run in runs:
        assert all(run.tables[name].schema == table.schema for name, table in TABLES.items())
    return {run.folder: (run.folder / "meta.json").read_bytes() for run in runs if run.folder}


def hidden(folder: Path) -> list[Path]:
    """What is left of what was being written."""
    return [path for path in folder.rglob(".*") if path.name not in (".writing", ".index", segments.FILE)]


def killed(warm: Warm, folder: Path, arguments: list[str], kills: int, again: Callable[[Path], None]) -> None:
    """Kill a command at many moments, look at what is there each time, and let it finish.

    `again` takes away what the command has made, where it would not make it again.
    """
    whole, chosen, hits = folder.with_name(f"{folder.name}-whole"), random.Random(1), 0
    shutil.copytree(folder, whole)
    done = warm(whole, arguments)
    assert done["status"] == 0
    truth, kept = files(whole), finished(folder)
    for number in range(kills):
        delay_s = chosen.uniform(0, MOST_DELAY_S) if number % 2 else 0.0
        event = 1 + int(done["events"] * chosen.random() ** 2)  # what continues has fewer of them
        when = {"event": event, "delay_s": delay_s}
        hits += warm(folder, arguments, **when)["killed"]
        now = files(folder)
        assert {name for name, data in now.items() if truth.get(name) != data} == set()
        runs = finished(folder)
        assert {run: runs.get(run) for run in kept} == kept
        kept = runs
        if now.keys() == truth.keys():
            again(folder)
            kept = finished(folder)
    assert warm(folder, arguments)["status"] == 0
    assert files(folder) == truth
    assert hidden(folder) == []
    assert segments.read(folder / "runs") == segments.read(whole / "runs")
    assert hits > 0
    print(f"{hits} of {kills} kills hit")


def nothing(folder: Path) -> None:
    """What is there is written once more."""


def test_sweeps(warm: Warm, folder: Path, cases: Callable[[int], int]) -> None:
    def again(folder: Path) -> None:
        shutil.rmtree(folder / "runs")

    killed(warm, folder, [*RUN, "5"], cases(KILLS * 2 // 5), again)


def test_studies(warm: Warm, folder: Path, cases: Callable[[int], int]) -> None:
    def again(folder: Path) -> None:
        shutil.rmtree(folder / "runs")

    killed(warm, folder, PAPER, cases(KILLS // 5), again)


def test_plots(warm: Warm, folder: Path, cases: Callable[[int], int]) -> None:
    run = made(warm, folder)
    killed(warm, folder, ["plot", run, "--out", "figures"], cases(KILLS // 5), nothing)


@pytest.mark.parametrize("ending", ["qlog", "pcapng"])
def test_exports(warm: Warm, folder: Path, cases: Callable[[int], int], ending: str) -> None:
    run = made(warm, folder)
    killed(warm, folder, ["export", run, "--out", f"run.{ending}"], cases(KILLS // 10), nothing)


def made(warm: Warm, folder: Path) -> str:
    """A run to draw or to export, relative to the folder."""
    assert warm(folder, [*RUN, "1"])["status"] == 0
    (run,) = Store(folder / "runs")
    assert run.folder
    return str(run.folder.relative_to(folder))


def test_a_finished_run_has_the_bytes_of_one_that_was_never_killed(warm: Warm, folder: Path) -> None:
    warm(folder, [*RUN, "1"], event=30, delay_s=0.0)
    assert warm(folder, [*RUN, "1"])["status"] == 0
    (run,) = Store(folder / "runs")
    alone = fullpipe.run(fullpipe.Scenario.from_file(folder / "small.toml"))
    assert all(run.tables[name].equals(alone.tables[name]) for name in TABLES)
