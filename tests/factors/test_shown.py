"""Answers on a terminal."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import polars as pl
import pytest

from fullpipe.algorithms.own import title
from fullpipe.cli.forms import Form
from fullpipe.cli.test_shown import show
from fullpipe.validation.test import Answer, conclusion
from tests.factors.test_conclusion import CCA, RATE, SIZE, answered, values

LONG = "python:brake_and_more:BrakeVeryMuch"


def three(levels: list[str]) -> Answer:
    draw = np.random.default_rng(4)
    axes = {CCA: levels, SIZE: ["0.5 bdp", "8 bdp"], RATE: ["10 Mbit/s", "100 Mbit/s"]}
    return answered(values(axes, lambda at: 5 + 3 * (at[CCA] == levels[-1]) + draw.normal(0, 1)), *axes)


@cache
def many() -> Answer:
    """Twelve points of three groups and two metrics."""
    axes = {CCA: ["cubic", "bbr1", "bbr3"], RATE: [f"{n} Mbit/s" for n in range(1, 13)]}
    draw = np.random.default_rng(5)
    groups = ("mine", "the download from upstairs", "b")
    return answered(
        values(axes, lambda _: draw.normal(5, 1), groups=groups, metrics=("goodput", "rtt_mean"), seeds=3),
        CCA,
    )


@pytest.fixture(params=[80, 100])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def cells_of(found: Answer) -> set[str]:
    """Numbers and words that rows of main effects have on a terminal."""
    numbers = {f"{row.p_raw:.4f}" for row in found.rows if row.is_primary and row.p_raw >= 1e-4}
    levels = {level for row in found.rows if row.is_primary for level in row.levels}
    return {*numbers, *levels, "(corrected)", "(raw)", "undecided"}


@pytest.mark.parametrize(("margin", "unit"), [("0.0005", "ms"), ("5%", "%")])
def test_the_table_has_the_differences_of_the_conclusion_in_their_unit(
    margin: str, unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda at: 1 + (at[CCA] == "bbr3"), metrics=("rtt_mean",))
    table = table.with_columns(pl.col("value") / 1e8)
    found = answered(table, CCA, margins={"rtt_mean": margin})
    show("one", found, Form.CSV)
    (sentence,) = conclusion(found)
    assert f"mean RTT of mine rises {'from' if unit == 'ms' else 'by'} " in sentence
    printed = capsys.readouterr().out
    assert re.search(r"\+[\d.]+ % \[" if unit == "%" else r"\+[\d.]+ \[", printed), printed


@pytest.mark.parametrize("levels", [["cubic", "bbr3"], ["cubic", "bbr1", "bbr3"]], ids=len)
def test_nothing_is_broken_inside_a_word_or_a_number(
    width: int, levels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = three(levels)
    show("three", found, Form.TABLE)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    assert cells_of(found) <= set(printed.split())
    assert len(re.findall(r"eta² [\d.e-]+ \[[\d.e-]+, [\d.e-]+\] +[<\d]", printed)) == 7


def test_names_of_effects_and_verdicts_stay_whole(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    axes = {SIZE: ["0.5 bdp", "8 bdp", "1 bdp"], "topology.bottleneck.delay": ["5 ms", "20 ms"]}
    found = answered(values(axes, lambda _: 5.0, spread=3, groups=("mine", "other")), *axes)
    assert any(factor.seeds for factor in found.factors)
    show("two", found, Form.TABLE)
    table = capsys.readouterr().out.partition("\ntwo\n")[2]
    for factor in found.factors:
        assert not factor.seeds or f"undecided (about {factor.seeds:,} seeds)\n" in table
    assert table.count("buffer x one-way delay") == 2
    assert max(map(len, table.splitlines())) <= width


@pytest.mark.parametrize("all_rows", [False, True], ids=["short", "all"])
def test_interactions_have_the_words_of_the_conclusion(
    all_rows: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    axes = {CCA: ["cubic", "bbr3"], SIZE: ["1 bdp", "2 bdp"]}
    found = answered(values(axes, lambda at: 9 + 5 * (at[CCA] == "bbr3") * (at[SIZE] == "2 bdp")), *axes)
    show("two", found, Form.TABLE, all_rows=all_rows)
    table = capsys.readouterr().out.partition("two\n")[2]
    assert len(re.findall(r" matters$", table, re.MULTILINE)) == 3
    assert not {"significant", "different"} & set(table.split())


def test_two_long_levels_are_broken_between_words(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    axes = {CCA: ["cubic", LONG], RATE: ["1 Mbit/s", "2 Mbit/s"]}
    found = answered(values(axes, lambda _: 5.0, spread=3), CCA)
    show("long", found, Form.TABLE)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    assert title(LONG) in printed.split()


def test_the_seeds_that_decide_between_independent_levels_are_shown(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    table = values({CCA: ["cubic", "bbr3"]}, lambda at: 5 + 0.1 * (at[CCA] == "bbr3"))
    found = answered(table.with_columns(seed=pl.int_range(table.height)), CCA)
    show("apart", found, Form.TABLE)
    table_of = capsys.readouterr().out.partition("\napart\n")[2]
    assert re.search(rf"undecided \(about {found.factors[0].seeds}\s+seeds\)", table_of)
    assert max(map(len, table_of.splitlines())) <= width


@pytest.mark.parametrize("all_rows", [False, True], ids=["short", "all"])
def test_no_table_is_empty(width: int, all_rows: bool, capsys: pytest.CaptureFixture[str]) -> None:
    show("three", three(["cubic with a long name", "bbr3"]), Form.TABLE, all_rows=all_rows)
    lines = capsys.readouterr().out.splitlines()
    headings = [n for n, line in enumerate(lines) if line.startswith("test ")]
    assert all(re.match(r"Welch-James|mixed model", lines[n + 1]) for n in headings)
    assert bool(headings) == all_rows
    assert all("Welch-James" in line or "Welch" not in line for line in lines)
    assert max(map(len, lines[: lines.index("three")])) <= width


def test_a_large_answer_has_twelve_rows_and_sixty_lines_at_most(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = many()
    show("many", found, Form.TABLE)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) <= 60
    assert len(re.findall(r"eta² [\d.]+ \[", printed.partition("\nmany\n")[2])) == 12
    assert f"{len(found.rows) - 12:,} more rows: --all prints them" in printed


def test_the_table_begins_with_the_subjects_of_the_conclusion(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    show("many", many(), Form.TABLE)
    table = capsys.readouterr().out.partition("\nmany\n")[2]
    assert len(re.findall(r"^goodput of mine, Mbit/s", table, re.MULTILINE)) == min(12, width)


def test_the_table_has_every_metric_that_the_conclusion_has(capsys: pytest.CaptureFixture[str]) -> None:
    axes, groups = {RATE: ["1 Mbit/s", "2 Mbit/s"], SIZE: ["1 bdp", "2 bdp"]}, tuple("abcdef")
    moved = values(axes, lambda at: 50 + 5 * (at[SIZE] == "2 bdp"), groups=groups, metrics=("rtt_mean",))
    open_ = values(axes, lambda _: 5.0, spread=2, groups=groups)
    show("two", answered(pl.concat([moved, open_]), RATE, SIZE), Form.TABLE)
    table = capsys.readouterr().out.partition("\ntwo\n")[2]
    assert {"rtt_mean of a, ms", "goodput of a, Mbit/s"} <= set(
        re.findall(r"^\w+ of \w, [\w/]+", table, re.M)
    )


def test_files_have_all_rows_and_say_which_p_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(values({CCA: ["cubic", "bbr1", "bbr3"]}, lambda _: 5.0, spread=3), CCA)
    show("three", found, Form.CSV)
    table = pl.read_csv(capsys.readouterr().out.encode())
    assert table.height == len(found.rows)
    assert table.columns[-3:] == ["p (raw)", "p (corrected)", "verdict"]


def test_a_pair_of_levels_has_its_own_p_and_the_corrected_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(values({CCA: ["cubic", "bbr1", "bbr3"]}, lambda at: 5 + 0.4 * (at[CCA] == "bbr3")), CCA)
    show("three", found, Form.CSV)
    table = pl.read_csv(capsys.readouterr().out.encode(), infer_schema=False)
    pairs = table.filter(pl.col("test") == "paired difference")
    rows = [row for row in found.rows if row.test == "paired difference"]
    assert all(row.pairs is not None and row.p_raw == row.pairs.p <= row.p_corrected for row in rows)
    assert pairs["p (raw)"].to_list() == [
        f"{row.p_raw:.4f}" if row.p_raw >= 1e-4 else "<0.0001" for row in rows
    ]
    simultaneous = table.filter(pl.col("test") == "Games-Howell")
    assert set(simultaneous["p (raw)"]) == {"-"}
    assert "-" not in simultaneous["p (corrected)"].to_list()
