"""The comparison of two variants on the page: its conclusion, then a short table that fits the screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.statistics import Interval
from fullpipe.cli.ui.compare import shown_of
from fullpipe.validation.compare import Finding
from fullpipe.validation.compare.finding import Subject
from tests.saving import numbers, saved, table, words
from tests.ui.browsing import Open, finished

BOTH = "a=10,20,1,drop_tail,0,0,cubic*1@0-bbr1*1@0&b=10,20,1,codel,0,0,cubic*1@0-bbr1*1@0&time=3&seed=1"
SEEN = """(cell) => {
    const box = cell.getBoundingClientRect(), room = cell.closest(".scroll").getBoundingClientRect();
    const isInside = box.left >= room.left && box.right <= Math.min(room.right, innerWidth);
    return isInside && cell.scrollWidth <= cell.clientWidth + 1;
}"""
"""Whether all of a cell is seen without scrolling sideways."""


def finding(metric: str, reference: float, interval: Interval | None) -> Finding:
    """A difference of 0.05."""
    whole = reference or 1.0
    return Finding(
        subject=Subject("flows", 0, "mine", metric, "1"),
        rule="paired",
        sides=("reference", "other"),
        values=([reference], [reference + 0.05]),
        margin=Margin(0.05),
        allowed=0.05 * reference,
        better="",
        verdict="undecided",
        decision="undecided",
        reason="",
        difference=0.05,
        interval=interval,
        relative_of_cells=interval
        and replace(interval, low=interval.low / whole, high=interval.high / whole),
    )


WIDE = Interval(-2.0, 2.0, 0.95, "t")


@pytest.mark.parametrize(
    ("metric", "reference", "interval", "ends"),
    [
        ("jain", 0.75, WIDE, (-1, 1 / 3)),
        ("rtt_mean", 0.5, WIDE, (-1, 4)),
        ("jain", 1.0, None, (None, None)),
        ("jain", 0.5, Interval(float("-inf"), float("inf"), 0.95, "t"), (-1, 1)),
        ("rtt_mean", 0.5, Interval(float("-inf"), float("inf"), 0.95, "t"), (-1, None)),
    ],
)
def test_intervals_that_are_drawn_end_at_the_bounds_of_their_metric(
    metric: str, reference: float, interval: Interval | None, ends: tuple[float | None, ...]
) -> None:
    share = shown_of(finding(metric, reference, interval))["share"]
    assert (share["low"], share["high"]) == pytest.approx(ends)
    assert share["value"] == pytest.approx(0.05 / reference)
    assert share["margin"] == pytest.approx(0.05)


def test_of_a_reference_of_0_there_is_no_share() -> None:
    shown = shown_of(finding("loss_rate", 0.0, Interval(0.01, 0.09, 0.95, "t")))
    assert shown["share"] is None
    assert "%" not in shown["difference"]


def test_sums_over_flows_and_margins_of_two_parts_say_so() -> None:
    found = replace(finding("goodput", 0.5, WIDE), flows=(2, 2), margin=Margin(0.05, 0.02))
    shown = shown_of(found)
    assert shown["of"] == "mine (2 flows, sum)"
    assert shown["margin"].endswith(", whichever is larger")
    assert "whichever" not in shown_of(finding("goodput", 0.5, WIDE))["margin"]


@pytest.fixture
def compared(show: Open) -> Any:
    """The what-if page with verdicts on two variants."""
    tab = show(f"#/what-if?{BOTH}", viewport={"width": 1280, "height": 800}, accept_downloads=True)
    finished(tab)
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.wait_for_selector(".verdicts", timeout=120_000)
    return tab


def test_the_conclusion_comes_first_and_the_table_is_short(compared: Any) -> None:
    said = compared.locator(".results .conclusion p").all_inner_texts()
    assert 1 <= len(said) <= 5
    assert said[0].startswith("codel instead of drop_tail 1 bdp: ")
    order = compared.locator(".results :is(.conclusion, .verdicts, .sentence, .chart)").evaluate_all(
        "(all) => all.slice(0, 3).map((one) => one.className)"
    )
    assert order == ["conclusion", "sentence", "verdicts"]
    rows = compared.locator(".verdicts tbody tr")
    assert rows.count() == 12
    more = compared.get_by_role("button", name="rows")
    number = int(more.inner_text().split()[1])
    more.click()
    assert rows.count() == number > 12
    assert more.get_attribute("aria-expanded") == "true"
    compared.get_by_role("button", name="The first 12 rows").click()
    assert rows.count() == 12
    compared.get_by_role("button", name="More seeds").first.click()
    assert compared.evaluate("document.activeElement.textContent") == "Is the difference significant?"


def test_no_table_of_a_comparison_is_cut(compared: Any) -> None:
    cells = compared.locator("tbody :is(td, th), thead th")
    assert cells.count() > 100
    assert all(cells.evaluate_all(f"(all) => all.map({SEEN})"))
    compared.set_viewport_size({"width": 390, "height": 844})
    verdicts = compared.locator(".verdicts td:has(.verdict)")
    assert verdicts.count() == 12
    assert all(verdicts.evaluate_all(f"(all) => all.map({SEEN})"))
    assert compared.evaluate("document.documentElement.scrollWidth") == 390


def test_a_comparison_saves_every_finding_and_the_intervals_that_are_seen(
    compared: Any, tmp_path: Path
) -> None:
    menu = compared.locator(".verdicts .save")
    head, rows = table(file := saved(menu, "CSV", tmp_path))
    assert head[:5] == ["of", "metric", "unit", "mean of drop_tail 1 bdp", "mean of codel"]
    assert len(rows) == int(compared.get_by_role("button", name="rows").inner_text().split()[1])
    for row, reference, other, difference in zip(rows, *(numbers(file, n) for n in (3, 4, 5)), strict=True):
        assert other - reference == pytest.approx(difference, abs=1e-9 + 1e-9 * abs(reference)), row
    texts = words(saved(menu, "SVG", tmp_path))
    assert texts[0] == "codel against drop_tail 1 bdp, 20 seeds"
    seen = compared.locator(".verdicts tbody .verdict").all_inner_texts()
    assert [text for text in texts if text in {"better", "worse", "equivalent", "undecided"}] == seen
