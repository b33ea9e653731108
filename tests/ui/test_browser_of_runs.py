"""Kept runs and studies, as a person browses them in Chromium."""

from __future__ import annotations

import time
from base64 import b64decode
from pathlib import Path
from typing import Any

from fullpipe import Scenario, sweep
from tests.ui.browsing import Open, drawn, finished
from tests.ui.conftest import what_if
from tests.ui.stores import hostile, many

RUNS = 100_000
OPENED_S = 2.0 * 4
"""Four times what an idle machine must reach."""
MEMORY_KB = 500_000
WAIT_MS = 60_000
"""So long is waited for what the page is about to show."""


def kept(folder: Path) -> Path:
    """Two rates with three seeds."""
    rates = {"topology.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]}
    sweep(Scenario(**what_if(duration="3 s", sweep=rates)), (1, 2, 3), out=folder / "runs")
    return folder / "runs"


def test_runs_are_filtered_opened_and_compared(show: Open, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    tab = show("#/runs", wait="tbody tr", store=str(kept(tmp_path)))
    assert tab.locator("tbody tr").count() == 6
    tab.locator("aside").get_by_label("5 Mbit/s").check()
    tab.wait_for_selector("text=3 of 6")
    assert tab.locator("tbody tr").count() == 3
    tab.get_by_role("button", name="Show all runs").click()
    tab.wait_for_selector("tbody tr:nth-child(6)")
    tab.get_by_role("button", name="goodput of all, in total").click()
    tab.wait_for_selector("th[aria-sort=ascending]")
    expect(tab.locator("tbody tr").first).to_contain_text("5 Mbit/s")
    tab.get_by_role("link", name="what-if").first.click()
    tab.wait_for_selector(".chart canvas")
    assert drawn(tab) > 300
    assert "share" in finished(tab) or "takes" in finished(tab)
    assert "fullpipe run" in tab.get_by_label("Command", exact=True).inner_text()
    tab.go_back()
    tab.wait_for_selector("tbody tr:nth-child(6)")
    boxes = tab.get_by_label("Choose for a comparison")
    names = boxes.evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert len(set(names)) == 6
    assert "Choose for a comparison: 5 Mbit/s, what-if, native, 1" in names
    boxes.nth(0).check()
    boxes.nth(5).check()
    tab.get_by_role("link", name="Compare the two chosen").click()
    tab.wait_for_selector(".verdicts")
    tab.wait_for_selector(".variant:nth-child(2) canvas")
    assert (
        "--over scenario=5-Mbit-s.toml,10-Mbit-s.toml"
        in tab.get_by_label("Command of the comparison").inner_text()
    )
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report of the comparison").click()
    waiting.value.save_as(tmp_path / "comparison.html")
    assert "10 Mbit/s against 5 Mbit/s" in (tmp_path / "comparison.html").read_text(encoding="utf-8")
    goodput = tab.locator(".verdicts tr", has_text="all flows").filter(has_text="goodput")
    assert "better" in goodput.inner_text()
    tab.go_back()
    tab.wait_for_selector("tbody tr:nth-child(6)")
    assert boxes.evaluate_all("(all) => all.map((one) => one.checked)") == [True, *[False] * 4, True]


def test_the_list_says_what_applications_scored(show: Open, tmp_path: Path) -> None:
    flows = [{"cca": "cubic"}, {"workload": "voip"}, {"name": "site", "cca": "cubic", "workload": "web"}]
    sweep(Scenario(**what_if(duration="40 s", flows=flows)), (1, 2), out=tmp_path / "runs")
    tab = show("#/runs", wait="tbody tr:nth-child(2)", store="runs")
    heads = tab.locator("thead th").all_inner_texts()
    place = heads.index("call score (MOS)")
    assert heads[place + 1] == "page load, median"
    assert "video stalled" not in heads
    cells = tab.locator("tbody tr").first.locator("td").all_inner_texts()
    assert 1 <= float(cells[place]) <= 4.5
    assert cells[place + 1].endswith("s")


def test_a_call_has_no_part_in_the_mean_rtt_of_flows(show: Open, tmp_path: Path) -> None:
    flows = [{"name": "upload", "cca": "cubic"}, {"name": "call", "workload": "voip"}]
    rates = {"topology.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]}
    sweep(Scenario(**what_if(duration="3 s", flows=flows, sweep=rates)), (1, 2), out=tmp_path / "runs")
    tab = show("#/runs", wait="tbody tr:nth-child(4)", store="runs")
    boxes = tab.get_by_label("Choose for a comparison")
    boxes.nth(0).check()
    boxes.nth(3).check()
    tab.get_by_role("link", name="Compare the two chosen").click()
    tab.wait_for_selector(".difference")
    of_both = tab.locator(".difference tr", has_text="RTT, mean of flows").locator("td")
    for number in (0, 1):
        flows_of = tab.get_by_role("group", name="Flows", exact=True).nth(number)
        upload = flows_of.locator("tr", has_text="upload").locator("td")
        assert upload.nth(2).inner_text() == of_both.nth(number).inner_text()


def test_a_report_of_a_kept_run_is_taken_along(show: Open, tmp_path: Path) -> None:
    tab = show("#/runs", wait="tbody tr", store=str(kept(tmp_path)), accept_downloads=True)
    tab.get_by_role("link", name="what-if").first.click()
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Report").click()
    waiting.value.save_as(tmp_path / "report.html")
    assert "fullpipe report" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_empty_store_says_how_to_fill_it(show: Open) -> None:
    tab = show("#/runs", wait=".wide-page code")
    told = tab.locator(".wide-page").inner_text()
    assert "fullpipe run" in told
    assert "runs that you keep in What if or in the editor" in told


def test_hostile_names_are_shown_as_text(show: Open, tmp_path: Path) -> None:
    runs = hostile(tmp_path / "runs")
    tab = show("#/runs", wait="tbody tr", store="runs")
    assert tab.locator("tbody tr").count() == 3
    assert "<img src=x onerror=alert(3)>" in tab.locator("table").inner_text()
    assert "<script>alert(1)" in tab.locator("table").inner_text()
    base, shown = tab.url.partition("#")[0], list[str]()
    for run in runs:
        assert tab.evaluate("violations") == []  # which the next page knows nothing of
        tab.goto("about:blank")  # else the figure of the run before may be the one that is waited for
        tab.goto(f"{base}#/run/{run.meta.digest}/{run.meta.seed}/native")
        tab.wait_for_selector(".chart canvas")
        assert "evenly" in finished(tab) or "takes" in finished(tab)
        shown.append(tab.locator("main").inner_text())
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "<script>alert(1)" in shown[0]
    assert "onerror=alert(3)" in shown[1]
    assert tab.locator("img, b, script:not([src])").count() == tab.locator(".chart b").count()


def test_a_store_of_very_many_runs_opens_at_once(show: Open, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    many(tmp_path / "runs", RUNS)
    tab = show(store="runs", alone=True)
    finished(tab)
    began_s = time.monotonic()
    tab.get_by_role("link", name="Runs").click()
    tab.wait_for_selector("tbody tr")
    took_s = time.monotonic() - began_s
    expect(tab.locator("h1")).to_contain_text(f"{RUNS:,} in runs", timeout=WAIT_MS)
    assert took_s < OPENED_S
    status = Path(f"/proc/{tab.context.process.pid}/status")
    if status.exists():
        peak = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM"))
        assert int(peak.split()[1]) < MEMORY_KB
    assert "4.4" in tab.locator("tbody tr").first.inner_text()
    tab.get_by_role("button", name="call score (MOS)").click()
    tab.wait_for_selector("th[aria-sort=ascending]")
    tab.locator("summary", has_text="bottleneck.rate").click()
    tab.locator("aside").get_by_label("10000 kbit/s").check()
    tab.wait_for_selector("text=100 of 100,000")


DOT = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""A picture of one point."""


def test_a_study_shows_what_is_printed_and_its_figures(show: Open, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    (folder / "figure-2.png").write_bytes(DOT)
    tab: Any = show("#/studies", wait=".study", store="runs")
    assert tab.locator(".study").count() >= 4
    tab.get_by_role("link", name="Sixteen BBR flows").click()
    tab.wait_for_selector("table")
    assert "39.5 Mbit/s" in tab.locator("table").inner_text()
    figure = tab.get_by_role("img", name="Figure 2, drawn from our runs")
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_js_property("naturalWidth", 1, timeout=WAIT_MS)
    tab.get_by_role("button", name="Figure 2, drawn from our runs: larger").click()
    tab.wait_for_selector(".drawn .large")
    tab.get_by_label("Only rows with").fill("Fig. 2")
    rows = tab.locator("tbody tr")
    assert all("Fig. 2" in rows.nth(n).inner_text() for n in range(rows.count()))
    assert "fullpipe paper kato2025 --quick" in tab.locator(".command").inner_text()
