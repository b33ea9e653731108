"""Charts of the page save as PNG, SVG and CSV, in Chromium."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="pip install 'fullpipe[e2e]'")

from tests.saving import DOTS, PAGE, WIDTH, numbers, picture, saved, smallest_letters, strokes, table, words
from tests.ui.browsing import Open, finished, samples
from tests.ui.stores import hostile

ONE = "#/what-if?a=10,20,2,drop_tail,0,0,cubic*1@0-bbr1*1@1&time=4&seed=1"
MANY = "#/what-if?a=10,20,2,drop_tail,0,0,cubic*14@0&time=2&seed=1"
TITLES = ["Path", "Goodput", "Round trip", "Queue at the link", "Congestion window", "Packets"]
DARK_CUBIC, LIGHT_CUBIC = "#3d9bdc", "#0072b2"
DOT = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def menu(tab: Any, name: str) -> Any:
    """The menu of a chart by the name that is read out."""
    return tab.locator(f"details.save:has(> summary[aria-label='Save {name}'])")


def test_every_chart_has_a_menu_with_a_name_that_is_not_printed(show: Open) -> None:
    tab = show(f"{ONE}&packets=1", wait=".lanes canvas")
    finished(tab)
    names = tab.locator(".save > summary").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert names == [f"Save {title}" for title in TITLES]
    tab.emulate_media(media="print")
    assert tab.locator(".save:visible").count() == 0


def test_menus_open_within_a_narrow_screen(show: Open) -> None:
    tab = show(f"{ONE}&packets=1", wait=".lanes canvas", viewport={"width": 390, "height": 844})
    finished(tab)
    for one in tab.locator(".save").all():
        one.locator("summary").click()
        box = one.locator("span").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        one.locator("summary").click()


def test_a_chart_over_time_saves_the_numbers_that_are_drawn(show: Open, tmp_path: Path) -> None:
    tab = show(ONE)
    finished(tab)
    file = saved(menu(tab, "Goodput"), "CSV", tmp_path)
    assert file.name == "goodput-what-if-10m-20ms-2bdp-cubic-bbr1-from-1s-4s-seed-1.csv"
    head, rows = table(file)
    assert head == [
        "time, s", "cubic-1: Goodput, Mbit/s", "bbr1-1: Goodput, Mbit/s", "fair share of 2: Goodput, Mbit/s",
    ]  # fmt: skip
    for column in (0, 1, 2):
        of_plot = tab.locator(".plot").first.evaluate("(one, n) => Array.from(one.plot.data[n])", column)
        assert numbers(file, column) == pytest.approx(of_plot, rel=1e-6)
    assert rows[0][0] == "0.1"


def test_a_part_of_the_time_is_saved_alone(show: Open, tmp_path: Path) -> None:
    tab = show(ONE)
    finished(tab)
    tab.locator(".plot").first.focus()
    tab.keyboard.press("+")
    tab.get_by_role("button", name="Show everything").wait_for()
    times = numbers(saved(menu(tab, "Round trip"), "CSV", tmp_path), 0)
    assert (times[0], times[-1], len(times)) == (1.0, 3.0, 21)


def test_a_band_of_flows_has_its_ends_in_the_table(show: Open, tmp_path: Path) -> None:
    tab = show(MANY)
    finished(tab)
    file = saved(menu(tab, "Goodput"), "CSV", tmp_path)
    label = table(file)[0][1].partition(":")[0]
    assert table(file)[0][1:4] == [
        f"{label}: Goodput, Mbit/s{end}" for end in ("", ", lowest flow", ", highest flow")
    ]
    mean, low, high = (numbers(file, column)[-1] for column in (1, 2, 3))
    assert low < mean < high
    assert mean == pytest.approx(samples(tab)[-1], rel=1e-6)


def test_a_dark_page_saves_pictures_on_white_with_axes_and_legend(show: Open, tmp_path: Path) -> None:
    tab = show(ONE, color_scheme="dark")
    finished(tab)
    file = saved(menu(tab, "Goodput"), "SVG", tmp_path)
    told = words(file)
    assert " ".join(told).startswith("Goodput: what-if 10M 20ms 2bdp cubic + bbr1 from 1s 4s, seed 1")
    assert {"cubic-1", "bbr1-1", "0", "10", "4", "time, s", "Goodput, Mbit/s", "fair share of 2"} <= {*told}
    assert LIGHT_CUBIC in [colour.lower() for colour in strokes(file)]
    assert smallest_letters(file) >= 7
    assert DARK_CUBIC not in file.read_text("utf-8").lower()
    assert picture(saved(menu(tab, "Goodput"), "PNG", tmp_path)).shape[1] == WIDTH
    back = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(back) == "rgb(20, 23, 27)"


def test_the_menu_opens_saves_and_closes_by_keys(show: Open) -> None:
    tab = show(ONE)
    finished(tab)
    head = menu(tab, "Goodput").locator("summary")
    head.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "PNG"
    tab.keyboard.press("Escape")
    assert menu(tab, "Goodput").get_attribute("open") is None
    assert tab.evaluate("document.activeElement.ariaLabel") == "Save Goodput"
    tab.keyboard.press("Enter")
    for _ in range(3):
        tab.keyboard.press("Tab")
    with tab.expect_download() as waiting:
        tab.keyboard.press("Enter")
    assert waiting.value.suggested_filename.endswith(".csv")


def test_the_path_saves_its_drawing_and_its_links(show: Open, tmp_path: Path) -> None:
    tab = show(ONE)
    finished(tab)
    assert {"10 Mbit/s", "round trip 20 ms", "cubic-1"} <= set(
        words(saved(menu(tab, "Path"), "SVG", tmp_path))
    )
    head, (forward, *_) = table(saved(menu(tab, "Path"), "CSV", tmp_path))
    assert head == ["link", "from", "to", "rate, bit/s", "delay, s", "queue"]
    assert forward[3:5] == ["10000000", "0.01"]
    assert picture(saved(menu(tab, "Path"), "PNG", tmp_path)).shape[1] == DOTS * 560


def test_a_network_saves_its_drawing_and_every_link(show: Open, tmp_path: Path) -> None:
    tab = show("#/editor", wait=".cm-content")
    tab.get_by_label("Begin with").select_option("wifi-home-ax")
    tab.wait_for_selector(".network .air")
    file = saved(menu(tab, "Path"), "SVG", tmp_path)
    assert words(file) == ["Path: wifi-home-ax", *tab.locator(".network text").all_text_contents()]
    assert len(table(saved(menu(tab, "Path"), "CSV", tmp_path))[1]) == 6
    assert picture(saved(menu(tab, "Path"), "PNG", tmp_path)).ndim == 3


def test_packets_save_as_counts_from_afar_and_one_by_one_close_up(show: Open, tmp_path: Path) -> None:
    tab = show(f"{ONE}&packets=1", wait=".lanes canvas")
    finished(tab)
    head, rows = table(saved(menu(tab, "Packets"), "CSV", tmp_path))
    assert head[:4] == ["from, s", "to, s", "at", "cubic-1: data, packets"]
    captured = tab.locator(".room").evaluate("(room) => room.lanes.packets.length")
    assert sum(int(cell) for row in rows for cell in row[3:7]) == captured
    assert {"sender", "receiver", "cubic-1", "dropped"} <= set(
        words(saved(menu(tab, "Packets"), "SVG", tmp_path))
    )
    tab.locator(".room").focus()
    for _ in range(6):
        tab.keyboard.press("+")
    view = "(room) => { const { inside, last } = room.lanes.view(); return last - inside; }"
    head, rows = table(saved(menu(tab, "Packets"), "CSV", tmp_path))
    assert head[:6] == ["time, s", "at", "flow", "kind", "first byte", "bytes"]
    assert len(rows) == tab.locator(".room").evaluate(view) > 10
    assert {row[3] for row in rows} <= {"data", "ACK"}
    assert picture(saved(menu(tab, "Packets"), "PNG", tmp_path)).shape[1] == PAGE


def test_hostile_names_are_text_in_every_file(show: Open, tmp_path: Path) -> None:
    run = hostile(tmp_path / "runs")[0]
    tab = show(f"#/run/{run.meta.digest}/{run.meta.seed}/native", wait=".chart canvas", store="runs")
    finished(tab)
    assert "</script><script>alert(1)</script>" in "".join(
        words(saved(menu(tab, "Goodput"), "SVG", tmp_path))
    )
    assert "</script><script>alert(1)</script>" in table(saved(menu(tab, "Goodput"), "CSV", tmp_path))[0][1]
    assert picture(saved(menu(tab, "Goodput"), "PNG", tmp_path)).shape[1] == WIDTH


def test_a_figure_of_a_study_saves_as_it_is(show: Open, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    (folder / "figure-2.png").write_bytes(DOT)
    tab = show("#/study/kato2025", wait=".drawn img", store="runs")
    of_figure = tab.locator(".drawn .save")
    assert of_figure.locator("button").all_text_contents() == ["PNG"]
    of_figure.scroll_into_view_if_needed()
    assert saved(of_figure, "PNG", tmp_path).name == "figure-2-drawn-from-our-runs.png"


def test_the_tally_of_a_study_saves_its_counts(show: Open, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "papers" / "kato2025"
    folder.mkdir(parents=True)
    heads = "engine,where,printed,reading,ours,ours_low,ours_high,unit,held,compared,verdict,closest,why,"
    heads += "setting,factor,by_tolerance,counted,uncounted,each\n"
    where = [
        ("100: mean", "same direction"),
        ("500: mean", "not testable here"),
        ("1000: mean", "same direction"),
    ]
    rows = [
        f'native,"Table II, {at}",1 Mbit/s,,2,1,3,Mbit/s,1,1,{verdict},true,,,0.5,false,true,,\n'
        for at, verdict in where
    ]
    (folder / "verdicts.csv").write_text(heads + "".join(rows), encoding="utf-8")
    tab = show("#/study/kato2025", wait=".tally", store="runs")
    of_tally = tab.locator(".tally + .note .save")
    head, counts = table(saved(of_tally, "CSV", tmp_path))
    assert head == ["verdict", "printed numbers and claims"]
    assert counts == [["same direction", "2"], ["not testable here", "1"]]
    file = saved(of_tally, "SVG", tmp_path)
    assert words(file)[-2:] == ["2 same direction", "1 not testable here"]
    fills = tab.locator(".tally rect").evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")
    assert len(set(fills)) == 2
    assert all(fill in file.read_text("utf-8") for fill in fills)
    assert picture(saved(of_tally, "PNG", tmp_path)).shape[1] == DOTS * 400
