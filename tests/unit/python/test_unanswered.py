"""A metric that is asked for and has no value: every command that takes metrics says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fullpipe.cli import app

SCENARIO = """
name = "alone"
duration = "1 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = { packets = 30 } }
[[flows]]
cca = "cubic"
start_jitter = "100 ms"
"""
SUITE = """
scenarios = ["alone.toml"]
seeds = 3
[metrics]
goodput = {}
jain = {}
"""
BOTH = ("--metric", "goodput", "--metric", "jain")
SAID = "no run has a value of jain (Jain's index"
Say = Callable[..., Result]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Run commands beside a scenario of one flow, which has no Jain's index."""
    monkeypatch.chdir(tmp_path)
    Path("alone.toml").write_text(SCENARIO, encoding="utf-8")

    def run(*words: str) -> Result:
        return CliRunner().invoke(app, words)

    return run


def stored(say: Say) -> None:
    swept = ("--set", 'sweep={"flows.0.cca" = ["cubic", "reno"]}')
    assert say("run", "alone.toml", *swept, "--seeds", "3").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("run", "alone.toml", "--seeds", "2", *BOTH),
        ("compare", "alone.toml", "--over", "flows.0.cca=cubic,reno", "--seeds", "3", *BOTH),
        ("test", "runs", "--factor", "cca", *BOTH),
    ],
)
def test_a_command_says_which_metric_has_no_value(say: Say, words: Sequence[str]) -> None:
    if words[0] == "test":
        stored(say)
    found = say(*words)
    assert found.exit_code in (0, 1), found.output
    assert found.stderr.count(f"note: {SAID}") == 1
    assert "value of goodput" not in found.stderr


def test_a_report_says_it_among_its_answers(say: Say) -> None:
    stored(say)
    assert say("report", "runs", *BOTH, "-o", "page.md").exit_code == 0
    assert f"N{SAID[1:]}" in Path("page.md").read_text(encoding="utf-8")


def test_a_check_notes_it_of_the_metrics_that_a_suite_names(say: Say) -> None:
    Path("suite.toml").write_text(SUITE, encoding="utf-8")
    sides = ("--set", "flows.0.cca=reno", "--against", "flows.0.cca=cubic")
    found = say("check", "suite.toml", *sides, "--seeds", "3")
    assert SAID in found.output, found.output


def until(say: Say, *more: str) -> Result:
    found = say("run", "alone.toml", "--until", "dropped_packets ci<5%", "--max-seeds", "20", *more)
    assert found.exit_code == 0, found.output
    return found


def test_until_asks_for_its_targets_alone(say: Say) -> None:
    found = until(say)
    assert "no run has a value" not in found.stderr
    heads = found.stdout.split()
    assert "goodput" in heads
    assert "dropped_packets" in heads
    assert "call_score" not in heads


def test_equal_values_are_not_said_to_be_equal_runs(say: Say) -> None:
    shallow = ("--set", "topology.bottleneck.queue.packets=5000")
    assert "stopped at 20 seeds, as dropped_packets ±5 % is equal in all seeds" in until(say, *shallow).stderr
    alike = until(say, *shallow, "--set", 'flows.0.start_jitter="0 s"')
    assert "stopped at 20 seeds, as all seeds gave the same run" in alike.stderr


def test_a_test_of_what_seeds_do_not_change_says_so_of_the_metric(say: Say) -> None:
    stored(say)
    found = say("test", "runs", "--factor", "cca", "--metric", "marking_rate")
    assert found.exit_code == 2
    assert "all seeds gave the same values of marking_rate" in found.stderr


def test_a_comparison_does_not_say_that_no_run_has_what_one_side_has(say: Say) -> None:
    ping = '[[flows]]\nname = "ping"\nworkload = "ping"\nstart = "500 ms"\n'
    for name, more in (("plain", ""), ("uneven", 'jitter = { spread = "1 ms" }, ')):
        text = SCENARIO.replace('"alone"', f'"{name}"').replace("{ rate", f"{{ {more}rate")
        Path(f"{name}.toml").write_text(text + ping, encoding="utf-8")
    asked = ("--metric", "latency_increase", "--metric", "goodput")
    found = say("compare", "plain.toml", "--over", "scenario=plain.toml,uneven.toml", "--seeds", "3", *asked)
    assert "only 0 of 3 runs of uneven have it" in " ".join(found.stdout.split())
    assert "no run has a value" not in found.stderr
