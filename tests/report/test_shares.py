"""What a report says of goodput shares."""

from __future__ import annotations

import re

import numpy as np
from scipy import stats

from fullpipe import run
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run
from tests.report.pages import runs_of, scenario, section, sentences, tables


def test_a_share_is_told_by_where_it_is_above_and_below_an_equal_one(shares: list[Run]) -> None:
    told, *_ = page_of(shares, metrics=["share"], of="bbr3").parts[0].conclusion
    parts = [one.flows["goodput_bps"][0] / one.flows["goodput_bps"].sum() for one in shares]
    points = [parts[n : n + 6] for n in range(0, len(shares), 6)]
    p = [stats.ttest_1samp(found, 0.5).pvalue for found in points]
    holm = [max(each * sum(one >= each for one in p) for each in p if each <= own) for own in p]
    above = [np.mean(found) > 0.5 for found in points]
    assert [(2 * up - 1) * (each < 0.05) for up, each in zip(above, holm, strict=True)] == [1, 0, 0, -1]
    assert told == (
        "Goodput share of bbr3: more than its fair share of 50.0 % at 1 of 4 points, where buffer ="
        " 0.25 BDP. Less than its fair share of 50.0 % at 1 of 4 points, where buffer = 8 BDP"
        " (p < 0.05 after Holm's correction for 4 tests). Undecided at the other 2 points."
    )


def test_the_sentence_on_shares_has_the_verdicts_of_the_table_of_fair_shares(shares: list[Run]) -> None:
    page = page_of(shares)
    _, told, *_ = page.parts[0].conclusion
    assert told.startswith("Goodput share of ")
    (table,) = tables(section(page, "Fair shares"))
    name = [column.name for column in table.columns].index("verdict")
    verdicts = [row[name].split()[0] for row in table.rows]
    assert sorted(verdicts) == ["higher", "higher", "undecided", "undecided"]  # each row is of the winner
    assert all(words in told for words in ("more than its", "Less than its", "at the other 2 points"))


def test_the_share_over_the_fair_share_leads_where_the_number_of_flows_differs() -> None:
    several = [run(scenario(**{"flows.1.count": count}), seed) for count in (1, 4) for seed in (1, 2)]
    made = page_of(several).parts[0]
    assert made.conclusion[0].startswith("Share over fair share of cubic-1 is ")
    assert made.conclusion[1].endswith(": undecided at 2 points.")
    assert made.figure is not None
    assert made.figure.caption.startswith("share over fair share of every group of flows over ")
    assert made.table is not None
    assert made.table.columns[1].name == "cubic-1: share over fair share"
    asked = page_of(several, metrics=["share"], of="cubic-1").parts[0]
    assert asked.conclusion[2].startswith("Share over fair share of cubic-1 is ")
    assert asked.table is not None
    names = [column.name for column in asked.table.columns[1:]]
    assert names == ["cubic-1: goodput share (%)", "cubic-1: share over fair share"]


def test_a_share_is_told_in_per_cent_where_all_points_have_the_same_flows() -> None:
    made = page_of(runs_of(), metrics=["share"], of="cubic-1").parts[0]
    assert made.conclusion[1].startswith("Goodput share of cubic-1 is ")
    assert made.table is not None
    assert made.table.columns[1].name == "cubic-1: goodput share (%)"
    assert not any("over fair share" in column.name for column in made.table.columns)


def test_a_share_of_one_seed_is_undecided(shares: list[Run]) -> None:
    told, *_ = page_of(shares[::6], metrics=["share"], of="bbr3").parts[0].conclusion
    assert told.startswith("Goodput share of bbr3: undecided at 4 points.")


def test_a_share_beside_a_call_has_no_equal_one(house: list[Run]) -> None:
    assert not any(
        "fair share" in line for line in sentences(page_of(house, metrics=["share"], of="download"))
    )


def test_a_table_has_what_is_asked_for_at_every_point(shares: list[Run]) -> None:
    (asked,) = tables(section(page_of(shares, metrics=["share"], of="bbr3"), "Metrics asked for"))
    assert [column.name for column in asked.columns] == ["buffer", "bbr3: goodput share (%)"]
    assert [row[0] for row in asked.rows] == ["0.25 BDP", "1 BDP", "2 BDP", "8 BDP"]


def test_what_may_be_equal_to_the_highest_is_counted(shares: list[Run]) -> None:
    found = sentences(page_of(shares))
    (goodput,) = (line for line in found if line.startswith("Goodput of all flows is "))
    (jain,) = (line for line in found if line.startswith("Jain") and " is highest " in line)
    assert re.search(r" is about the same at all 4 points: 9\.\d+ .* to 9\.\d+ .* within the margin", goodput)
    assert re.search(
        r"at buffer \S+ BDP \(not distinguishable from \d other points?\): .*"
        r"owest at buffer 8 BDP( \(not distinguishable from \d other points?\))?: \S+ ",
        jain,
    )
