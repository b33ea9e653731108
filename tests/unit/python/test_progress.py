"""Progress of many runs: lines in a pipe, and a bar on a terminal."""

import re
import sys
from io import StringIO

import pytest

from fullpipe import Scenario
from fullpipe.cli import jobs
from fullpipe.cli.jobs import Reached, lines
from fullpipe.sweeps import Job, Update


def said(scenario: Scenario, steps: list[tuple[float, int, float]]) -> list[str]:
    """What is said when, at a time, a job has reached a simulated time."""
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
    monkeypatch.setattr(jobs, "monotonic", iter([0.0, 300.0]).__next__)
    todo = [Job(small, seed) for seed in (1, 2)]
    with jobs.progress_bar(todo) as report:
        report(Update(0, todo[0], small.duration_s, "finished"))
    assert re.search(r"1/2 runs ━+╸? *\S+ of \S+ s simulated about 5 min left", shown.getvalue())


def test_the_end_is_no_progress(small: Scenario) -> None:
    assert said(small, [(1, 0, small.duration_s), (50, 1, small.duration_s)]) == []
