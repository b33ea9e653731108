"""`fullpipe run --until` as users meet it, with an engine whose results are made up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from fullpipe import Run, Scenario, engines
from fullpipe.analysis.precision import Known, Target
from fullpipe.analysis.statistics import Interval, two_modes
from fullpipe.cli.answer import _wide
from fullpipe.cli.summary import _told
from fullpipe.engines import Progress
from fullpipe.engines.native import NativeEngine

SCENARIO = """
name = "made-up"
duration = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "1 ms"
[[flows]]
cca = "cubic"
"""


class MadeUp(NativeEngine):
    """One run, with a goodput of its own for every seed."""

    name: ClassVar[str] = "made-up"
    goodputs_bps: ClassVar[Callable[[int], float]]
    kept: ClassVar[Run | None] = None

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        if MadeUp.kept is None:
            MadeUp.kept = super().run(scenario, seed=1, progress=progress)
        run = MadeUp.kept
        goodput = pl.lit(float(type(self).goodputs_bps(seed))).alias("goodput_bps")
        engine = run.meta.engine.model_copy(update={"name": self.name})
        meta = run.meta.model_copy(update={"engine": engine, "seed": seed})
        tables = {name: run.tables[name] for name in run.tables}
        return replace(run, meta=meta, tables={**tables, "flows": run.flows.with_columns(goodput)})


@pytest.fixture
def until(fullpipe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "made-up": MadeUp})
    Path("made-up.toml").write_text(SCENARIO, encoding="utf-8")

    def run(goodputs_bps: Callable[[int], float], *words: str) -> Any:
        monkeypatch.setattr(MadeUp, "goodputs_bps", staticmethod(goodputs_bps), raising=False)
        return fullpipe("run", "made-up.toml", "--engine", "made-up", "--no-store", *words)

    return run


def normal(deviation: float) -> Callable[[int], float]:
    return lambda seed: 10e6 * (1 + deviation * float(np.random.default_rng(seed).normal()))


def starving(seed: int) -> float:
    return 0.1e6 + 1e3 * seed if seed % 5 == 0 else 9e6 + 1e3 * seed


def test_seeds_end_when_intervals_are_narrow_twice(until: Callable[..., Any]) -> None:
    made = until(normal(0.01), "--until", "goodput ci<2%")
    assert made.exit_code == 0, made.output
    assert "means of 30 seeds" in made.output
    assert "stopped at 30 seeds: goodput ±2 % in every group at every point" in made.output


def test_more_seeds_are_taken_where_runs_vary(until: Callable[..., Any]) -> None:
    lines = until(normal(0.08), "--until", "ci<2%", "--json").stdout.splitlines()
    values = [json.loads(line) for line in lines if line.startswith("{")]
    assert len(values) > 60
    assert [value["seed"] for value in values] == list(range(1, len(values) + 1))


def test_as_many_as_are_allowed(until: Callable[..., Any]) -> None:
    made = until(normal(0.3), "--until", "goodput ci<2%", "--max-seeds", "25")
    assert made.exit_code == 0
    assert "stopped at 25 seeds, the maximum (--max-seeds)" in made.output
    assert "goodput of cubic-1: ±" in made.output


def test_widths_are_rounded_as_tables_are_and_have_their_unit(until: Callable[..., Any]) -> None:
    made = until(normal(0.3), "--until", "goodput ci<2%, share ci<2%", "--max-seeds", "25")
    assert re.search(r"goodput of cubic-1: ±\d\.\d\d Mbit/s, not ±0\.\d\d$", made.output, re.MULTILINE)


@pytest.mark.parametrize(
    ("metric", "half", "allowed", "told"),
    [
        ("call_score", 0.36, 0.21, "±0.4, not ±0.2"),
        ("call_score", 0.0108, 0.0043, "±0.011, not ±0.004"),
        ("share", 0.02894, 0.00566, "±2.9 pp, not ±0.6"),
        ("goodput", 500_100.0, 499_900.0, "±0.5001 Mbit/s, not ±0.4999"),
        ("retransmitted", 4.6, 1.0, "±5 packets, not ±1"),
    ],
)
def test_a_width_has_the_decimals_of_its_metric_and_more_where_it_would_be_nothing(
    metric: str, half: float, allowed: float, told: str
) -> None:
    interval = Interval(1 - half, 1 + half, 0.95, "t")
    known = Known({}, "it", Target(metric, 0.02), 25, 1.0, interval, None, allowed)
    assert _wide(known) == f"  {metric} of it: {told}"


def test_equal_runs_end_after_the_pilot(until: Callable[..., Any]) -> None:
    made = until(lambda seed: 5e6, "--until", "goodput ci<2%")
    assert "stopped at 20 seeds, as all seeds gave the same run" in made.output


def test_two_modes_are_shown_instead_of_a_mean(until: Callable[..., Any]) -> None:
    made = until(starving, "--until", "goodput ci<5%", "--max-seeds", "60")
    assert "(20 %) or" in made.output
    assert "two modes: goodput of cubic-1 is" in made.output
    assert "whose probability is known to ±10 points, not ±5" in made.output


def test_the_interval_of_a_mode_ends_at_the_bounds_of_its_metric() -> None:
    """Of the lower mode Student's interval is 0.02 ± 0.086, of the higher one 0.96 ± 0.006."""
    found = two_modes([0.0, 0.0, 0.06, *[0.95, 0.97] * 12])
    assert found
    told = _told({"metric": "share", "of": "mine", "unit": "1"}, found)
    assert "mine is 2.0 [0.0, 10.6] % in 11 %" in told


def test_two_modes_are_noted_under_any_table(until: Callable[..., Any]) -> None:
    made = until(starving, "--seeds", "25")
    assert "two modes: goodput of cubic-1 is" in made.output
    assert "in 20 % [9, 39] of runs" in made.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-seeds", "50"), "needs --until"),
        (("--until", "ci<2%", "--seeds", "5"), "--seed, --seeds and --until exclude each other"),
        (("--until", "ci<2%", "--max-seeds", "5"), "20"),
        (("--until", "nonsense"), "write METRIC ci<X%"),
        (("--until", "convergence ci<2%"), "no run has a value of it"),
    ],
)
def test_wrong_use_is_said(until: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    made = until(normal(0.1), *words)
    assert made.exit_code == 2
    assert said in " ".join(made.output.replace("│", " ").split())
