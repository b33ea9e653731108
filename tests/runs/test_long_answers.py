"""Answers of `run` on a terminal: sixty lines at most, however many flows, points and metrics there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAIR = """
name = "pair"
duration = "300 ms"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "4 Mbit/s"
delay = "5 ms"
[[flows]]
name = "the-download-from-the-server-upstairs"
cca = "cubic"
start_jitter = "50 ms"
[[flows]]
name = "beside"
cca = "cubic"
start_jitter = "50 ms"
[record]
interval = "off"
"""
SWEEP = """
[sweep]
"topology.bottleneck.queue.size" = ["0.5 bdp", "1 bdp", "2 bdp", "4 bdp", "8 bdp"]
"""
METRICS = [
    word
    for name in ("goodput", "rtt_p95", "retransmitted", "jain", "loss_rate")
    for word in ("--metric", name)
]


@pytest.fixture
def run(fullpipe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    monkeypatch.setenv("COLUMNS", "100")

    def lines(text: str, *words: object) -> list[str]:
        Path("pair.toml").write_text(text, encoding="utf-8")
        made = fullpipe("run", "pair.toml", "--jobs", 1, *words)
        return [*made.stdout.splitlines(), *made.stderr.splitlines()]

    return lines


def test_many_points_and_metrics_fit_and_the_rest_is_counted(run: Callable[..., list[str]]) -> None:
    lines = run(PAIR + SWEEP, "--seeds", 2, *METRICS)
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100
    assert sum(" more rows: --all prints them" in line for line in lines) == 1
    assert not [line for line in run(PAIR + SWEEP, "--seeds", 2, *METRICS, "--all") if "--all" in line]


def test_one_run_of_many_flows_fits_and_the_rest_is_counted(run: Callable[..., list[str]]) -> None:
    many = PAIR.replace('cca = "cubic"\n', 'cca = "cubic"\ncount = 60\n', 1)
    lines = run(many)
    assert len(lines) <= 60
    assert sum(line.startswith("and ") and "more: --all" in line for line in lines) == 1
    assert sum("upstairs-" in line for line in run(many, "--all")) == 60
