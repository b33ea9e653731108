"""Answers on a terminal: sixty lines at most, one table with one heading, and a line per kind of note."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import typer

from fullpipe.analysis.length import Doubts
from fullpipe.analysis.limits import Counts
from fullpipe.analysis.statistics.stationarity import EVERY_MEAN, Mean
from fullpipe.cli import compare_shown
from fullpipe.cli.answer import MOST_LINES, Answer, Row
from fullpipe.cli.check import show
from fullpipe.cli.compare_shown import tell_engines, tell_variants, warnings
from fullpipe.validation.check import DECISIONS, Checked
from fullpipe.validation.compare import EngineComparison, Subject, VariantComparison
from fullpipe.validation.compare.comparison import Entries, Ran, doubted
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import NOT_SETTLED, TOO_SHORT, LeftOut, Note
from fullpipe.validation.compare.reading import notes_in_words
from fullpipe.validation.compare.rules import independent, one_sided, paired
from fullpipe.validation.compare.sentence import Names, merged

SIZE, DELAY = "topology.bottleneck.queue.size", "topology.bottleneck.delay"
POINTS = [{SIZE: f"{n} bdp", DELAY: f"{10 * n} ms"} for n in range(1, 10)]
VARIANTS = ["vegas", "bbr3", "python:mine:Brake", "westwood", "bbr1", "dctcp"]
METRICS = {"goodput": "bit/s", "fct_p50": "s", "dropped_share": "1"}
DRAW = np.random.Generator(np.random.PCG64(8))


def contrasts(point: dict[str, str], other: str, case: str = "") -> list[Contrast]:
    """Three metrics of two groups that differ by chance and more."""
    return [
        Contrast(
            *DRAW.normal([[5], [5 + shift]], 0.5, (2, 6)).tolist(),
            0.1,
            "higher",
            subject=Subject("flows", entry, of, metric, unit, point, case),
            sides=("cubic", other),
            left_out=LeftOut(Counts(1, 100), Counts(40, 100), 0.03) if metric == "fct_p50" else None,
        )
        for shift, (entry, of) in enumerate(enumerate(("mine", "the download from upstairs")))
        for metric, unit in METRICS.items()
    ]


def variants() -> list[VariantComparison]:
    """Six variants at nine points, each with a note."""
    return [
        VariantComparison(
            scenario="many",
            sides={"cubic": range(1, 7), other: range(1, 7)},
            findings=paired(contrasts(point, other)),
            notes=[Note(f"jain is left out at {n} of {other}", "jain", {other: (n % 4, 6)})],
            point=point,
            by_case={"": Entries(frozenset({0}), frozenset({0}))},
        )
        for other in VARIANTS
        for n, point in enumerate(POINTS)
    ]


def checked() -> Checked:
    findings = [
        finding
        for n, point in enumerate(POINTS)
        for finding in one_sided(contrasts(point, "change", f"case-{n}"), 2)
    ]
    return Checked(
        scenario="suite",
        sides={"base": [1], "change": [1]},
        findings=findings,
        notes=[Note(f"note {n}") for n in range(40)],
        runs=54,
        is_identical=False,
    )


def engines() -> list[EngineComparison]:
    return [
        EngineComparison(
            scenario="many",
            sides={"linux": range(6), "native": range(6)},
            given=("linux", "native"),
            findings=[independent(each) for each in contrasts(point, "native")],
            notes=[Note(f"goodput of {n} is left out", "goodput") for n in range(9)],
            remarks=tuple(f"remark {n}" for n in range(9)),
            point=point,
        )
        for point in POINTS
    ]


def tell_all_variants(all_rows: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_shown, "doubts_of", lambda _: Doubts({"": ["too short"]}, {}))
        tell_variants(variants(), as_json=False, all_rows=all_rows)


def tell_all_engines(all_rows: bool) -> None:
    tell_engines(engines(), list(METRICS), asked=["jain"], as_json=False, all_rows=all_rows)


def tell_check(all_rows: bool) -> None:
    show(checked(), Names(), all_rows=all_rows)


ANSWERS: list[Callable[[bool], None]] = [tell_all_variants, tell_all_engines, tell_check]


@pytest.fixture(params=[80, 100])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def printed(
    tell: Callable[[bool], None], capsys: pytest.CaptureFixture[str], all_rows: bool = False
) -> list[str]:
    with suppress(typer.Exit):  # something is worse
        tell(all_rows)
    shown = capsys.readouterr()
    return [*shown.out.splitlines(), *shown.err.splitlines()]


@pytest.mark.parametrize("tell", ANSWERS, ids=lambda tell: tell.__name__)
def test_no_answer_is_longer_than_sixty_lines_or_wider_than_the_terminal(
    tell: Callable[[bool], None], width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(tell, capsys)
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= width
    assert sum(" rows: --all prints them" in line for line in lines) == 1


@pytest.mark.parametrize("tell", ANSWERS, ids=lambda tell: tell.__name__)
def test_an_answer_has_one_heading_and_twelve_rows_at_most(
    tell: Callable[[bool], None], width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(tell, capsys)
    assert sum("difference [" in line for line in lines) == 1
    rows = [line for line in lines if line.startswith(tuple(f" {metric}" for metric in METRICS))]
    assert 1 <= len(rows) <= 12
    places = [line for line in lines if line.endswith((" mine", ", mine", "upstairs")) and "buffer" in line]
    assert all("BDP, one-way delay" in line for line in places)


@pytest.mark.parametrize("tell", ANSWERS, ids=lambda tell: tell.__name__)
def test_with_all_nothing_is_left_out(
    tell: Callable[[bool], None], width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(tell, capsys, all_rows=True)
    assert len(lines) > MOST_LINES
    assert not [line for line in lines if "--all" in line]


def test_notes_on_one_metric_are_one_line() -> None:
    notes = [
        Note("one", "convergence", {"vegas": (0, 10)}),
        Note("two", "convergence", {"cubic": (6, 10), "bbr3": (9, 10)}),
        Note("three", "convergence", {"bbr3": (2, 10)}),
        Note("alone", "jain", {"bbr3": (2, 10)}),
        Note("stands alone"),
        Note("stands alone"),
    ]
    told = "convergence is left out where only 0 of 10 runs of vegas, 6 of cubic and 2 to 9 of bbr3 have it"
    assert merged(notes, Names()) == [told, "alone", "stands alone"]
    assert merged(notes, Names(), whole=True) == ["one", "two", "three", "alone", "stands alone"]


def test_notes_in_words_have_labels_of_metrics() -> None:
    text = "convergence of mine is left out, as only 6 of 8 runs of bbr3 have it"
    (line,) = merged([Note(text, "convergence", {"bbr3": (6, 8)})], Names(), in_words=True)
    assert line == "convergence time of mine is left out, as only 6 of 8 runs of bbr3 have it"


def test_notes_of_a_file_are_one_line_per_metric_with_its_label() -> None:
    notes = [
        "convergence of new is left out, as only 6 of 8 runs of bbr3 have it",
        "bulk: convergence of old is left out, as only 5 of 8 runs of a and b (1 of 100 unfinished)"
        " and 7 of 8 runs of bbr3 have it",
        "goodput of new is left out: 3 of 9 runs have no value",
        "goodput of old is left out: 1 of 9 runs have no value",
        "of connections alone, without datagrams such as pings and calls: rtt_mean, loss_rate of all flows",
        "share of the rest",
    ]
    assert notes_in_words({}, notes) == [
        "convergence time is left out where only 6 to 7 of 8 runs of bbr3 and 5 of a and b have it",
        "goodput is left out where only 6 to 8 of 9 runs have it",
        "all connections: all flows without datagrams such as pings and calls",
        "share of the rest",
    ]


def test_a_note_without_sides_has_the_numbers_of_runs() -> None:
    notes = [Note(f"{n}", "jain", {"": (n, 9)}) for n in (3, 7)]
    assert merged([*notes, "plain"], Names()) == [
        "jain is left out where only 3 to 7 of 9 runs have it",
        "plain",
    ]


def test_many_sides_of_a_note_are_counted() -> None:
    (line,) = merged([Note(name, "jain", {name: (0, 1)}) for name in "abcdefg"], Names())
    assert line.endswith("only 0 of 1 runs of a, 0 of b, 0 of c, 0 of d and 3 more sides have it")


def test_warnings_on_one_metric_and_group_are_one_line() -> None:
    lines = list(warnings(variants(), Names()))
    assert len(lines) == 2
    assert lines[0].startswith("note: fct_p50 of mine: up to 1 of 100 ")
    assert " of cubic, 40 of 100 " in lines[0]


def test_notes_that_do_not_fit_are_counted_and_warnings_come_first(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer()
    answer.conclude(["word " * 16 * (width // 80)] * 54)
    answer.notes([f"note {n}" for n in range(9)], ["warning: one", "warning: one"])
    shown = capsys.readouterr()
    lines = [*shown.out.splitlines(), *shown.err.splitlines()]
    assert len(lines) <= MOST_LINES
    assert "fullpipe: warning: one" in lines
    told = sum(line.startswith("note") for line in lines)
    assert f"{9 - told} more notes: --all prints them" in lines


def test_a_table_has_fewer_rows_where_the_conclusion_is_long(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = Answer()
    answer.conclude(["line"] * 40)
    shown = answer.table(
        ["", "value", "verdict"], range(50), lambda n: Row(f"place {n}", [" x", str(n), "-"])
    )
    assert shown == list(range(5))
    assert len(capsys.readouterr().out.splitlines()) <= MOST_LINES


def test_the_mark_of_doubtful_verdicts_is_explained_only_if_a_row_has_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = checked()
    is_shown = {verdict: any(each.decision == verdict for each in made.findings) for verdict in DECISIONS}
    assert is_shown["not worse"]
    for verdict, has_legend in (("not worse", False), ("undecided", is_shown["undecided"])):
        findings = [
            replace(each, doubts=(NOT_SETTLED,)) if each.decision == verdict else each
            for each in made.findings
        ]
        show(replace(made, findings=findings), Names())
        assert ("† means not settled" in capsys.readouterr().out) == has_legend


def test_a_finding_on_neither_goodput_nor_rtt_depends_on_no_mean() -> None:
    (made, *_) = variants()
    ran = [Ran(side, {"name": "many"}, made.point, doubts=[EVERY_MEAN]) for side in made.sides]
    (marked,) = doubted([replace(made, ran=ran)])
    assert {tuple(each.doubts) for each in marked.findings} == {(TOO_SHORT,)}
    ran = [replace(each, doubts=[Mean("goodput", "mine")]) for each in ran]
    (marked,) = doubted([replace(made, ran=ran)])
    assert {each.metric for each in marked.findings if each.doubts} == {"goodput"}
    assert {each.of for each in marked.findings if each.doubts} == {"mine"}


@pytest.mark.parametrize(("columns", "has_column"), [("80", False), ("140", True)])
def test_margins_have_a_column_or_a_line(
    columns: str, has_column: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = printed(tell_check, capsys)
    (heading,) = [line for line in lines if "difference [" in line]
    assert ("margin" in heading.split()) == has_column
    assert any(line.startswith("margins: ") for line in lines) == (not has_column)
