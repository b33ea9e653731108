"""Commands on files that are killed at any moment: nothing finished is lost, half counted or made again."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kills.test_kills import Warm, finished, warmed
from tests.kills.test_kills import files as final_files

KILLS = 100
MOST_DELAY_S = 0.02
JOBS = 2
SWEEP = ["run", "small.toml", "--seeds", "5", "--jobs", str(JOBS), "--on", "files"]


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    with warmed() as process:
        yield process


def made_twice(log: Path, kills: int) -> list[str]:
    """The runs that were begun after they had been kept, or more often than they can have been under way."""
    kept, again, lost = set[str](), list[str](), 0
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        what, _, run = line.partition(" ")
        lost += 1 if what == "begun" else -1
        if what == "kept":
            kept.add(run)
        elif run in kept:
            again.append(run)
    return again if lost <= JOBS * kills else [f"{lost} runs were begun in vain"]


def test_commands_on_files(warm: Warm, tmp_path: Path, small_file: Path, cases: Callable[[int], int]) -> None:
    folder, whole, log = tmp_path / "killed", tmp_path / "whole", tmp_path / "log"
    for place in (folder, whole):
        place.mkdir()
        shutil.copy(small_file, place)
    done = warm(whole, SWEEP)
    assert done["status"] == 0
    truth, kept, chosen, hits = final_files(whole), dict[Path, bytes](), random.Random(1), 0
    since = 0
    while hits < cases(KILLS):
        event = 1 + int(done["events"] * chosen.random() ** 2)  # what continues has fewer of them
        delay_s = chosen.choice([0.0, chosen.uniform(0, MOST_DELAY_S)])
        hit = warm(folder, SWEEP, event=event, delay_s=delay_s, log=str(log))["killed"]
        hits, since = hits + hit, since + hit
        now, runs = final_files(folder), finished(folder)
        assert {name for name, data in now.items() if truth.get(name) != data} == set()
        assert {run: runs.get(run) for run in kept} == kept
        assert made_twice(log, since) == []
        kept = runs
        if now.keys() == truth.keys():
            shutil.rmtree(folder / "runs")
            log.unlink(missing_ok=True)
            kept, since = {}, 0
    assert warm(folder, SWEEP, log=str(log))["status"] == 0
    assert final_files(folder) == truth
    assert made_twice(log, since) == []
    assert not (folder / "runs" / ".work").exists()
