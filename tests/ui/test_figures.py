"""The figures of the page and what is said of them, in Chromium."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest

from fullpipe import Scenario, run, sweep
from fullpipe.runs import Store
from tests.ui.browsing import Open, finished, moved, samples, written
from tests.ui.conftest import what_if

TWO = (
    "#/what-if?a=20,40,0.5,drop_tail,0,0,cubic*1@0-bbr3*1@5"
    "&b=20,40,0.5,fq_codel,0,0,cubic*1@0-bbr3*1@5&time=20&seed=1"
)
MANY = "#/what-if?a=100,40,1,drop_tail,0,0,cubic*12@0-bbr3*12@0&time=10&seed=1"
PAYLOAD_MBPS = 100 * 1448 / 1514
MOST_RUN = 3


def marks(tab: Any) -> dict[str, list[str]]:
    """The labels of the reference lines of every figure, by its title."""
    code = "(ones) => Object.fromEntries(ones.map((one) => [one.querySelector('b').textContent, "
    code += "one.querySelector('.plot').marks().map((mark) => mark.label)]))"
    found: dict[str, list[str]] = tab.locator(".chart").evaluate_all(code)
    return found


def test_goodput_is_smoothed_as_its_caption_says(show: Open) -> None:
    """The window is the same for both variants: a change of one redraws the other."""
    tab = show(TWO, wait=".variant:nth-child(2) canvas")
    finished(tab)
    captions = tab.locator(".figures + .note")
    before = captions.nth(1).inner_text()
    moved(tab, lambda: written(tab, "Buffer, BDP", "11.9"))
    after, drawn = captions.nth(1).inner_text(), [samples(tab, 4, line) for line in (1, 2)]
    assert after != before
    tab.reload()
    tab.wait_for_selector(".variant:nth-child(2) canvas")
    finished(tab)
    assert captions.nth(1).inner_text() == after
    assert [samples(tab, 4, line) for line in (1, 2)] == drawn


def test_a_flow_that_was_measured_late_has_a_curve(show: Open, tmp_path: Path) -> None:
    """A sample without a value has no part in later means."""
    made = run(Scenario(**what_if(duration="3 s")), 1)
    late = pl.when(pl.col("time_s") > 1).then(pl.col("goodput_bps")).alias("goodput_bps")
    tables = {**made.tables, "series": made.tables["series"].with_columns(late)}
    Store(tmp_path / "runs").save(replace(made, tables=tables))
    tab = show(f"#/run/{made.meta.digest}/1/native", wait=".chart canvas", store="runs")
    drawn = samples(tab)
    assert drawn[0] is None
    assert drawn[-1] > 1


def test_many_flows_are_a_line_and_a_band_per_algorithm_and_all_are_listed(show: Open) -> None:
    tab = show(MANY)
    finished(tab)
    plot = tab.locator(".plot").first
    assert plot.evaluate("(one) => [one.plot.series.length, one.plot.bands.length]") == [7, 2]
    lines = [samples(tab, 0, line) for line in range(1, 7)]
    for mean, low, high in (lines[:3], lines[3:]):
        assert all(a <= b + 1e-4 and b <= c + 1e-4 for a, b, c in zip(low, mean, high, strict=True))
        assert max(c - a for a, c in zip(low, high, strict=True)) > 1
    totals = [12 * (cubic + bbr) for cubic, bbr in zip(lines[0], lines[3], strict=True)]
    assert fmean(totals[20:]) == pytest.approx(PAYLOAD_MBPS, rel=0.03)
    rows = tab.locator(".flows tbody tr")
    assert rows.count() == 2 + 24
    assert rows.nth(0).inner_text().startswith("cubic ×12: goodput ")
    assert "bbr3-12" in rows.last.inner_text()
    assert "bbr3 ×12" in tab.locator(".path").text_content()
    plot.focus()
    tab.keyboard.press("ArrowRight")
    read = tab.locator(".read").first.inner_text()
    assert "cubic ×12" in read
    assert "bbr3 ×12" in read
    assert marks(tab)["Goodput"] == ["fair share of 24"]


def test_theory_is_silent_on_a_cell_and_lines_hold_for_every_flow(show: Open) -> None:
    tab = show("#/editor", wait=".cm-content")
    begin = tab.get_by_label("Begin with")
    begin.select_option("5g")
    theory = tab.locator(".right .theories", has_text="airtime, signal and load")
    assert "Fair share" not in theory.inner_text()
    assert "Peak rate" in theory.inner_text()
    begin.select_option("cellular")
    tab.wait_for_selector(".right .path:has-text('on average')")
    begin.select_option("parking-lot")
    tab.wait_for_selector(".right .network:has-text('20 Mbit/s')")
    assert tab.locator(".right .theory").count() == 3
    tab.get_by_role("button", name="Run").click()
    tab.wait_for_selector(".chart canvas")
    finished(tab)
    assert marks(tab) == {
        "Goodput": ["fair share"],
        "Round trip": [],
        "Queue at the link": ["full"],
        "Congestion window": [],
    }


TOP = """({ plot: { scales, data } }) =>
    [scales.y.max, Math.max(...data.slice(1).flatMap((line) => Array.from(line)))]"""
"""The top of an axis, and the largest value that is drawn."""


def test_a_peak_at_the_start_is_on_its_axis_unless_it_is_far_above_the_rest(show: Open) -> None:
    tab = show("#/what-if?a=20,40,1,drop_tail,0,0,cubic*1@0-bbr3*1@5&time=30&seed=1")
    finished(tab)
    for number in range(4):
        top, most = tab.locator(".plot").nth(number).evaluate(TOP)
        assert most <= top <= 2 * most


def test_times_of_packets_are_below_those_of_figures(show: Open) -> None:
    tab = show(
        "#/what-if?a=10,20,1,drop_tail,0,0,cubic*1@0&time=3&seed=1&packets=1",
        wait=".lanes canvas",
        viewport={"width": 1280, "height": 800},
    )
    finished(tab)
    over, room = (tab.locator(each).first.bounding_box() for each in (".chart .u-over", ".lanes .room"))
    ends = tab.locator(".room").evaluate(
        "(room) => { const view = room.lanes.view(); return [view.x(0), view.x(3)]; }"
    )
    assert [room["x"] + end for end in ends] == pytest.approx([over["x"], over["x"] + over["width"]], abs=1)


def test_what_is_refused_is_not_taken_for_what_was_run(show: Open, told: list[str]) -> None:
    from playwright.sync_api import expect

    tab = show("#/what-if?a=10,20,1,drop_tail,0,0,cubic*1@0&time=3&seed=1")
    finished(tab)
    written(tab, "Start, s", "40")
    tab.wait_for_selector(".variant.refused .problem")
    figures = tab.locator(".variant > div:has(.figures)")
    expect(figures).to_have_css("opacity", "0.35")
    assert tab.get_by_role("button", name="Report", exact=True).count() == 0
    written(tab, "Start, s", "0")
    tab.get_by_role("button", name="Report", exact=True).wait_for()
    assert tab.locator(".variant.refused").count() == 0
    told.clear()  # Chromium itself notes answers of 400


def test_the_sentence_about_a_run_stays_until_the_next_has_ended(show: Open) -> None:
    tab = show()
    before = finished(tab)
    watch = """() => {
        window.said = [];
        for (const one of document.querySelectorAll(".sentence, .at-once p")) {
            const changes = { characterData: true, childList: true, subtree: true };
            new MutationObserver(() => said.push(one.textContent)).observe(one, changes);
        }
    }"""
    tab.evaluate(watch)
    after = moved(tab, lambda: tab.get_by_label("Algorithm").first.select_option("reno"))
    assert {after} <= set(tab.evaluate("said")) <= {before, after}


def test_an_arrow_key_moves_a_slider_to_the_next_number(show: Open) -> None:
    from playwright.sync_api import expect

    tab = show("#/what-if?a=20,10,1,drop_tail,0,0,cubic*1@0&time=2&seed=1")
    moves = [
        ("Rate", "ArrowRight", "21 Mbit/s"),
        ("Round trip", "ArrowLeft", "9.9 ms"),
        ("Buffer", "ArrowUp", "1.1 BDP"),
        ("Random loss", "ArrowUp", "0.1 %"),
        ("Random loss", "ArrowDown", "0 %"),
        ("Random loss", "ArrowDown", "0 %"),
    ]
    for name, key, after in moves:
        tab.get_by_role("slider", name=name).press(key)
        expect(tab.get_by_role("slider", name=name)).to_have_attribute("aria-valuetext", after)


def test_one_seed_is_told_as_one_run_and_more_are_a_click_away(show: Open) -> None:
    tab = show("#/what-if?a=10,20,1,drop_tail,0,0,cubic*1@0-bbr3*1@0&time=3&seed=1")
    assert finished(tab).startswith("In this run ")
    tab.get_by_role("button", name="More seeds").click()
    assert tab.evaluate("document.activeElement.textContent") == "Run 20 seeds"
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".means", timeout=60_000)
    assert "20 seeds" in tab.locator(".means caption").inner_text()
    goodput = tab.locator(".means tbody", has_text="all flows").locator("tr", has_text="goodput")
    assert goodput.locator("th").inner_text() == "goodput (Mbit/s)"
    assert re.fullmatch(r"\d+\.\d+ \[\d+\.\d+, \d+\.\d+\]", goodput.locator("td").last.inner_text())
    command = tab.get_by_label("Command for many seeds").inner_text()
    assert command.startswith("fullpipe run single-cubic --seeds 20 --set")


def test_two_seeds_of_one_scenario_are_shown_without_a_comparison(
    show: Open, tmp_path: Path, told: list[str]
) -> None:
    (one, other) = sweep(Scenario(**what_if(duration="2 s")), (1, 2), out=tmp_path / "runs")
    view = "/".join(f"{run.meta.digest}/{run.meta.seed}/native" for run in (one, other))
    tab = show(f"#/compare/{view}", wait=".variant:nth-child(2) canvas", store="runs")
    problem = tab.locator(".problem").inner_text()
    assert "choose runs of two scenarios" in problem
    assert "fullpipe run FILE --seeds 20" in problem
    assert tab.locator("h1").inner_text() == "Two runs of one scenario"
    assert tab.locator(".difference").count() == 0
    assert tab.get_by_role("button", name="Run 20 seeds of each").count() == 0
    told.clear()  # Chromium itself notes answers of 400


def test_one_seed_of_two_scenarios_gets_more_where_it_is_seen(
    show: Open, tmp_path: Path, told: list[str]
) -> None:
    rates = {"topology.bottleneck.rate": ["2 Mbit/s", "4 Mbit/s"]}
    runs = sweep(Scenario(**what_if(duration="2 s", sweep=rates)), (1,), out=tmp_path / "runs")
    both = [f"{run.meta.digest}/1/native" for run in runs]
    tab = show(f"#/compare/{'/'.join(both)}", wait=".variant:nth-child(2) canvas", store="runs")
    assert "run more seeds of both" in tab.locator(".problem").inner_text()
    seeds: list[int] = []

    def keep(route: Any) -> None:
        """Only the first seeds are run, which is quicker."""
        seeds.append(route.request.post_data_json["seed"])
        _ = route.continue_() if seeds[-1] <= MOST_RUN else route.fulfill(json={"runs": both})

    tab.route("**/api/keep", keep)
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.wait_for_selector(f".verdicts caption:has-text('{MOST_RUN} seeds')")
    assert seeds == list(range(1, 21))
    assert tab.locator(".problem").count() == 0
    told.clear()  # Chromium itself notes answers of 400
