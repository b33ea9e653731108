"""The page as a person uses it, in Chromium, without a network but for its own server."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="pip install 'fullpipe[e2e]'")

from playwright.sync_api import expect

from fullpipe import Scenario
from tests.ui.browsing import Open, drawn, finished, moved, samples, written
from tests.ui.test_server import counts_of_runs

FIRST_PICTURE_S = 1.5 * 4
"""From a request to curves that are drawn: four times what an idle machine must reach."""


def test_the_first_picture_comes_at_once(show: Open) -> None:
    tab = show()
    began_s = time.monotonic()
    tab.reload()
    tab.wait_for_selector(".chart canvas")
    finished(tab)
    took_s = time.monotonic() - began_s
    assert took_s < FIRST_PICTURE_S
    assert tab.locator(".chart").count() == 4
    assert all(drawn(tab, n) > 300 for n in range(4))
    assert max(samples(tab)) > 10
    assert "19.1 Mbit/s" in finished(tab)
    assert "BDP" in tab.locator(".controls").inner_text()
    assert "40 ms queueing delay" in tab.locator(".theory").inner_text()


def test_a_slider_changes_what_comes_out(show: Open) -> None:
    tab = show()
    rate = tab.get_by_role("slider", name="Rate")
    first = moved(
        tab,
        lambda: rate.evaluate(
            "(one) => { one.value = 900; one.dispatchEvent(new Event('input', {bubbles: true})); }"
        ),
    )
    assert "Mbit/s" in first
    assert max(samples(tab)) > 100
    second = moved(tab, lambda: written(tab, "Round trip, ms", "4"))
    assert second != first
    assert "rtt" not in tab.url
    assert ",4,1,drop_tail" in tab.url


def test_algorithm_queue_and_flows_are_chosen(show: Open) -> None:
    tab = show()
    moved(tab, lambda: tab.get_by_label("Algorithm").first.select_option("reno"))
    assert "reno-1" in tab.locator("table").first.inner_text()
    moved(tab, lambda: tab.get_by_label("Queue", exact=True).select_option("fq_codel"))
    assert tab.get_by_role("slider", name="Buffer").count() == 0
    moved(tab, lambda: tab.get_by_role("button", name="Add flows").click())
    assert tab.locator(".flow").count() == 3
    moved(tab, tab.get_by_role("button", name="Remove these flows").first.click)
    assert tab.locator(".flow").count() == 2


def test_algorithm_and_queue_change_while_a_run_goes_on_and_its_report_is_of_the_last(
    show: Open, tmp_path: Path
) -> None:
    tab = show("#/what-if?a=200,40,1,drop_tail,0,0,cubic*1@0&time=100&seed=1", wait=".variant.running canvas")
    tab.get_by_label("Algorithm").first.select_option("bbr1")
    tab.get_by_label("Queue", exact=True).select_option("fq_codel")
    tab.wait_for_selector(".variant:not(.running) th:has-text('bbr1-1')", timeout=60_000)
    assert "fq_codel" in tab.locator(".path").text_content()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report", exact=True).click()
    waiting.value.save_as(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "bbr1" in report
    assert "fq_codel" in report


def test_the_address_says_it_all(show: Open) -> None:
    tab = show()
    told = moved(tab, lambda: tab.get_by_label("Algorithm").first.select_option("vegas"))
    url = tab.url
    other = tab.context.new_page()
    other.goto(url)
    other.wait_for_selector(".sentence:not(:empty)")
    assert finished(other) == told


def test_two_variants_stand_side_by_side_and_get_verdicts(show: Open) -> None:
    tab = show("#/what-if?a=10,20,4,drop_tail,0,0,cubic*1@0&b=10,20,4,codel,0,0,cubic*1@0&time=6&seed=1")
    assert tab.locator(".variant").count() == 2
    boxes = [tab.locator(".variant").nth(n).bounding_box() for n in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    finished(tab)
    tops = [tab.locator(".plot").nth(n).evaluate("(one) => one.plot.scales.y.max") for n in (1, 5)]
    assert tops[0] == tops[1]
    difference = tab.locator(".difference tr", has_text="queueing delay").inner_text()
    assert "−" in difference
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.wait_for_selector(".verdicts", timeout=120_000)
    row = tab.locator(".verdicts tr", has_text="mean RTT").first.inner_text()
    assert "better" in row
    first = tab.locator(".seeds .conclusion .sentence").inner_text()
    assert first.startswith("codel instead of drop_tail 4 bdp: ")
    assert "codel against drop_tail 4 bdp, 20 seeds" in tab.locator(".verdicts caption").inner_text()
    levels = [tab.locator(".chart").nth(n).bounding_box()["y"] for n in range(8)]
    assert levels[:4] == levels[4:]
    tab.get_by_role("button", name="Variant B").click()
    tab.get_by_role("button", name="Remove B").click()
    assert tab.locator(".variant").count() == 1


def test_all_runs_of_a_verdict_are_kept_and_their_report_answers_a_question(
    show: Open, tmp_path: Path
) -> None:
    both = "#/what-if?a=5,10,4,drop_tail,0,0,cubic*1@0&b=5,10,4,codel,0,0,cubic*1@0&time=2&seed=1"
    tab = show(both, accept_downloads=True, store="runs")
    finished(tab)
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.get_by_role("button", name="Keep all 40 runs").click()
    tab.get_by_label("Question that the report answers").first.fill("Does CoDel help <b>here</b>?")
    kept = tab.locator(".seeds", has_text="Kept in runs: 40 runs")
    kept.get_by_role("link", name="side by side").click(timeout=60_000)
    tab.wait_for_selector(".verdicts caption:has-text('20 seeds')")
    tab.get_by_role("link", name="What if").click()
    finished(tab)
    assert "20 seeds" in tab.locator(".seeds .verdicts caption").inner_text()
    tab.go_back()
    tab.wait_for_selector(".verdicts caption:has-text('20 seeds')")
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report of the comparison").click()
    assert waiting.value.suggested_filename == "codel-against-drop_tail-4-bdp.html"
    waiting.value.save_as(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Does CoDel help &lt;b&gt;here&lt;/b&gt;?" in page
    assert "All runs are simulated by native; each side has the same 20 seeds." in page
    assert page.count('download="codel.toml"') == page.count('download="drop_tail-4-bdp.toml"') == 1
    assert "model version" in page


def test_a_number_that_cannot_be_is_put_back(show: Open) -> None:
    tab = show()
    before = finished(tab)
    for name in ("Rate, Mbit/s", "How many"):
        field = tab.get_by_role("spinbutton", name=name).first
        was = field.input_value()
        field.fill("-5")
        field.press("Enter")
        assert field.input_value() == was
    assert finished(tab) == before


def test_of_nothing_there_is_no_per_cent(show: Open) -> None:
    tab = show("#/what-if?a=50,20,20,drop_tail,0,0,bbr3*1@0&b=50,20,20,drop_tail,1,0,bbr3*1@0&time=6&seed=1")
    finished(tab)
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.wait_for_selector(".verdicts", timeout=120_000)
    row = tab.locator(".verdicts tr", has_text="marked lost packet share").first
    *_, difference, drawn_, reference, _ = row.locator("td").all_inner_texts()
    assert reference == "0.00"
    assert re.fullmatch(r"\+\d+\.\d+ pp \[\+\d+\.\d+, \+\d+\.\d+\]", difference)
    assert drawn_ == ""
    assert row.locator("svg").count() == 0


def test_a_call_beside_the_flows_gets_a_score(show: Open, tmp_path: Path) -> None:
    tab = show("#/what-if?a=5,20,20,drop_tail,0,0,cubic*1@0&b=5,20,20,drop_tail,0,0,bbr3*1@0&time=12&seed=1")
    assert "MOS" not in tab.locator(".results").inner_text()
    finished(tab)
    heads = tab.locator(".flows").first.locator("thead th").all_inner_texts()
    assert heads[-2:] == ["dropped", "retransmitted"]
    assert "one way" not in heads
    assert "The call scores" in moved(tab, lambda: tab.get_by_label("A call beside the flows").check())
    assert "&call=1" in tab.url
    tab.wait_for_selector(".variant:nth-child(2) th:has-text('call')")
    rows = tab.get_by_role("group", name="Flows", exact=True).locator("tr", has_text="call").locator("td")
    scores = [float(rows.nth(number).inner_text()) for number in (4, 12)]
    assert 1 <= scores[0] < scores[1] <= 4.5
    assert "ms" in rows.nth(5).inner_text()
    assert "%" in rows.nth(6).inner_text()
    one_run = tab.locator(".difference tr", has_text="call score").locator("td")
    assert [float(one_run.nth(number).inner_text()) for number in (0, 1)] == scores
    tab.get_by_role("button", name="Run 20 seeds of each").click()
    tab.wait_for_selector(".verdicts", timeout=120_000)
    tab.get_by_role("button", name=re.compile(r"^All \d+ rows$")).click()
    of_call = tab.locator(".verdicts tr", has=tab.locator("td.of", has_text=re.compile("^call$")))
    for metric in ("opinion score (MOS)", "mean one-way delay", "marked lost packet share"):
        assert "better" in of_call.filter(has_text=metric).inner_text()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report of the comparison").click()
    waiting.value.save_as(tmp_path / "comparison.html")
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert "bbr3 against cubic" in page
    assert counts_of_runs(page) == {"20"}


def test_what_differs_between_variants_has_a_dot(show: Open) -> None:
    tab = show(
        "#/what-if?a=5,20,1,drop_tail,0,0,cubic*1@0-reno*1@0&b=5,20,1,drop_tail,0,1,bbr3*1@0&time=3&seed=1"
    )
    flows = tab.locator(".flow")
    assert "differs" in str(flows.nth(0).get_attribute("class"))
    assert "differs" in str(flows.nth(1).get_attribute("class"))
    content = "(one) => getComputedStyle(one, '::before').content"
    assert "•" in flows.nth(0).evaluate(content)
    told = tab.locator(".controls .other").all_inner_texts()
    assert told == ["the other variant: bbr3 ×1 from 0 s", "the other variant: no such flows"]
    assert tab.locator(".check.differs").inner_text().strip() == "Flows use ECN"
    tab.get_by_label("Algorithm").first.select_option("bbr3")
    tab.wait_for_selector(".flow:not(.differs)")


def test_the_scenario_and_the_report_are_taken_along(show: Open, tmp_path: Path) -> None:
    tab = show(accept_downloads=True)
    finished(tab)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Scenario").click()
    waiting.value.save_as(tmp_path / "mine.toml")
    assert waiting.value.suggested_filename == "what-if.toml"
    scenario = Scenario.from_file(tmp_path / "mine.toml")
    assert [flow.cca.kind for flow in scenario.flows if flow.cca] == ["cubic", "bbr3"]
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report").click()
    waiting.value.save_as(tmp_path / "report.html")
    assert "fullpipe report" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert tab.locator(".command code").inner_text().startswith("fullpipe run single-cubic")


def test_what_is_seen_is_kept_and_shows_up_under_runs(show: Open) -> None:
    both = (
        "#/what-if?a=10,20,4,drop_tail,0,0,cubic*1@0&b=10,20,4,codel,0,0,cubic*2@0-bbr1*1@2.5&time=3&seed=1"
    )
    tab = show(both, store="runs")
    finished(tab)
    tab.get_by_role("button", name="Keep both runs").click()
    tab.wait_for_selector("text=Kept in runs")
    tab.get_by_role("button", name="Another").click()
    assert tab.get_by_text("Kept in runs").count() == 0
    finished(tab)
    tab.get_by_role("button", name="Keep both runs").click()
    tab.get_by_role("link", name="the run of B").click()
    expect(tab.locator("h1")).to_have_text("what-if 10M 20ms codel 2cubic + bbr1 from 2.5s 3s")
    tab.wait_for_selector(".chart canvas")
    tab.get_by_role("link", name="Runs").first.click()
    tab.wait_for_selector("tbody tr:nth-child(4)")
    names = tab.locator("tbody tr").all_inner_texts()
    assert sum("what-if 10M 20ms 4bdp cubic 3s" in name for name in names) == 2


def test_a_run_of_the_editor_is_kept(show: Open) -> None:
    tab = show("#/editor", wait=".cm-content", store="runs")
    tab.get_by_role("button", name="Run the first point").or_(tab.get_by_role("button", name="Run")).click()
    finished(tab)
    tab.get_by_role("button", name="Keep this run").click()
    tab.get_by_role("link", name="the run", exact=True).click()
    expect(tab.locator("h1")).to_have_text("cubic-vs-bbr1")
    tab.wait_for_selector(".chart canvas")


def test_a_part_of_the_time_is_shown_in_all_figures(show: Open) -> None:
    tab = show()
    finished(tab)
    box = tab.locator(".u-over").first.bounding_box()
    tab.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 30)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 40, steps=4)
    tab.mouse.up()
    shown = [tab.locator(".plot").nth(n).evaluate("(one) => one.plot.scales.x.min") for n in range(4)]
    assert shown == [pytest.approx(15, abs=0.5)] * 4
    tab.get_by_role("button", name="Show everything").click()
    assert tab.locator(".plot").first.evaluate("(one) => one.plot.scales.x.min") == 0


def test_keys_do_what_the_pointer_does(show: Open) -> None:
    tab = show()
    finished(tab)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    seen = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        seen.add(tab.evaluate("(document.activeElement.type || document.activeElement.className)"))
    assert {"range", "number", "select-one", "button", "checkbox", "plot", "scroll"} <= seen
    rate = tab.get_by_role("slider", name="Rate")
    rate.focus()
    moved(tab, lambda: [tab.keyboard.press("PageUp") for _ in range(2)])
    plot = tab.locator(".plot").first
    plot.focus()
    tab.keyboard.press("ArrowRight")
    assert "cubic-1" in tab.locator(".read").first.inner_text()
    times = {text.partition(":")[0] for text in tab.locator(".read").all_inner_texts()}
    assert len(times) == 1
    live = tab.locator(".read").evaluate_all("(all) => all.map((one) => one.ariaLive)")
    assert live == ["polite", "off", "off", "off"]
    tab.keyboard.press("+")
    assert tab.get_by_role("button", name="Show everything").is_visible()
    tab.keyboard.press("0")
    assert tab.get_by_role("button", name="Show everything").count() == 0


def test_dark_colours_follow_the_system_and_the_button(show: Open) -> None:
    tab = show(color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(colour) == "rgb(20, 23, 27)"
    tab.get_by_role("button", name="Light colours").click()
    assert tab.evaluate(colour) == "rgb(255, 255, 255)"
    tab.reload()
    tab.wait_for_selector(".sentence:not(:empty)")
    assert tab.evaluate(colour) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_screen(show: Open, width: int) -> None:
    alone = "#/what-if?a=10,20,4,drop_tail,0,0,cubic*1@0-bbr1*1@0&time=5&seed=1"
    tab = show(alone, viewport={"width": width, "height": 800})
    finished(tab)
    wide = "document.documentElement.scrollWidth"
    assert tab.locator(".at-once").is_visible() == (width < 900)
    assert tab.evaluate(wide) == width
    tab.get_by_role("button", name="Compare with a second variant").click()
    finished(tab)
    assert tab.evaluate(wide) == width
    for view in ("Editor", "Runs", "Studies"):
        tab.get_by_role("link", name=view).click()
        tab.wait_for_selector(".wide-page")
        assert tab.evaluate(wide) == width


def test_a_run_that_is_refused_says_why_and_another_goes_on(show: Open, told: list[str]) -> None:
    tab = show("#/what-if?a=1000,20,1,drop_tail,0,0,cubic*1@0&time=300&seed=1", wait=".problem")
    assert "packets" in tab.locator(".problem").inner_text()
    written(tab, "Duration, s", "3")
    written(tab, "Rate, Mbit/s", "10")
    tab.wait_for_selector(".sentence:not(:empty)")
    assert "Mbit/s" in finished(tab)
    told.clear()  # Chromium itself notes answers of 400


def test_ten_tabs_all_get_their_picture(show: Open) -> None:
    tab = show()
    others = [tab.context.new_page() for _ in range(9)]
    for number, other in enumerate(others):
        other.goto(
            f"{tab.url.partition('#')[0]}#/what-if?a={5 + number},20,1,drop_tail,0,0,cubic*1@0&time=60&seed=1"
        )
    for number, other in enumerate(others):
        other.wait_for_selector(".chart canvas")
        assert finished(other).startswith("In this run the flow carries")
        assert max(samples(other)) == pytest.approx((5 + number) * 1448 / 1514, rel=0.25)


def test_a_server_that_ends_is_told_and_the_work_goes_on_with_the_next(show: Open, told: list[str]) -> None:
    tab = show(store="runs", alone=True)
    moved(tab, lambda: tab.get_by_label("Algorithm").first.select_option("vegas"))
    before, state = finished(tab), tab.url.partition("#")[2]
    process = tab.context.process
    process.send_signal(signal.SIGKILL)
    process.wait()
    tab.get_by_role("button", name="Another").click()
    tab.wait_for_selector(".lost")
    assert "has stopped" in tab.locator(".lost").inner_text()
    told.clear()  # Chromium itself notes what it cannot connect to
    again = show(f"#{state}")
    assert finished(again) == before


def test_an_address_that_was_used_opens_nothing_elsewhere(show: Open, browser: Any) -> None:
    tab = show(store="runs")
    stranger = browser.new_context()
    page = stranger.new_page()
    answer = page.goto(tab.url)
    assert answer.status == 401
    assert "fullpipe ui" in page.locator("body").inner_text()
    stranger.close()


def test_a_phone_shows_every_value_of_unequally_many_flows(show: Open) -> None:
    tab = show(
        "#/what-if?a=10,20,0.5,drop_tail,0.5,0,cubic*2@0-bbr3*1@0&time=4&seed=1",
        wait=".flows tbody",
        viewport={"width": 390, "height": 844},
    )
    assert re.search(r"takes? \d+ % of .* \(fair share (33|67) %\)", finished(tab))
    region = tab.locator(".scroll:has(.flows)")
    assert region.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    shown = tab.locator(".flows tbody tr").first.locator("td")
    heads = shown.evaluate_all("(all) => all.map((one) => getComputedStyle(one, '::before').content)")
    assert heads[:2] == ['"share "', '"goodput "']
    assert tab.locator(".flows thead:visible").count() == 0
    lines = tab.locator(".flows .swatch path").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).stroke)"
    )
    assert "none" not in lines  # flows of one algorithm have shades of its colour
    assert len(set(lines)) == 3
