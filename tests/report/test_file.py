"""Reports of files that compare, check or test wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullpipe.errors import NoRunError
from fullpipe.report.content import Document, Figure, Forest, Items, Table
from fullpipe.report.files import read
from fullpipe.report.findings import FindingPoints
from fullpipe.report.from_file import page_of_file
from fullpipe.report.html import html
from fullpipe.validation.compare import Subject
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import one_sided, paired
from tests.report.pages import ROW, scenario

LINK_RATE = "topology.bottleneck.rate"
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


def forest(found: Document) -> tuple[Figure, Forest]:
    """Its first figure, which is one of differences."""
    figure = found.parts[0].figure
    assert figure is not None
    assert isinstance(figure.chart, Forest)
    return figure, figure.chart


def rows_of(found: Document) -> list[Any]:
    """All rows of the details, findings first."""
    headings = ("All verdicts", "Rows")
    return [
        row
        for part in found.parts[0].details
        if part.heading in headings
        for block in part.blocks
        if isinstance(block, Table)
        for row in block.rows
    ]


def cells(found: Document, place: int = 0) -> dict[str, str]:
    """A row of its first table by the names of columns."""
    table = found.parts[0].table
    assert table is not None
    return dict(zip([column.name for column in table.columns], table.rows[place], strict=True))


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


@pytest.mark.parametrize(
    ("count", "shown", "note"), [(12, 12, ""), (13, 10, "3 more rows are in Details, under Rows.")]
)
def test_rows_without_findings_are_whole_up_to_twelve(
    tmp_path: Path, count: int, shown: int, note: str
) -> None:
    rows = [{"step": place, "took": place / 2} for place in range(count)]
    table = page(tmp_path, json.dumps({"kind": "steps", "rows": rows})).parts[0].table
    assert table is not None
    assert (len(table.rows), table.note) == (shown, note)
    assert table.caption == ("Rows of steps" if shown == count else "First rows of steps")


def test_a_difference_from_nothing_is_drawn_by_its_margin_and_one_without_is_named(tmp_path: Path) -> None:
    lost = {**row("call", "loss_rate", "1", (0, 0.002), "worse"), "difference": 0.002}
    lost |= {"interval": {"low": 0.001, "high": 0.003}, "margin": {"relative": 0.4, "absolute": 0.001}}
    odd = {**row("call", "retransmitted", "packets", (0, 5), "worse"), "difference": 5.0, "margin": {}}
    found = page(tmp_path, json.dumps({"kind": "compare", "rows": [lost, odd]}))
    figure, chart = forest(found)
    (drawn,) = chart.differences
    assert (drawn.value, drawn.low, drawn.high) == pytest.approx((2, 1, 3))
    assert figure.caption.endswith("Without a margin, so not drawn: packets retransmitted of call (worse).")


def test_an_interval_of_a_figure_ends_at_the_bounds_of_its_metric(tmp_path: Path) -> None:
    used = {**row("link", "utilisation", "1", (0.8, 0.9), "undecided"), "difference": 0.1}
    used |= {"interval": {"low": -0.9, "high": 1.1}, "margin": {"absolute": 0.1}}
    (drawn,) = forest(page(tmp_path, json.dumps({"kind": "compare", "rows": [used]})))[1].differences
    assert (drawn.low, drawn.high) == (pytest.approx(-8.0), pytest.approx(2.0))


def test_without_a_conclusion_of_its_own_a_file_of_today_gets_one(tmp_path: Path) -> None:
    rows = [
        {**row("cubic", "goodput", "bit/s", (9.5e6, 9.4e6), "equivalent"), "difference": -1e5, "entry": 0},
        {**row("call", "call_score", "1", (2.61, 4.38), "better"), "difference": 1.77, "entry": 1},
    ]
    (first, second) = page(tmp_path, json.dumps({"kind": "compare", "rows": rows})).parts[0].conclusion
    assert first.startswith(
        "other instead of reference: opinion score (MOS) of call is better: it rises from 2.6"
    )
    assert second.startswith("Goodput of cubic is equivalent: 9.50 and 9.40 Mbit/s")


@pytest.mark.parametrize(("bulk", "leading"), [({0}, "goodput"), (set(), "rtt_mean")])
def test_the_flows_that_a_file_calls_bulk_are_led_by_goodput(bulk: set[int], leading: str) -> None:
    made = one_sided(
        [
            Contrast([1.0, 2.0, 3.0], [2.0, 3.0, 5.0], 0.1, "higher", subject=of, sides=("a", "b"))
            for of in (
                Subject("flows", 0, "mine", "rtt_mean", "s"),
                Subject("flows", 0, "mine", "goodput", "bit/s"),
            )
        ],
        1,
    )
    points = FindingPoints.of_findings("duel", made, frozenset(bulk))
    assert points is not None
    assert points.telling == {0: leading}


@pytest.mark.parametrize(
    ("count", "shown", "note"),
    [(12, 12, ""), (13, 10, "3 more findings are in Details, under All verdicts.")],
)
def test_a_table_of_twelve_is_whole_and_a_longer_one_says_what_is_folded(
    tmp_path: Path, count: int, shown: int, note: str
) -> None:
    rows = [{**ROW, "of": f"flow {n}"} for n in range(count)]
    table = page(tmp_path, json.dumps({"kind": "compare", "rows": rows})).parts[0].table
    assert table is not None
    assert (len(table.rows), table.note) == (shown, note)


def test_rows_of_the_figure_have_the_words_that_tell_them_apart(tmp_path: Path) -> None:
    points = [
        {"topology.bottleneck.queue": queue, "a.rate": rate}
        for queue in ("fq_codel", "cake")
        for rate in (5, 50)
    ]
    rows = [{**ROW, "case": "a long name of a scenario", "point": point} for point in points]
    figure, chart = forest(page(tmp_path, json.dumps({"kind": "compare", "rows": rows})))
    assert [row.label for row in chart.differences] == ["fq_codel, 5", "fq_codel, 50", "cake, 5", "cake, 50"]
    assert " In every row: goodput, all flows, a long name of a scenario." in figure.caption


def test_question_verdict_command_notes_and_versions_are_told(tmp_path: Path) -> None:
    found = page(tmp_path, json.dumps(CHECK))
    (part,) = found.parts
    assert (found.title, part.question) == ("suite", "Has anything become worse?")
    assert part.conclusion[0] == "Verdict: regressed."
    assert [section.heading for section in part.details] == ["All verdicts", "Notes"]
    assert part.command == "fullpipe check suite.toml --against HEAD"
    assert part.scope == "Fullpipe 1.2.3."
    assert ("fullpipe", "1.2.3") in found.provenance
    assert ("cases", "7") in found.provenance


def test_the_conclusion_of_a_file_is_that_of_its_report(tmp_path: Path) -> None:
    told = [f"Sentence {n}." for n in range(7)]
    (part,) = page(tmp_path, json.dumps({**CHECK, "conclusion": told})).parts
    assert list(part.conclusion) == told[:5]
    assert part.details[0].blocks[0] == Items(told[5:])


def test_a_file_answers_what_is_asked_of_it(tmp_path: Path) -> None:
    rows = [
        row("cubic", "goodput", "bit/s", (10e6, 9e6), "worse"),
        {**row("call", "rtt_mean", "s", (0.1, 0.05), "better"), "difference": -0.05, "interval": None},
    ]
    (tmp_path / "found.json").write_text(json.dumps({"kind": "compare", "rows": rows}), encoding="utf-8")
    found = read(tmp_path / "found.json")
    for asked in ({"metrics": ["rtt_mean"]}, {"metrics": ["rtt_mean of call"]}, {"of": "call"}):
        made = page_of_file(found, **asked)
        assert [line.partition(": ")[2] for line in made.parts[0].conclusion] == [
            "mean RTT of call is better: it falls by 50 % to 50.00 ms."
        ]
        assert len(made.parts[0].table.rows) == 1  # type: ignore[union-attr]
        assert len(rows_of(made)) == 2
    with pytest.raises(NoRunError, match="it has goodput and rtt_mean of cubic and call"):
        page_of_file(found, metrics=["jain"])


def test_the_family_of_a_correction_is_all_of_the_file_whatever_is_asked_of_it() -> None:
    steps = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0]
    open_ = [
        Contrast([10.0] * 9, [10 + 0.35 * step - 0.4 for step in steps], 0.1, "higher", subject=of)
        for of in (
            *(Subject("flows", n, f"flow {n}", "goodput", "bit/s") for n in range(3)),
            *(Subject("flows", n, f"flow {n}", "rtt_mean", "s") for n in range(3)),
        )
    ]
    rows = [each.to_dict() for each in paired(open_)]
    part = page_of_file({"kind": "compare", "findings": rows}, metrics=["goodput"]).parts[0]
    assert "after Holm's correction for 6 tests" in part.conclusion[0]


def test_differences_have_units_intervals_and_a_figure(tmp_path: Path) -> None:
    found = page(tmp_path, json.dumps(CHECK))
    told = cells(found)
    assert told["metric"] == "goodput (Mbit/s)"
    assert told["difference [95 %]"] == "-1.00 Mbit/s [-1.50, -0.50]"
    assert told["margin"] == "3 %"
    (drawn,) = forest(found)[1].differences
    assert (drawn.low, drawn.high) == pytest.approx((-5, -5 / 3))
    assert drawn.text == "-1.00 Mbit/s [-1.50, -0.50]"


@pytest.mark.parametrize(
    ("cases", "shown"), [(["fast", "slow"], ["fast", "slow"]), (["fast"], []), ([""], [])]
)
def test_every_case_of_a_check_has_its_own_path(tmp_path: Path, cases: list[str], shown: list[str]) -> None:
    rates = {"fast": "20 Mbit/s", "slow": "5 Mbit/s", "": "10 Mbit/s"}
    scenarios = [
        {"side": "base", "case": case, "scenario": scenario(**{LINK_RATE: rates[case]}).to_dict()}
        for case in cases
    ]
    rows = [{**ROW, "case": case} for case in cases]
    (part,) = page(tmp_path, json.dumps({**CHECK, "rows": rows, "scenarios": scenarios})).parts
    drawn = [each for section in part.details if section.heading == "Paths" for each in section.blocks]
    assert [each.caption.partition(":")[0] for each in drawn if isinstance(each, Figure)] == shown
    assert (part.path is None) == bool(shown)


def test_rows_of_a_check_are_compared_with_their_base(tmp_path: Path) -> None:
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
    rows = [row, {**row, "verdict": "not worse"}]
    found = page(tmp_path, json.dumps({"kind": "check", "verdict": "regressed", "rows": rows}))
    told = cells(found)
    assert (told["algorithm"], told["base"], told["change"], told["margin"]) == (
        "cubic",
        "100.00",
        "150.00",
        "3.00 ms",
    )
    assert told["difference [95 %]"] == "+50.00 ms [+40.00, +60.00]"
    assert [told["verdict"], cells(found, 1)["verdict"]] == ["regressed", "not worse"]
    assert list(found.parts[0].conclusion) == [
        "Verdict: regressed.",
        "home, algorithm cubic: mean RTT of all flows regressed: it rises from 100.00 to 150.00 ms,"
        " by 50.00 ms [40.00, 60.00].",
    ]


def test_keys_that_are_not_known_are_columns(tmp_path: Path) -> None:
    rows = [
        {"factor": "cca", "F": 12.5, "eta_squared": 0.25, "pairs": ["a", "b"]},
        {"factor": "rate", "dof": 3},
    ]
    found = page(tmp_path, json.dumps({"kind": "test", "rows": rows})).parts[0].table
    assert found is not None
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
    assert [cells(found, n)["rate"] for n in (0, 1)] == ["1 Mbit/s", "2 Mbit/s"]
    assert {"cubic", "bbr3"} <= cells(found).keys()
    assert (
        found.parts[0]
        .conclusion[0]
        .startswith("bbr3 instead of cubic: goodput of all flows is worse at all 2")
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "lines without"),
        ("no JSON", "is not JSON"),
        ("{}", 'has no "rows"'),
        ('{"rows": [1]}', 'has no "rows"'),
        ("[" * 100_000, "is not JSON"),
        ('{"rows": []}\n{"rows": 3}', "lines without"),
        ('{"rows": [], "format": 3}', "format 3, and this version reads 2; update fullpipe"),
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
    assert len(rows_of(found)) == 1
    assert "</html>" in html(found, 1_000)


@pytest.mark.parametrize("value", [None, [], {}, "x", True, 1e400, -0.0, {"low": None}, [[1], {"a": "b"}]])
@pytest.mark.parametrize("key", list(ROW))
def test_values_of_other_kinds_are_text(tmp_path: Path, key: str, value: Any) -> None:
    assert len(rows_of(page(tmp_path, json.dumps({"rows": [ROW | {key: value}, ROW]})))) == 2


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
    told = cells(found)
    assert (told["effect"], told["means"], told["verdict"]) == ("bbr3 - bbr1", "5.00, 4.00", "worse")
    assert {"Hedges' g -4.18 [-7.1, -2]", "1 Mbit/s", "no"} <= set(rows_of(found)[0])
    assert list(found.parts[0].conclusion) == ["1 verdict: 1 worse.", "bbr3 - bbr1: worse in goodput."]
    assert forest(found)[1].differences[0].value == pytest.approx(-20)


HOSTILE: list[Any] = [2**70, 10**400, -1e308, 5e-324, float("nan"), True, None, "\x1b[2J", [[1]], {"a": {}}]
"""Numbers and types that a damaged or made-up file may have anywhere."""


KEYS_OF_2 = ("format", "conclusion", "findings", "scenarios", "sides", "changed")


@pytest.mark.parametrize("key", KEYS_OF_2)
def test_any_value_of_a_key_of_format_2_is_shown_or_refused_in_one_line(
    fullpipe: Callable[..., Any], key: str
) -> None:
    for value in [*HOSTILE, [None, {}], [{"side": 1, "scenario": {"name": 3}}], {"a": [10**400]}]:
        Path("found.json").write_text(json.dumps({**CHECK, key: value}), encoding="utf-8")
        done = fullpipe("report", "found.json", "-o", "report.md")
        assert (done.exit_code, len(done.stderr.splitlines())) in ((0, 0), (2, 1)), (value, done.exception)


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


@pytest.mark.parametrize("count", [4, 5])
def test_a_conclusion_of_five_texts_leaves_shares_to_the_details(count: int) -> None:
    share = "goodput share of mine: more than its fair share of 33.3 % at 6 of 9 points"
    told = [f"Text {n}." for n in range(count)]
    (part,) = page_of_file({"kind": "compare", "rows": [ROW], "conclusion": told, "notes": [share]}).parts
    more = [section for section in part.details if section.heading == "More findings"]
    assert len(part.conclusion) == 5
    assert (f"G{share[1:]}." in part.conclusion) is (count < 5)
    assert bool(more) is (count == 5)
