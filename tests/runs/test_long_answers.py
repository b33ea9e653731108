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


def test_lines_of_many_shapers_fit_and_the_rest_is_counted(run: Callable[..., list[str]]) -> None:
    places = range(25)
    links = "".join(
        f'[[topology.links]]\nfrom = "a{n}"\nto = "b{n}"\nduplex = true\nrate = "4 Mbit/s"\ndelay = "5 ms"\n'
        'queue = { kind = "cake", bandwidth_bps = 2000000 }\n'
        for n in places
    )
    flows = "".join(f'[[flows]]\ncca = "cubic"\nfrom = "a{n}"\nto = "b{n}"\n' for n in places)
    nodes = [f"{side}{n}" for n in places for side in "ab"]
    text = f'name = "many"\nduration = "1 s"\n[topology]\nkind = "graph"\nnodes = {nodes}\n{links}{flows}'
    lines = run(text)
    shown = [n for n, line in enumerate(lines) if "its queue shapes to" in line]
    assert len(lines) <= 60
    assert 0 < len(shown) < len(places)
    assert lines[shown[-1] + 1] == f"and {len(places) - len(shown)} more: --all"
    whole = run(text, "--all")
    assert sum("its queue shapes to" in line for line in whole) == len(places)
    assert not [line for line in whole if "--all" in line]
