"""`fullpipe plan` as users meet it, and what it plans from a table of values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe.errors import ScenarioError
from fullpipe.validation.factors.plan import planned

SCENARIO = """
name = "home"
duration = "2 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", size = "1 bdp" }
[[flows]]
cca = "cubic"
start_jitter = "500 ms"
[[flows]]
cca = "reno"
start_jitter = "500 ms"
"""


def table(sides: dict[str, list[float]]) -> pl.DataFrame:
    rows = [
        (name, seed, "native", "flows", 0, name or "a", "goodput", value, "bit/s")
        for name, values in sides.items()
        for seed, value in enumerate(values, 1)
    ]
    columns = ["variant", "seed", "engine", "kind", "entry", "of", "metric", "value", "unit"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def draws(deviation: float, seed: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).normal(100, deviation, 20))


def test_what_sides_have_in_common_takes_fewer_seeds() -> None:
    shared, own = draws(10, 1), draws(1, 2) - 100
    (pairs,), _ = planned(table({"": shared.tolist(), "b": (shared + own).tolist()}), 0.02, 0.9)
    (apart,), _ = planned(table({"": shared.tolist(), "b": draws(10, 3).tolist()}), 0.02, 0.9)
    assert pairs.seeds is not None
    assert apart.seeds is not None
    assert 20 * pairs.seeds < apart.seeds


def test_one_side_alone_is_held_against_another_with_nothing_in_common() -> None:
    values = draws(5, 4)
    (found,), _ = planned(table({"": values.tolist()}), 0.05, 0.9)
    assert found.deviation == pytest.approx(np.sqrt(2) * values.std(ddof=1))
    assert found.other == ""
    assert found.least is not None
    assert found.most is not None
    assert found.seeds is not None
    assert found.least < found.seeds < found.most


def test_runs_of_two_kinds_are_simulated() -> None:
    starving = [5.0, 5.1, 4.9, 5.2] + [120 + n / 10 for n in range(16)]
    (found,), _ = planned(table({"": starving}), 0.2, 0.9)
    assert found.is_simulated
    assert found.most is None
    assert found.seeds is not None


def test_a_mean_of_0_has_no_share() -> None:
    values = pl.concat(
        [
            table({"": [-1.0, 1.0] * 10}),
            table({"": draws(5, 4).tolist()}).with_columns(entry=pl.lit(1, pl.Int64)),
        ]
    )
    rows, notes = planned(values, 0.05, 0.9)
    assert len(rows) == 1
    assert "its mean is 0" in notes[0]


def test_equal_seeds_are_refused() -> None:
    with pytest.raises(ScenarioError, match="all seeds gave the same values"):
        planned(table({"": [5.0] * 20}), 0.05, 0.9)


@pytest.fixture
def plan(fullpipe: Callable[..., Any]) -> Callable[..., Any]:
    Path("home.toml").write_text(SCENARIO, encoding="utf-8")
    return lambda *words: fullpipe("plan", "home.toml", "--pilot", 6, *words)


def test_seeds_of_variants(plan: Callable[..., Any]) -> None:
    made = plan("--detect", "5%", "--over", "flows.0.cca=cubic,vegas")
    assert made.exit_code == 0, made.output
    assert "to find a difference of 5% in 90 of 100 comparisons, from a pilot of 6 seeds" in made.output
    assert len(list(Path("runs").glob("*/native-*"))) == 12


def test_as_json(plan: Callable[..., Any]) -> None:
    made = json.loads(plan("--detect", "10%", "--power", 0.8, "--metric", "jain", "--json").output)
    assert (made["detect"], made["power"]) == (0.1, 0.8)
    assert made["seeds"] == max(row["seeds"] for row in made["rows"])
    assert {row["metric"] for row in made["rows"]} == {"jain"}
    assert made["command"].startswith("fullpipe plan home.toml --pilot 6 --detect 10%")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--detect", "5"), "write it as a share of the mean, as in 5%"),
        (("--detect", "0%"), "write it as a share of the mean, as in 5%"),
        (("--detect", "5%", "--metric", "gooput"), 'did you mean "goodput"'),
        (("--detect", "5%", "--over", "flows.0.cca=cubic"), "give two values or more"),
        (("--detect", "5%", "--power", "2"), "--power"),
    ],
)
def test_wrong_use_is_said(plan: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    made = plan(*words)
    assert made.exit_code == 2
    assert said in " ".join(made.output.replace("│", " ").split())
