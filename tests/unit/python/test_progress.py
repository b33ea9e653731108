"""Progress of many runs: lines in a pipe, and a bar on a terminal."""

import re
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer

from fullpipe import Scenario
from fullpipe.cli import failures, progress
from fullpipe.cli.progress import Reached, lines
from fullpipe.cluster import Threads
from fullpipe.errors import ControllerError, EngineError
from fullpipe.runs import Store
from fullpipe.sweeps import Job, Outcome, Update


def said(scenario: Scenario, steps: list[tuple[float, int, float]]) -> list[str]:
    """The printed lines, for steps of a real time, the index of a job, and its simulated time."""
    todo = [Job(scenario, seed) for seed in (1, 2)]
    clock, told = [0.0], list[str]()
    report = lines(Reached(todo), lambda: clock[0], told.append)
    for at_s, index, simulated_s in steps:
        clock[0] = at_s
        is_done = simulated_s >= scenario.duration_s
        report(Update(index, todo[index], simulated_s, "finished" if is_done else "running"))
    return told


def test_short_work_says_nothing(small: Scenario) -> None:
    assert said(small, [(1, 0, small.duration_s), (9, 1, small.duration_s)]) == []


def test_a_line_says_how_far_it_is_and_how_long_it_takes(small: Scenario) -> None:
    told = said(small, [(1, 0, small.duration_s), (11, 1, small.duration_s / 2)])
    assert told == ["1 of 2 runs finished, 75 % simulated, about 4 s left"]


def test_a_line_comes_every_ten_seconds(small: Scenario) -> None:
    steps = [(at_s, 0, small.duration_s * at_s / 1000) for at_s in range(1, 100)]
    assert len(said(small, [(float(at_s), job, to_s) for at_s, job, to_s in steps])) == 9


def test_the_time_left_counts_only_runs_that_were_made(small: Scenario) -> None:
    todo = [Job(small, seed) for seed in range(1, 11)]
    reached = Reached(todo)
    assert reached.left(5) == ""
    for index in range(8):
        reached.update(Update(index, todo[index], small.duration_s, "stored"))
    assert reached.left(5) == ""  # no run was made yet
    reached.update(Update(8, todo[8], small.duration_s, "finished"))
    assert reached.left(7) == "about 7 s left"
    reached.update(Update(9, todo[9], small.duration_s, "finished"))
    assert reached.left(14) == ""


def test_a_terminal_shows_a_bar_with_the_time_left(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(progress, "monotonic", iter([0.0, 300.0]).__next__)
    todo = [Job(small, seed) for seed in (1, 2)]
    with progress.progress_bar(todo) as report:
        report(Update(0, todo[0], small.duration_s, "finished"))
    assert re.search(r"1/2 runs ━+╸? *\S+ of \S+ s simulated about 5 min left", shown.getvalue())


def test_the_end_is_no_progress(small: Scenario) -> None:
    assert said(small, [(1, 0, small.duration_s), (50, 1, small.duration_s)]) == []


def many(small: Scenario, count: int = 1_000) -> list[Job]:
    """Runs of 30 s at 10 Gbit/s; 1,000 of them take about 40 min with two at a time."""
    long = small.with_values({"topology.bottleneck.rate": "10 Gbit/s", "duration": "30 s"})
    return [Job(long, seed) for seed in range(1, count + 1)]


def test_long_work_is_announced_before_it_starts(small: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    progress.announce(many(small), None, Threads(2))
    assert re.fullmatch(
        r"fullpipe: note: 1,000 runs will take about 41 min, 2 at a time\n", capsys.readouterr().err
    )
    progress.announce(many(small, 10), None, Threads(2))
    progress.announce([Job(small, 1)], None, Threads(2))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("answer", "starts"), [("y", True), ("n", False)])
def test_a_terminal_is_asked_before_long_work(
    small: Scenario, monkeypatch: pytest.MonkeyPatch, answer: str, starts: bool
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    asked: list[str] = []

    def confirm(text: str, **how: bool) -> None:
        asked.append(text)
        if answer == "n":
            raise typer.Abort

    monkeypatch.setattr(typer, "confirm", confirm)
    if starts:
        progress.announce(many(small), None, Threads(2))
    else:
        with pytest.raises(typer.Abort):
            progress.announce(many(small), None, Threads(2))
    assert asked == ["Start?"]


@pytest.mark.parametrize(
    ("seeds", "told"),
    [(1, "1 run will take about 17 min"), (2, "2 runs will take about 17 min, 2 at a time")],
)
def test_fewer_long_runs_than_workers_are_announced(
    small: Scenario, capsys: pytest.CaptureFixture[str], seeds: int, told: str
) -> None:
    long = small.with_values({"topology.bottleneck.rate": "10 Gbit/s", "duration": "6000 s"})
    short = [Job(small, seed) for seed in range(20)]
    progress.announce([Job(long, seed) for seed in range(seeds)], None, Threads(16))
    assert capsys.readouterr().err == f"fullpipe: note: {told}\n"
    progress.announce([Job(long, 1), *short], None, Threads(16))
    assert "note: 21 runs will take about 17 min, 16 at a time" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["agree", "--engines", "native,ns3"], ["paper", "kato2025"]])
def test_suites_and_studies_are_announced(
    monkeypatch: pytest.MonkeyPatch, fullpipe: Callable[..., Any], tmp_path: Path, words: list[str]
) -> None:
    announced: list[int] = []

    def announce(todo: Sequence[Job], store: Store, place: Threads) -> None:
        assert (store.root, place.workers) == (tmp_path, 3)
        announced.append(len(todo))
        raise typer.Abort

    monkeypatch.setattr(f"fullpipe.cli.{words[0]}.announce", announce)
    assert fullpipe(*words, "--out", tmp_path, "--jobs", 3).exit_code == 1
    assert len(announced) == 1
    assert announced[0] > 1


@pytest.mark.parametrize(
    ("failed", "has_engine", "line"),
    [
        (1, True, "algorithm cubic, seed 1, native: unlucky seed"),
        (2, False, "2 of 2 runs failed, the first with algorithm cubic and seed 1: unlucky seed"),
        (
            2,
            True,
            "2 of 2 runs failed, the first with algorithm cubic, seed 1 and engine native: unlucky seed",
        ),
    ],
)
def test_runs_that_fail_alike_have_one_line(
    small: Scenario, capsys: pytest.CaptureFixture[str], failed: int, has_engine: bool, line: str
) -> None:
    todo = [Job(small, seed, point={"flows.0.cca": "cubic"}) for seed in range(1, failed + 1)]
    outcomes = [Outcome(job, EngineError("unlucky seed")) for job in todo]
    assert failures.complain_of_failures(outcomes, has_engine=has_engine) == outcomes
    assert capsys.readouterr().err == f"fullpipe: {line}\n"


def test_failures_of_a_library_are_alike_at_other_times(
    small: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    def outcome(seed: int, time_s: float, problem: str) -> Outcome:
        text = f"scenario 1a, seed {seed}: mine of flow a failed at {time_s:.9f} s in on_ack: {problem}"
        return Outcome(Job(small, seed), ControllerError(text, "mine", "a", "on_ack", time_s))

    outcomes = [outcome(1, 0.5, "NaN"), outcome(2, 0.75, "NaN"), outcome(3, 1.0, "no rate")]
    failures.complain_of_failures(outcomes)
    first, other = capsys.readouterr().err.splitlines()
    assert first.startswith(
        "fullpipe: 2 of 3 runs failed, the first with seed 1: scenario 1a, seed 1: mine of "
    )
    assert other.startswith("fullpipe: seed 3: ")
