"""`fullpipe plan` as users meet it, and what it plans from a table of values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from fullpipe.errors import ScenarioError
from fullpipe.validation.test.plan import conclusion_of, planned

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


def test_the_conclusion_has_the_seeds_with_range_unit_and_group() -> None:
    values = table({"cubic": draws(10, 1).tolist(), "bbr3": draws(10, 2).tolist()})
    values = values.with_columns(of=pl.lit("mine"), value=1e6 * pl.col("value"))
    rows, _ = planned(values, 0.05, 0.9)
    (row,) = rows
    assert conclusion_of(rows, 0.05, 0.9) == [
        f"bbr3 instead of cubic: {row.seeds} seeds [{row.least} to {row.most}] find a difference of 5 %"
        f" of the mean ({row.difference / 1e6:.2f} Mbit/s) in goodput of mine in 90 of 100 comparisons."
    ]


def test_a_group_has_the_names_of_both_sides() -> None:
    names = {"cubic": "cubic-1", "bbr3": "bbr3-1", "vegas": "vegas-1"}
    sides = {variant: draws(10, n).tolist() for n, variant in enumerate(names)}
    values = table(sides).with_columns(of=pl.col("variant").replace_strict(names))
    pair = values.filter(pl.col("variant") != "vegas")
    (row,), _ = planned(pair, 0.05, 0.9)
    assert "in goodput of cubic-1 -> bbr3-1 in 90 of" in conclusion_of([row], 0.05, 0.9)[0]
    assert (row.to_dict()["of"], row.to_dict()["labels"]) == ("flows.0", ["cubic-1", "bbr3-1"])
    rows, _ = planned(values, 0.05, 0.9)
    assert [row.name for row in rows] == ["cubic-1 -> bbr3-1", "cubic-1 -> vegas-1"]
    first, _ = conclusion_of(rows, 0.05, 0.9)
    assert first.startswith("bbr3 and vegas instead of cubic: ")
    assert "in goodput of cubic-1 in 90 of" in first


def test_the_worst_case_is_left_out_if_a_sentence_has_it() -> None:
    parts = [table({"": draws(5 + n, n).tolist()}).with_columns(entry=pl.lit(n)) for n in range(3)]
    found = conclusion_of(planned(pl.concat(parts), 0.05, 0.9)[0], 0.05, 0.9)
    assert len(found) == 3
    assert "worst" not in " ".join(found)


def test_a_range_without_an_end_is_open() -> None:
    (row,), _ = planned(table({"": draws(20, 1).tolist()}), 0.05, 0.9)
    assert f"seeds [{row.least} or more] find" in conclusion_of([replace(row, most=None)], 0.05, 0.9)[0]


def several(deviations: list[float]) -> pl.DataFrame:
    """A point for each standard deviation."""
    parts = [
        table({"": draws(each, n).tolist()}).select(pl.lit(f"{n} ms").alias("delay"), pl.all())
        for n, each in enumerate(deviations)
    ]
    return pl.concat(parts).with_columns(of=pl.lit("mine"))


def test_the_conclusion_of_several_points_ends_with_the_worst_case() -> None:
    rows, _ = planned(several([2, 20, 5]), 0.05, 0.9)
    first, worst = conclusion_of(rows, 0.05, 0.9)
    least, _, most = sorted(row.seeds or 0 for row in rows)
    assert first.startswith(f"{least} to {most:,} seeds find a difference of 5 % of the mean (")
    assert worst.startswith(f"The worst case takes {most:,} seeds [")
    assert "goodput of mine at delay 1 ms, where differences vary by" in worst


def test_a_difference_that_no_number_of_seeds_finds_is_said() -> None:
    rows, _ = planned(several([2, 20]), 0.05, 0.9)
    never = [rows[0], replace(rows[1], seeds=None, least=None, most=None)]
    first, worst = conclusion_of(never, 0.05, 0.9)
    assert " to more than 1,000,000 seeds find" in first
    assert worst.startswith("The worst case takes more than 1,000,000 seeds:")


def test_many_metrics_and_groups_are_counted_in_the_last_sentence() -> None:
    values = pl.concat([table({"": draws(5, n).tolist()}).with_columns(entry=pl.lit(n)) for n in range(8)])
    found = conclusion_of(planned(values, 0.05, 0.9)[0], 0.05, 0.9)
    assert len(found) == 5
    assert found[-1] == "5 more metrics and groups are in the table."


@pytest.fixture
def plan(fullpipe: Callable[..., Any]) -> Callable[..., Any]:
    Path("home.toml").write_text(SCENARIO, encoding="utf-8")
    return lambda *words: fullpipe("plan", "home.toml", "--pilot", 6, *words)


def test_seeds_of_variants(plan: Callable[..., Any]) -> None:
    made = plan("--detect", "5%", "--over", "flows.0.cca=cubic,vegas")
    assert made.exit_code == 0, made.output
    assert " find a difference of 5 % of the mean (" in " ".join(made.output.partition("\n\n")[0].split())
    assert (
        "to find a difference of 5 % of the mean in 90 of 100 comparisons, from a pilot of 6 seeds"
        in made.output
    )
    assert len(list(Path("runs").glob("*/native-*"))) == 12


def test_as_json(plan: Callable[..., Any]) -> None:
    made = json.loads(plan("--detect", "10%", "--power", 0.8, "--metric", "jain", "--json").output)
    assert (made["detect"], made["power"]) == (0.1, 0.8)
    assert made["seeds"] == max(row["seeds"] for row in made["rows"])
    assert {row["metric"] for row in made["rows"]} == {"jain"}
    assert made["command"].startswith("fullpipe plan home.toml --pilot 6 --detect 10%")
    assert " find a difference of 10 % of the mean (" in made["conclusion"][0]


@pytest.mark.parametrize("columns", ["80", "100"])
def test_twelve_rows_are_printed_unless_all_are_asked_for(
    plan: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    rates = ", ".join(f'"{n} Mbit/s"' for n in range(8, 13))
    Path("home.toml").write_text(f'{SCENARIO}[sweep]\n"topology.bottleneck.rate" = [{rates}]\n')
    made = plan("--detect", "5%")
    assert "3 more rows: --all prints them" in made.output
    assert len(made.output.splitlines()) <= 60
    table_lines = made.output.partition("\n\n")[2].splitlines()
    assert max(map(len, table_lines)) <= int(columns)
    assert sum(bool(re.search(r"\d %\s+\d", line)) for line in table_lines) == 12
    every = plan("--detect", "5%", "--all").output
    assert "more rows" not in every


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--detect", "5"), "write the difference in per cent of the mean, as in 5%"),
        (("--detect", "0.1"), "as in 5% (10% is 0.1 times the mean)"),
        (("--detect", "0%"), "write the difference in per cent of the mean, as in 5%"),
        (("--detect", "5%", "--metric", "gooput"), 'did you mean "goodput"'),
        (("--detect", "5%", "--over", "flows.0.cca=cubic"), "give two values or more"),
        (("--detect", "5%", "--power", "2"), "--power"),
    ],
)
def test_wrong_use_is_said(plan: Callable[..., Any], words: tuple[str, ...], said: str) -> None:
    made = plan(*words)
    assert made.exit_code == 2
    assert said in " ".join(made.output.replace("│", " ").split())
