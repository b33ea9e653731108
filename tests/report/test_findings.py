"""Findings in reports: their tables, and figures of a sweep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fullpipe import Scenario
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.shown import p_shown
from fullpipe.report.content import Lines
from fullpipe.report.findings import FindingPoints, first_table, points_of, whole_table, widths
from fullpipe.report.from_file import facts_of
from fullpipe.report.path import sources_of
from fullpipe.report.rows import HOW, Budget
from fullpipe.report.runs.figures import over_points
from fullpipe.report.runs.tables import values_file
from fullpipe.report.svg.marks import verdict_class
from fullpipe.scenario.labels import Labels
from fullpipe.validation.compare import Subject
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import NOT_SETTLED
from fullpipe.validation.compare.reading import findings_in
from fullpipe.validation.compare.rules import one_sided, paired
from fullpipe.validation.compare.sentence import difference_of, is_truncated
from tests.report.pages import ROW


def test_figures_of_a_file_have_the_labels_of_its_sentences() -> None:
    labels = Labels(scenarios=[{"flows": [{"name": "mine"}, {"name": "others"}]}])
    subject, sides = Subject("flows", 0, "mine", "goodput", "bit/s", {"flows.1.count": 2}), ("cubic", "bbr3")
    made = paired([Contrast([10.0, 10.4], [9.0, 9.5], 0.01, "higher", subject=subject, sides=sides)])
    points = FindingPoints.of_findings("duel", made, frozenset({0}), labels)
    assert points is not None
    assert points.labels.name("flows.1.count") == "others flows"


@pytest.mark.parametrize(("engine", "column"), [("native", ["native"] * 4), ("", None)])
def test_values_name_the_engine_if_it_is_known(engine: str, column: list[str] | None) -> None:
    subject, sides = Subject("flows", 0, "mine", "goodput", "bit/s", {}), ("cubic", "bbr3")
    made = paired([Contrast([10.0, 10.4], [9.0, 9.5], 0.01, "higher", subject=subject, sides=sides)])
    points = FindingPoints.of_findings("duel", made, frozenset({0}), engine=engine)
    assert points is not None
    head, *rows = (line.split(",") for line in values_file(points, Budget()).content.splitlines())
    assert ([row[head.index("engine")] for row in rows] if "engine" in head else None) == column


def test_presets_and_sources_of_algorithms_are_named() -> None:
    ran = Scenario(
        name="duel",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "5 ms"}},
        flows=[{"cca": {"kind": "bbr3", "preset": "draft"}}, {"cca": "bbr3"}, {"cca": "cubic"}],
    )
    fact, rule = sources_of([ran])
    assert rule == ("Algorithm cubic", "CUBIC, hystart linux; source: RFC 9438; Linux net/ipv4/tcp_cubic.c")
    assert fact == (
        "Algorithm bbr3",
        "BBR version 3, preset draft or google;"
        " source: google/bbr, branch v3, net/ipv4/tcp_bbr.c; draft-ietf-ccwg-bbr of August 2026",
    )


def test_all_verdicts_have_both_p_values_and_say_that_intervals_are_uncorrected() -> None:
    contrasts = [
        Contrast(
            values,
            [10.0, 10.4, 10.1],
            0.01,
            "higher",
            subject=Subject("flows", 0, "mine", metric, unit, {}),
            sides=("cubic", "bbr3"),
        )
        for metric, unit, values in (("goodput", "bit/s", [9.0, 9.5, 9.2]), ("power", "1", [9.9, 10.6, 10.1]))
    ]
    found = paired(contrasts)
    first = first_table(found, found)
    names = [column.name for column in first.columns]
    assert [row[names.index("p (corrected)")] for row in first.rows] == [p_shown(each.p) for each in found]
    assert "p (raw)" not in names
    assert "Intervals are uncorrected: each is of a single test." in first.note
    opened = [replace(each, p_raw=0.01, p_corrected=1.0) for each in found]
    shown = first_table(opened, opened)
    names = [column.name for column in shown.columns]
    assert [(row[names.index("p (raw)")], row[names.index("p (corrected)")]) for row in shown.rows] == [
        ("0.01", "1.0")
    ] * 2
    made = whole_table(found, 10)
    names = [column.name for column in made.columns]
    shown = [(row[names.index("p (raw)")], row[names.index("p (corrected)")]) for row in made.rows]
    assert shown == [(p_shown(each.p_raw), p_shown(each.p_corrected)) for each in found]
    assert found[0].p_corrected == pytest.approx(2 * (found[0].p_raw or 0.0))
    chosen = first_table(found[:1], found[:1], family=found).note
    assert chosen.startswith("Verdicts are after Holm's correction for 2 tests. 1 of these tests are of the")
    assert "of these tests" not in first.note
    assert all("Intervals are uncorrected" in how and "Fieller" in how for how in HOW.values())
    assert dict(facts_of({"findings": [{}]}))["Intervals of differences in %"].startswith("Fieller")
    assert facts_of({}) == []
    assert widths(found) == (
        "With 3 seeds, a 90 % interval has 0.68 times the width of the 95 % interval around the same"
        " difference, before truncation."
    )
    assert widths([*found, replace(found[0], values=([1.0], [2.0]))]) == ""


def test_the_first_table_says_that_intervals_are_truncated_and_margins_are_the_larger_part() -> None:
    subject = Subject("flows", 0, "mine", "loss_rate", "1", {})
    made = Contrast(
        [0.001, 0.004, 0.002],
        [0.003, 0.001, 0.001],
        0.001,
        "lower",
        subject=subject,
        stated=Margin(0.4, 0.001),
    )
    found = paired([made])
    table = first_table(found, found)
    cells = dict(zip((column.name for column in table.columns), table.rows[0], strict=True))
    assert cells["margin (larger)"] == "40 % or 0.10 pp"
    assert table.note == "Intervals are truncated at the metric's bounds."
    wide = paired([replace(made, subject=replace(subject, metric="power", unit="1"), stated=Margin(0.4))])
    assert "margin" in {column.name for column in first_table(wide, wide).columns}


def test_an_interval_that_ends_at_a_bound_by_itself_is_not_truncated() -> None:
    subject = Subject("flows", 0, "mine", "goodput", "bit/s")
    contrast = Contrast([9e6, 9.5e6, 9.2e6], [0.0] * 3, 3e5, "higher", subject=subject, stated=Margin(0.03))
    (found,) = paired([contrast])
    assert difference_of(found) == "-100 % [-100, -100]"
    assert not is_truncated(found)


def test_doubtful_verdicts_are_marked_and_a_line_says_why() -> None:
    subjects = [Subject("flows", n, of, "goodput", "bit/s") for n, of in enumerate(("mine", "beside"))]
    values = [9.0, 9.5, 9.2], [10.0, 10.4, 10.1]
    first, second = paired([Contrast(*values, 0.01, "higher", subject=subject) for subject in subjects])
    found = [replace(first, doubts=(NOT_SETTLED,)), second]
    for made in (first_table(found, found), whole_table(found, 10)):
        assert [row[-1].partition(" (")[0] for row in made.rows] == [f"{first.verdict}†", second.verdict]
        corrected = "Verdicts are after Holm's correction for 2 tests."
        assert made.note.startswith(f"† means not settled: see the warnings. {corrected}")
        assert verdict_class(made.rows[0][-1]) == f"v-{first.verdict}"
    assert first_table([second], [second]).note == ""


def test_the_variant_has_a_column_and_every_variant_a_row() -> None:
    rows = [{**ROW, "side": side, "of": of} for side in ("bbr3", "vegas") for of in "abcdefghij"]
    found, _ = findings_in({"rows": rows})
    table = first_table(found, found)
    assert [row[0] for row in table.rows] == [*["bbr3"] * 9, "vegas"]
    assert table.columns[0].name == "variant"
    assert "Variants are compared with reference, not with each other." in table.note
    assert "with each other" not in first_table(found[:9], found[:9]).note


def test_the_first_table_has_a_decided_finding_that_comes_late() -> None:
    contrasts = [
        Contrast(
            values,
            [10.0, 10.4, 10.1],
            0.01,
            "higher",
            subject=Subject("flows", 0, of, "goodput", "bit/s", {}),
            sides=("cubic", "bbr3"),
        )
        for of, values in [*((of, [9.9, 10.6, 10.1]) for of in "abcdefghijklmno"), ("late", [5.0, 5.4, 5.1])]
    ]
    found = paired(contrasts)
    table = first_table(found, found)
    of = [column.name for column in table.columns].index("flows or link")
    assert [row[of] for row in table.rows] == [*"abcdefghi", "late"]


def test_a_figure_of_a_sweep_has_a_line_for_every_variant() -> None:
    made = one_sided(
        [
            Contrast(
                [10.0 * rate, 10.1 * rate],
                [8.0 * rate, 8.2 * rate],
                0.1,
                "higher",
                subject=Subject(
                    "flows", 0, "mine", "goodput", "bit/s", {"a.queue": queue, "a.rate": f"{rate} Mbit/s"}
                ),
                sides=("cubic", "bbr3"),
            )
            for queue in ("fifo", "codel")
            for rate in (5, 10, 20)
        ],
        1,
    )
    points = FindingPoints.of_findings("duel", made, frozenset({0}))
    assert points is not None
    drawn, _ = over_points(points, 12, ("goodput", 0))
    assert [figure.caption for figure in drawn[:2]] == [
        f"goodput of mine, queue {queue} over rate: means and 95 % intervals." for queue in ("fifo", "codel")
    ]
    chart = drawn[0].chart
    assert isinstance(chart, Lines)
    assert [line.label for line in chart.lines] == ["CUBIC", "BBRv3"]


def test_the_figure_of_a_sweep_is_the_panel_where_something_is_decided() -> None:
    def contrast(queue: str, rate: int, other: list[float]) -> Contrast:
        point = {"a.queue": queue, "a.rate": f"{rate} Mbit/s"}
        subject = Subject("flows", 0, "mine", "goodput", "bit/s", point)
        reference = [10.0 * rate, 10.1 * rate, 10.2 * rate]
        return Contrast(reference, other, 0.01, "higher", subject=subject, sides=("cubic", "bbr3"))

    made = paired(
        [contrast("fifo", rate, [9.0 * rate, 12.0 * rate, 10.0 * rate]) for rate in (5, 10)]
        + [contrast("codel", rate, [8.0 * rate, 8.1 * rate, 8.2001 * rate]) for rate in (5, 10)]
    )
    assert [each.verdict for each in made] == ["undecided", "undecided", "worse", "worse"]
    points = FindingPoints.of_findings("duel", made, frozenset({0}))
    assert points is not None
    drawn, _ = over_points(points, 12, ("goodput", 0), points_of(made, "goodput", 0))
    assert drawn[0].caption.startswith("goodput of mine, queue codel over rate")
