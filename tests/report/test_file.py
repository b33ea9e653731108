"""Reports of files that compare, check or test wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.errors import NoRunError
from fullpipe.report.content import Document, Figure, Forest, Table
from fullpipe.report.from_file import page_of_file, read
from fullpipe.report.html.page import html

ROW = {
    "verdict": "worse",
    "kind": "flows",
    "of": "all flows",
    "entry": None,
    "metric": "goodput",
    "unit": "bit/s",
    "reference": 10e6,
    "variant": 9e6,
    "difference": -1e6,
    "interval": {"low": -1.5e6, "high": -0.5e6, "level": 0.95},
    "margin": {"relative": 0.03, "absolute": 0.0},
}
CHECK = {
    "kind": "check",
    "title": "suite",
    "question": "Has anything become worse?",
    "verdict": "regressed",
    "rows": [ROW],
    "notes": ["one case was left out"],
    "command": "fullpipe check suite.toml --against HEAD",
    "versions": {"fullpipe": "1.2.3"},
    "cases": 7,
}


def page(tmp_path: Path, text: str) -> Document:
    """The page of a file with this text."""
    (tmp_path / "found.json").write_text(text, encoding="utf-8")
    return page_of_file(read(tmp_path / "found.json"))


def table(found: Document) -> Table:
    """Its table of rows."""
    return next(block for block in found.sections[0].blocks if isinstance(block, Table))


def row(of: str, metric: str, unit: str, means: tuple[float, float], verdict: str) -> dict[str, Any]:
    """A row of a comparison."""
    return {
        **ROW,
        "of": of,
        "metric": metric,
        "unit": unit,
        "verdict": verdict,
        "reference": means[0],
        "variant": means[1],
    }


def test_what_has_no_per_cent_is_named_below_the_figure(tmp_path: Path) -> None:
    lost = {**row("call", "loss_rate", "1", (0, 0.002), "worse"), "difference": 0.002}
    alike = {**row("call", "retransmitted", "packets", (0, 0), "equivalent"), "difference": 0.0}
    fast = {**row("cubic", "rtt_mean", "s", (0.1, 0.02), "better"), "difference": -0.08}
    fast["interval"] = {"low": -0.12, "high": -0.04, "level": 0.95}
    found = page(tmp_path, json.dumps({"kind": "compare", "rows": [lost, alike, fast]}))
    (figure,) = (block for block in found.sections[0].blocks if isinstance(block, Figure))
    assert figure.caption.endswith("Not drawn, as the reference is 0: loss_rate call (worse).")
    assert isinstance(figure.chart, Forest)
    (drawn,) = figure.chart.differences
    assert (drawn.low, drawn.high) == (-100.0, pytest.approx(-40.0))


def test_an_interval_of_a_figure_ends_at_the_bounds_of_its_metric(tmp_path: Path) -> None:
    used = {**row("link", "utilisation", "1", (0.8, 0.9), "undecided"), "difference": 0.1}
    used["interval"] = {"low": -0.9, "high": 1.1, "level": 0.95}
    found = page(tmp_path, json.dumps({"kind": "compare", "rows": [used]}))
    (figure,) = (block for block in found.sections[0].blocks if isinstance(block, Figure))
    assert isinstance(figure.chart, Forest)
    (drawn,) = figure.chart.differences
    assert (drawn.low, drawn.high) == (pytest.approx(-100.0), pytest.approx(25.0))


def test_what_a_user_notices_is_told_first_with_its_numbers(tmp_path: Path) -> None:
    rows = [
        row("all flows", "goodput", "bit/s", (10e6, 9e6), "worse"),
        row("cubic", "goodput", "bit/s", (9.5e6, 9.4e6), "equivalent"),
        row("cubic", "retransmissions", "1", (10, 20), "worse"),
        row("call", "call_score", "1", (2.61, 4.38), "better"),
        row("call", "loss_rate", "1", (0, 0), "equivalent"),
    ]
    found = page(tmp_path, json.dumps({"kind": "compare", "rows": rows}))
    told = [sentence for sentence in found.answer if ":" in sentence]
    assert told[:2] == [
        "call: opinion score (MOS) 2.6 to 4.4 (better).",
        "cubic: goodput 9.50 to 9.40 Mbit/s (equivalent).",
    ]
    twice = page(tmp_path, json.dumps({"kind": "compare", "rows": [*rows, rows[-2]]}))
    assert not any("2.6 to 4.4" in sentence for sentence in twice.answer)


def test_question_verdict_command_notes_and_versions_are_told(tmp_path: Path) -> None:
    found = page(tmp_path, json.dumps(CHECK))
    assert (found.title, found.question) == ("suite", "Has anything become worse?")
    assert found.answer[0] == "Verdict: regressed."
    assert [section.heading for section in found.sections] == ["Rows", "Notes", "Repetition"]
    assert ("fullpipe", "1.2.3") in found.facts
    assert ("cases", "7") in found.facts


def test_differences_have_units_intervals_and_a_figure(tmp_path: Path) -> None:
    found = page(tmp_path, json.dumps(CHECK))
    row = dict(zip([column.name for column in table(found).columns], table(found).rows[0], strict=True))
    assert row["metric"] == "goodput, Mbit/s"
    assert row["difference"] == "-10.0 % [-15.0, -5.0]"
    assert row["margin"] == "3 %"
    (figure,) = [block for block in found.sections[0].blocks if isinstance(block, Figure)]
    assert isinstance(figure.chart, Forest)
    assert (figure.chart.differences[0].low, figure.chart.differences[0].high) == pytest.approx((-15, -5))


def test_rows_of_a_check_are_held_against_their_base(tmp_path: Path) -> None:
    row = {
        "verdict": "regressed",
        "case": "home",
        "point": {"flows.0.cca": "cubic"},
        "of": "all flows",
        "metric": "rtt_mean",
        "unit": "s",
        "base": 0.1,
        "change": 0.15,
        "difference": 0.05,
        "interval": {"low": 0.04, "high": 0.06},
        "margin": 0.003,
    }
    found = page(tmp_path, json.dumps({"kind": "check", "rows": [row, {**row, "verdict": "not worse"}]}))
    cells = dict(zip([column.name for column in table(found).columns], table(found).rows[0], strict=True))
    assert (cells["cca"], cells["base"], cells["change"], cells["margin"]) == (
        "cubic",
        "100.00",
        "150.00",
        "3.00",
    )
    assert cells["difference"] == "+50.0 % [+40.0, +60.0]"
    assert found.answer[1] == "In detail: regressed in mean RTT (1 of 2); not worse in 1 of 2 rows."


def test_keys_that_are_not_known_are_columns(tmp_path: Path) -> None:
    rows = [
        {"factor": "cca", "F": 12.5, "eta_squared": 0.25, "pairs": ["a", "b"]},
        {"factor": "rate", "dof": 3},
    ]
    found = table(page(tmp_path, json.dumps({"kind": "test", "rows": rows})))
    assert [column.name for column in found.columns] == ["factor", "F", "eta squared", "pairs", "dof"]
    assert list(found.rows) == [["cca", "12.5", "0.25", "a, b", "-"], ["rate", "-", "-", "-", "3"]]


def test_lines_of_compare_are_one_table_with_points_and_sides(tmp_path: Path) -> None:
    def line(rate: str) -> str:
        return json.dumps(
            {
                "scenario": "home",
                "point": {"a.rate": rate},
                "reference": "cubic",
                "variant": "bbr3",
                "rows": [ROW],
            }
        )

    found = page(tmp_path, f"{line('1 Mbit/s')}\n{line('2 Mbit/s')}\n")
    assert [row[:3] for row in table(found).rows] == [
        ["1 Mbit/s", "cubic", "bbr3"],
        ["2 Mbit/s", "cubic", "bbr3"],
    ]
    assert "bbr3 against cubic: worse in goodput (2 of 2)." in found.answer


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "lines without"),
        ("no JSON", "is no JSON"),
        ("{}", 'has no "rows"'),
        ('{"rows": [1]}', 'has no "rows"'),
        ("[" * 100_000, "is no JSON"),
        ('{"rows": []}\n{"rows": 3}', "lines without"),
        (f'{{"rows": [{{"of": {"[" * 900}{"]" * 900}}}]}}', "nested deeper than 32"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(NoRunError, match=told):
        page(tmp_path, text)


@pytest.mark.parametrize(
    "row",
    [
        {"difference": 1, "base": 5e-324},
        {"difference": 5e-324, "base": 1},
        {"difference": 10**307, "base": 1e308},
        {"difference": 10**400, "base": 1},
        {"difference": -1e308, "base": 1, "interval": {"low": -1e308, "high": 1e308}},
    ],
)
def test_numbers_that_no_axis_holds_are_in_the_table(tmp_path: Path, row: dict[str, Any]) -> None:
    found = page(tmp_path, json.dumps({"rows": [{"metric": "goodput", "unit": "bit/s", **row}]}))
    assert len(table(found).rows) == 1
    assert "</html>" in html(found, 1_000)


@pytest.mark.parametrize("value", [None, [], {}, "x", True, 1e400, -0.0, {"low": None}, [[1], {"a": "b"}]])
@pytest.mark.parametrize("key", list(ROW))
def test_values_of_other_kinds_are_text(tmp_path: Path, key: str, value: Any) -> None:
    assert len(table(page(tmp_path, json.dumps({"rows": [ROW | {key: value}, ROW]}))).rows) == 2


def test_effects_of_a_test_are_named_with_their_intervals_and_drawn(tmp_path: Path) -> None:
    effects = [{"name": "Hedges' g", "value": -4.18, "interval": {"low": -7.1, "high": -2.0}}]
    row = {
        "test": "Games-Howell",
        "verdict": "worse",
        "of": "all flows",
        "metric": "goodput",
        "unit": "bit/s",
        "point": {"a.rate": "1 Mbit/s"},
        "effect": "bbr3 - bbr1",
        "means": [5e6, 4e6],
        "difference": -1e6,
        "interval": {"low": -2e6, "high": -5e5},
        "effects": effects,
        "planned": False,
    }
    found = page(tmp_path, json.dumps({"kind": "test", "rows": [row, {**row, "verdict": ""}]}))
    cells = dict(zip([column.name for column in table(found).columns], table(found).rows[0], strict=True))
    assert cells["effects"] == "Hedges' g -4.18 [-7.1, -2]"
    assert (cells["rate"], cells["means"], cells["planned"]) == ("1 Mbit/s", "5.00, 4.00", "no")
    assert found.answer == ["2 rows: 1 worse.", "bbr3 - bbr1: worse in goodput (1 of 2)."]
    (figure,) = [block for block in found.sections[0].blocks if isinstance(block, Figure)]
    assert isinstance(figure.chart, Forest)
    assert figure.chart.differences[0].value == pytest.approx(-20)


HOSTILE: list[Any] = [2**70, 10**400, -1e308, 5e-324, float("nan"), True, None, "\x1b[2J", [[1]], {"a": {}}]
"""Numbers and types that a damaged or made-up file may have anywhere."""


@pytest.mark.parametrize("kind", ["check", "compare", "test"])
@pytest.mark.parametrize("key", [*CHECK, *(f"rows.{key}" for key in ROW), "rows.point", "rows.side"])
def test_any_value_anywhere_is_shown_or_refused_in_one_line(
    fullpipe: Callable[..., Any], key: str, kind: str
) -> None:
    of_row = key.removeprefix("rows.")
    for value in HOSTILE:
        changed = {"rows": [ROW | {of_row: value}, ROW]} if of_row != key else {key: value}
        Path("found.json").write_text(json.dumps({**CHECK, "kind": kind, **changed}), encoding="utf-8")
        done = fullpipe("report", "found.json", "-o", "report.md")
        assert (done.exit_code, len(done.stderr.splitlines())) in ((0, 0), (2, 1)), (value, done.exception)
