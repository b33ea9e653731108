"""The editor: what the form gets of a text, and how both follow each other in Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from fullpipe import Scenario
from fullpipe.cli.ui.fields import fields_of, meaning_of
from fullpipe.scenario import scenario_names
from fullpipe.scenario.read.files import named_text
from tests.ui.browsing import Open, drawn, finished

TEXT = """name = "a # b"  # a comment
duration = "10 s"
"dotted key" = 1
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s" }
list = [
  1,
]
[[flows]]
cca = 'cubic' # another
ecn = true
"""


def test_every_value_on_a_line_is_found_where_it_is() -> None:
    found = {field["path"]: field for field in fields_of(TEXT)}
    lines = TEXT.splitlines()
    written = {path: lines[f["line"] - 1][f["from"] : f["to"]] for path, f in found.items()}
    assert written["name"] == '"a # b"'
    assert written["topology.bottleneck"] == '{ rate = "10 Mbit/s" }'
    assert written["flows.0.cca"] == "'cubic'"
    assert written["flows.0.ecn"] == "true"
    assert "topology.list" not in written
    assert found["duration"]["is_text"]
    assert not found["flows.0.ecn"]["is_text"]


@pytest.mark.parametrize("text", ["", "=", "[", "a = ", 'a = """', "a = {", "\x00", "é = 1", "#\n" * 1000])
def test_a_text_that_is_being_written_has_fields_or_none(text: str) -> None:
    assert isinstance(fields_of(text), list)


def test_keys_mean_what_the_reference_says() -> None:
    assert meaning_of("duration") == "Simulated time of the run."
    assert meaning_of("topology.bottleneck.delay") == "Propagation delay, one way."
    assert meaning_of("flows.3.start_jitter")
    assert meaning_of("flows.0.no_such_key") == ""


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_of_fullpipe_is_an_example(client: TestClient, name: str) -> None:
    text = client.get(f"/api/scenario/{name}").json()["toml"]
    assert text == named_text(name)
    told = client.post("/api/check", json={"scenario": text}).json()
    assert told["problems"] == []
    assert told["fields"]
    first = Scenario.named(name).expand()[0] if Scenario.named(name).sweep else Scenario.named(name)
    assert told["understood"]["digest"] == first.digest


@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fsecret", "%00"])
def test_another_name_is_no_file(client: TestClient, name: str) -> None:
    assert client.get(f"/api/scenario/{name}").status_code in (400, 404)


def code(tab: Any) -> str:
    """The text in the editor."""
    return str(tab.locator(".cm-content").inner_text())


def test_form_and_text_follow_each_other_and_errors_are_in_place(show: Open) -> None:
    tab = show("#/editor", wait=".cm-content")
    rate = tab.get_by_label("rate", exact=True)
    rate.fill("5 Mbit")
    rate.press("Enter")
    tab.wait_for_selector(".value.wrong")
    assert 'rate = "5 Mbit"' in code(tab)
    assert "did you mean" in tab.locator(".problems").inner_text()
    assert tab.locator(".cm-lintRange-error").count() == 1
    assert tab.get_by_role("button", name="Run").is_disabled()
    tab.locator(".cm-line", has_text="5 Mbit").click()
    tab.keyboard.press("End")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.type("/s")
    tab.wait_for_selector(".path")
    assert rate.input_value() == "5 Mbit/s"
    assert tab.locator(".problems").count() == 0
    assert "5 Mbit/s" in tab.locator(".path").text_content()
    tab.get_by_role("button", name="Run").click()
    tab.wait_for_selector(".chart canvas")
    assert "Mbit/s" in finished(tab)
    assert drawn(tab) > 300


def test_what_is_tried_out_goes_on_as_a_file_and_survives_a_reload(show: Open) -> None:
    tab = show()
    finished(tab)
    tab.get_by_role("button", name="Edit as a file").click()
    tab.wait_for_selector(".cm-content")
    assert 'name = "what-if 20M' in code(tab)
    tab.reload()
    tab.wait_for_selector(".cm-content")
    assert 'name = "what-if 20M' in code(tab)
    tab.get_by_label("Begin with").select_option("single-reno")
    tab.wait_for_selector(".cm-content >> text=single-reno")
    assert "reno" in code(tab)


OVERLAPS = """(svg) => {
    const box = (one) => [one.textContent, one.getBoundingClientRect()];
    const boxes = [...svg.querySelectorAll("text")].map(box);
    const meet = (p, q, low, high, room) => p[low] + room < q[high] && q[low] + room < p[high];
    const lie = (p, q) => meet(p, q, "left", "right", 1) && meet(p, q, "top", "bottom", 2);
    return boxes.flatMap(([one, p], n) =>
        boxes.slice(n + 1).filter(([, q]) => lie(p, q)).map(([other]) => [one, other]));
}"""


def test_a_run_shows_its_result_with_its_name_and_its_path_once(show: Open) -> None:
    from playwright.sync_api import expect

    tab = show("#/editor", wait=".cm-content", viewport={"width": 1280, "height": 800})
    tab.get_by_label("Begin with").select_option("wifi-home-ax")
    tab.wait_for_selector(".network svg")
    assert tab.locator(".network svg").evaluate(OVERLAPS) == []
    tab.get_by_role("button", name="Run").click()
    heading = tab.get_by_role("heading", name="The last run: wifi-home-ax, seed 1")
    finished(tab)
    expect(heading).to_be_in_viewport()
    assert heading.bounding_box()["y"] < 100
    assert tab.locator(".network svg").count() == 1
    queues = tab.locator(".chart", has_text="Queue at the link").locator("figcaption .unit")
    assert queues.all_inner_texts() == ["packets", "home-laptop-down", "home-phone-up"]


def test_a_file_of_a_stranger_is_shown_as_text(show: Open) -> None:
    tab = show("#/editor", wait=".cm-content")
    text = 'name = "<img src=x onerror=alert(1)>"\n' + "#" * 10_000
    tab.evaluate("(text) => sessionStorage.setItem('fullpipe-scenario', text)", text)
    tab.reload()
    tab.wait_for_selector(".problems")
    assert "<img" in tab.locator(".problems").inner_text()
    assert tab.locator("img:not(.cm-widgetBuffer)").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_editor_is_fetched_only_where_it_is_used(show: Open) -> None:
    tab = show()
    fetched: list[str] = []
    tab.on("request", lambda request: fetched.append(request.url))
    tab.get_by_role("link", name="Runs").click()
    tab.wait_for_selector(".wide-page code")
    assert not any("editor.js" in url for url in fetched)
    tab.get_by_role("link", name="Editor").click()
    tab.wait_for_selector(".cm-content")
    assert any("editor.js" in url for url in fetched)
