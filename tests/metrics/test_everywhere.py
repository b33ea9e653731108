"""A metric is declared once: tables, conclusions, reports, figures and the page show it from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

from fullpipe.cli.ui.fields import catalogue

NAME, LABEL = "video_startup", "video start-up delay"
VIDEO = """
name = "film"
duration = "12 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "4 Mbit/s"
delay = "20 ms"
[[flows]]
name = "film"
cca = "cubic"
workload = "video"
start_jitter = "500 ms"
[sweep]
"topology.bottleneck.rate" = ["2 Mbit/s", "8 Mbit/s"]
"""


@pytest.fixture
def film(fullpipe: Callable[..., Any]) -> Callable[..., str]:
    """A command about a video over two rates; gives standard output."""
    Path("film.toml").write_text(VIDEO, encoding="utf-8")

    def command(*words: object) -> str:
        done = fullpipe(*words)
        assert done.exit_code in (0, 1), done.output
        return str(done.stdout)

    command("run", "film.toml", "--seeds", 3, "--jobs", 1)
    return command


def test_a_table_and_its_conclusion_lead_with_it(film: Callable[..., str]) -> None:
    shown = film("run", "film.toml", "--seeds", 3)
    assert shown.startswith("Video start-up delay of film falls from 0.81 s at rate 2 Mbit/s to ")
    assert NAME in shown.partition("\n\n")[2]


def test_a_comparison_leads_with_it(film: Callable[..., str]) -> None:
    words = ("--set", "topology.bottleneck.rate=4 Mbit/s", "--over", "topology.bottleneck.delay=20 ms,200 ms")
    (found,) = (
        json.loads(line) for line in film("compare", "film.toml", *words, "--seeds", 3, "--json").splitlines()
    )
    assert f"{LABEL} of film is worse: it rises by" in found["conclusion"][0]


def test_a_report_tells_and_draws_it(film: Callable[..., str]) -> None:
    film("report", "runs", "-o", "film.md")
    page = Path("film.md").read_text(encoding="utf-8")
    assert f"{LABEL} of" in page
    assert NAME in page.replace("\\", "")


def test_a_figure_names_it(film: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    labels = []

    def save(figure: Figure, *_: Any, **__: Any) -> None:
        labels.append(figure.axes[0].get_ylabel())

    monkeypatch.setattr(Figure, "savefig", save)
    film("plot", "runs", "--metric", NAME, "--x", "rate", "--out", "fig")
    (file,) = Path("fig").glob("*.csv")
    assert pl.read_csv(file).height == 2
    assert {label.replace("\n", " ").partition(" (")[0] for label in labels} == {LABEL}


def test_the_page_knows_its_label_and_meaning() -> None:
    known = catalogue()
    assert known["metrics"][NAME] == LABEL
    assert known["meanings"][NAME].startswith("start-up delay of a video")
