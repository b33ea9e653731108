"""A report in a real browser: opened from a file, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullpipe.report.content import (
    Box,
    Boxes,
    Chart,
    Difference,
    Document,
    Figure,
    Forest,
    Heat,
    Image,
    Look,
    Part,
    Series,
    Trace,
)
from fullpipe.report.html import html
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from tests.report.pages import HOSTILE, PNG, Show, drawn, hostile_page, runs_of, unfold
from tests.saving import DOTS, PAGE, WIDTH, numbers, picture, saved, smallest_letters, strokes, table, words

POINTS = 1_000_000
SPIKE = 654_321


@pytest.fixture(scope="module")
def million() -> Document:
    """A page with a figure of a million samples, of which one stands out."""
    values = np.sin(np.arange(POINTS) / 40_000)
    values[SPIKE] = 9.0
    series = Series("value", 0.0, 0.001, [Trace("one", Look(0), values)])
    figure = Figure("A million samples.", series, "a million samples")
    return Document("many", [Part("?", ["many"], figure=figure)])


def seen(figure: Any) -> tuple[int, float, float]:
    """How many samples are drawn, and from when to when."""
    code = "({ plot: { data, scales } }) => [data[0].length, scales.x.min, scales.x.max]"
    points, start, end = figure.evaluate(code)
    return points, start, end


def highest(figure: Any) -> tuple[float, float]:
    """When the first series is highest, and how high."""
    code = """(figure) => {
        const [times, values] = figure.plot.data;
        const place = values.reduce((best, value, n) => (value > values[best] ? n : best), 0);
        return [times[place], values[place]];
    }"""
    time, value = figure.evaluate(code)
    return time, value


def ink(figure: Any) -> int:
    """How many points of the canvas are not empty."""
    code = """(figure) => {
        const canvas = figure.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, n) => n % 4 === 3 && value > 0).length;
    }"""
    return int(figure.evaluate(code))


def test_it_opens_from_a_file_and_asks_for_nothing(show: Show, runs: Document) -> None:
    tab = show(runs)
    figures = tab.locator("figure:has(script.series)")
    assert figures.count() > 3
    assert all(ink(drawn(tab, n)) > 100 for n in range(figures.count()))


def test_a_million_samples_are_drawn_and_zoomed_to_single_ones(show: Show, million: Document) -> None:
    figure = drawn(show(million, samples=POINTS))
    points, start, end = seen(figure)
    assert 1_000 < points < 20_000
    assert (start, end) == (0.0, pytest.approx((POINTS - 1) * 0.001))
    assert ink(figure) > 1_000
    time, value = highest(figure)
    assert value == pytest.approx(9.0, abs=0.01)
    figure.evaluate("(figure) => figure.plot.setSelect({left: 0, width: 0, top: 0, height: 0}, false)")
    left = figure.evaluate(f"(figure) => figure.plot.valToPos({time - 1}, 'x')")
    over = figure.locator(".u-over").bounding_box()
    mouse = figure.page.mouse
    mouse.move(over["x"] + left - 4, over["y"] + 40)
    mouse.down()
    mouse.move(over["x"] + left + 8, over["y"] + 40, steps=4)
    mouse.up()
    while seen(figure)[2] - seen(figure)[1] > 4:
        figure.get_by_role("button", name="Zoom in").click()
    points, start, end = seen(figure)
    assert points == pytest.approx((end - start) / 0.001, abs=3)


def test_means_have_bands_and_a_label_hides_both(show: Show) -> None:
    linear = page_of(runs_of(("5 Mbit/s", "10 Mbit/s", "15 Mbit/s")))
    figure = show(linear).locator("figure:has(script.lines)").first
    figure.scroll_into_view_if_needed()
    figure.locator("canvas").wait_for()
    assert ink(figure) > 1_000
    assert figure.locator(".u-legend .u-series:visible").count() == 3  # the last is the fair share
    assert "–" not in figure.locator(".u-legend").inner_text(), "no value is known before a pointer is there"
    figure.locator(".u-legend .u-label").nth(1).click()
    hidden = figure.evaluate("(figure) => figure.plot.series.slice(1).map((one) => one.show)")
    assert hidden == [False, False, False, *[True] * 6]


def test_legends_show_the_dashes_of_lines(show: Show) -> None:
    figure = show(page_of(runs_of(("5 Mbit/s", "10 Mbit/s")))).locator("figure:has(script.lines)").first
    figure.scroll_into_view_if_needed()
    figure.locator("canvas").wait_for()
    code = "(all) => all.map((one) => getComputedStyle(one).strokeDasharray)"
    assert figure.locator(".u-legend .dashes path").evaluate_all(code) == [
        "none",
        "8px, 3px, 2px, 3px",
        "2px, 2px",
    ]


def test_a_report_has_every_sample(show: Show, million: Document) -> None:
    tab = show(million, samples=POINTS)
    figure = drawn(tab)
    code = """(figure) => {
        const trace = JSON.parse(figure.querySelector("script.series").textContent).traces[0];
        const bytes = Uint8Array.from(atob(trace.values), (c) => c.charCodeAt(0));
        const numbers = new Uint16Array(bytes.buffer);
        return [numbers.length, numbers.findIndex((number) => number === 65534)];
    }"""
    assert figure.evaluate(code) == [POINTS, SPIKE]


def test_keys_zoom_move_and_show_everything(show: Show, million: Document) -> None:
    figure = drawn(show(million))
    live = figure.locator(".live")
    live.focus()
    whole = seen(figure)
    live.press("+")
    live.press("PageDown")
    _, start, end = seen(figure)
    assert end - start == pytest.approx((whole[2] - whole[1]) / 2)
    assert start == pytest.approx(whole[2] * 3 / 8, rel=0.01)
    live.press("ArrowRight")
    assert figure.locator(".u-legend .u-value").first.inner_text() != "–"
    live.press("0")
    assert seen(figure) == whole


def test_everything_is_reached_by_the_keyboard(show: Show, runs: Document) -> None:
    tab = show(runs)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    unfold(tab)
    names = []
    for _ in range(150):
        tab.keyboard.press("Tab")
        names.append(tab.evaluate("document.activeElement.className || document.activeElement.tagName"))
    assert {"scroll", "live", "BUTTON", "SUMMARY"} <= set(names)


def test_dark_colours_follow_the_system_and_the_button(show: Show, runs: Document) -> None:
    tab = show(runs, color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(colour) == "rgb(20, 23, 27)"
    tab.get_by_role("button", name="Light colours").click()
    assert tab.evaluate(colour) == "rgb(255, 255, 255)"


def test_colours_are_chosen_in_a_frame_without_storage_too(show: Show, runs: Document) -> None:
    tab = show(runs)
    code = """(text) => {
        const frame = document.createElement("iframe");
        Object.assign(frame, { sandbox: "allow-scripts", srcdoc: text });
        document.body.prepend(frame);
    }"""
    tab.evaluate(code, html(runs, Budget().samples))
    inside = tab.frame_locator("iframe")
    inside.get_by_role("button", name="Dark colours").click()
    assert inside.locator("html").get_attribute("data-theme") == "dark"


def test_hostile_text_is_shown_as_text(show: Show) -> None:
    tab = show(hostile_page())
    drawn(tab)
    assert tab.locator("b").count() == 0
    kinds = tab.evaluate("[...document.scripts].map((one) => one.type)")
    assert set(kinds[:-1]) == {"application/json"}
    assert kinds[-1] == ""
    assert tab.title().startswith("</script><script>alert(1)</script>")
    assert tab.locator("h1").inner_text() == HOSTILE.replace("\u202e", "\\u202e").replace("\x1b", "\\x1b")
    assert "<script>alert(1)" in tab.locator(".u-legend").last.inner_text()


def test_the_download_gives_the_table_of_values(show: Show, runs: Document, tmp_path: Path) -> None:
    tab = show(runs, accept_downloads=True)
    with tab.expect_download() as waiting:
        tab.get_by_role("link", name="Download values.csv").press("Enter")  # figures above may still grow
    waiting.value.save_as(tmp_path / "values.csv")
    lines = (tmp_path / "values.csv").read_text(encoding="utf-8").splitlines()
    assert waiting.value.suggested_filename == "values.csv"
    assert lines[0].startswith("topology.bottleneck.rate,engine,seed,kind,of,")
    assert len(lines) == 25


def test_means_save_with_the_ends_of_their_intervals(show: Show, runs: Document, tmp_path: Path) -> None:
    tab = show(runs, color_scheme="dark", accept_downloads=True)
    figure = tab.locator("figure:has(script.lines)").first
    figure.scroll_into_view_if_needed()
    menu = figure.locator(".save")
    head, rows = table(file := saved(menu, "CSV", tmp_path))
    fair = "fair share of cubic-1 and bbr3-1 (50.0 % of the goodput)"
    lines = ("cubic-1", "bbr3-1", fair)
    names = [f"{line}: goodput (Mbit/s){end}" for line in lines for end in ("", ", low", ", high")]
    assert head == ["rate (Mbit/s)", *names]
    assert [float(row[0]) for row in rows] == [5, 10, 20]
    for column in range(10):
        of_plot = figure.evaluate("(figure, column) => Array.from(figure.plot.data[column])", column)
        assert numbers(file, column) == pytest.approx(of_plot, rel=1e-9)
    told = words(file := saved(menu, "SVG", tmp_path))
    title = "goodput of every group of flows over rate: means and 95 % intervals."
    assert " ".join(told).startswith(title)
    assert {"rate (Mbit/s)", "goodput (Mbit/s)", "5", "10", "20"} <= set(told)
    assert smallest_letters(file) >= 7
    assert picture(saved(menu, "PNG", tmp_path)).shape[1] == WIDTH


def test_samples_of_a_part_of_the_time_save_without_hidden_lines(
    show: Show, runs: Document, tmp_path: Path
) -> None:
    figure = drawn(show(runs, accept_downloads=True))
    menu = figure.locator(".save")
    head, rows = table(saved(menu, "CSV", tmp_path))
    assert head[0] == "time, s"
    assert [name.partition(":")[0] for name in head[1:]] == ["cubic-1", "bbr3-1"]
    assert len(rows) == len(figure.evaluate("(figure) => Array.from(figure.plot.data[0])"))
    figure.get_by_role("button", name="Zoom in").click()
    figure.locator(".u-legend .u-label").nth(1).click()
    file = saved(menu, "CSV", tmp_path)
    assert [name.partition(":")[0] for name in table(file)[0]] == ["time, s", "bbr3-1"]
    _, start, end = seen(figure)
    times = numbers(file, 0)
    assert start <= times[0] < times[-1] <= end
    file = saved(menu, "SVG", tmp_path)
    assert "cubic-1" not in words(file)
    assert len(set(strokes(file))) == 2  # the axes, and the line that is left


STILL: dict[str, tuple[Chart, list[str], list[str]]] = {
    "heat": (
        Heat("rate, Mbit/s", "buffer, bdp", ["1", "10"], ["0.5"], [[1.5, None]]),
        ["buffer, bdp", "rate, Mbit/s", "Caption"],
        ["0.5", "10", ""],
    ),
    "boxes": (
        Boxes("goodput, Mbit/s", [Box("cubic", Look(0), (0, 1, 2, 3, 4), 5)]),
        [
            "of",
            *(f"{each}: goodput, Mbit/s" for each in ("minimum", "q1", "median", "q3", "maximum")),
            "runs",
        ],
        ["cubic", "0", "1", "2", "3", "4", "5"],
    ),
    "forest": (
        Forest("difference, %", [Difference("goodput, Mbit/s", 1.5, -0.5, None, "undecided")]),
        ["of", "difference, %", "difference, %, low", "difference, %, high", "verdict"],
        ["goodput, Mbit/s", "1.5", "-0.5", "", "undecided"],
    ),
}


@pytest.mark.parametrize(("chart", "head", "last"), STILL.values(), ids=STILL)
def test_a_chart_that_stays_as_drawn_saves(
    show: Show, tmp_path: Path, chart: Chart, head: list[str], last: list[str]
) -> None:
    page = Document("still", [Part("?", ["x"], figure=Figure("Caption.", chart, "alternative"))])
    tab = show(page, color_scheme="dark", accept_downloads=True)
    menu = tab.locator("figure .save")
    names, rows = table(saved(menu, "CSV", tmp_path))
    assert (names, rows[-1]) == (head, last)
    file = saved(menu, "SVG", tmp_path)
    on_page = tab.locator("figure svg.chart:not(.narrow) text").all_text_contents()
    assert words(file) == ["Caption.", *on_page]
    assert "rgb(27, 31, 36)" in file.read_text("utf-8")  # dark on white, though the page is dark
    wide = picture(saved(menu, "PNG", tmp_path)).shape[1]
    assert wide <= PAGE
    drawn_to = tab.locator("figure svg.chart:not(.narrow)").evaluate(
        "(one) => one.getBBox().x + one.getBBox().width"
    )
    assert wide == pytest.approx(DOTS * min(drawn_to + 12, 672), abs=2 * DOTS), "no empty room at its side"


def test_a_phone_saves_the_chart_that_it_shows(show: Show, tmp_path: Path) -> None:
    page = Document("still", [Part("?", ["x"], figure=Figure("Caption.", STILL["heat"][0], "alternative"))])
    tab = show(page, viewport={"width": 390, "height": 844}, accept_downloads=True)
    on_page = tab.locator("figure svg.chart.narrow text").all_text_contents()
    assert words(saved(tab.locator("figure .save"), "SVG", tmp_path)) == ["Caption.", *on_page]


def test_a_picture_that_was_drawn_elsewhere_saves_as_it_is(show: Show, tmp_path: Path) -> None:
    page = Document("image", [Part("?", ["x"], figure=Figure("Of one pixel.", Image(PNG), "pixel"))])
    menu = show(page, accept_downloads=True).locator("figure .save")
    assert menu.locator("button").all_text_contents() == ["PNG"]
    assert saved(menu, "PNG", tmp_path).name == "of-one-pixel.png"


def test_tables_are_sorted_by_their_headings(show: Show, runs: Document) -> None:
    tab = show(runs)
    table = tab.locator(".scroll table").first
    heads = table.locator("thead th").all_inner_texts()
    column = next(place for place, head in enumerate(heads) if "goodput" in head)
    table.locator("thead th button").nth(column).click()
    cells = table.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()
    numbers = [float(cell.split()[0].replace(",", "")) for cell in cells]
    assert numbers == sorted(numbers)
    assert len(numbers) == 3


def test_without_scripts_tables_and_figures_are_there(show: Show, runs: Document) -> None:
    tab = unfold(show(runs, java_script_enabled=False))
    assert tab.locator("table").first.is_visible()
    assert "cubic-1" in tab.locator("table").first.inner_text()
    assert all(chart.is_visible() for chart in tab.locator("figure .chart:not(.narrow)").all())
    assert tab.locator("button").count() == 0
