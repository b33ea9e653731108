"""A report in a real browser: opened from a file, without a network."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from fullpipe import Run, Scenario, compare_over, sweep
from fullpipe.cli.compare_variants import write
from fullpipe.report.budget import Budget
from fullpipe.report.content import (
    ALL_ROWS,
    Box,
    Boxes,
    Chart,
    Column,
    Difference,
    Document,
    Figure,
    Forest,
    Heat,
    Image,
    Look,
    Part,
    Section,
    Series,
    Table,
    Trace,
    joined,
)
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.report.html.page import html
from fullpipe.report.runs.page import page_of
from tests.chromium import WATCH
from tests.report.pages import HOSTILE, PNG, hostile_page, page_with, runs_of
from tests.saving import DOTS, PAGE, WIDTH, numbers, picture, saved, smallest_letters, strokes, table, words

POINTS = 1_000_000
A4 = 718
"""Points between the margins of a page in print."""
SPIKE = 654_321
Show = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens a report offline. Whatever it asked for, said to the console or was refused fails the test."""
    told: list[str] = []
    requests: list[str] = []
    contexts = []

    def opened(page: Document, samples: int = Budget().samples, **options: Any) -> Any:
        path = tmp_path / "report.html"
        path.write_text(html(page, samples), encoding="utf-8")
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        context.add_init_script(WATCH)
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: told.append(message.text))
        tab.on("pageerror", lambda error: told.append(str(error)))
        tab.on("dialog", lambda dialog: (told.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.goto(path.as_uri())
        return tab

    yield opened
    ran = "document.querySelector('.theme') !== null"
    has_scripts = [tab for context in contexts for tab in context.pages if tab.evaluate(ran)]
    violations = [line for tab in has_scripts for line in tab.evaluate("window.violations")]
    for context in contexts:
        context.close()
    assert [url for url in requests if not url.startswith("data:image/")] == [requests[0]]
    assert told == []
    assert violations == []


@pytest.fixture(scope="module")
def runs() -> Document:
    """A page of six runs."""
    return page_of(runs_of())


@pytest.fixture(scope="module")
def million() -> Document:
    """A page with a figure of a million samples, of which one stands out."""
    values = np.sin(np.arange(POINTS) / 40_000)
    values[SPIKE] = 9.0
    series = Series("value", 0.0, 0.001, [Trace("one", Look(0), values)])
    figure = Figure("A million samples.", series, "a million samples")
    return Document("many", [Part("?", ["many"], figure=figure)])


def unfold(tab: Any) -> Any:
    """The page with all details open."""
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    return tab


def drawn(tab: Any, figure: int = 0) -> Any:
    """The figure, once it is drawn; its details are opened."""
    unfold(tab)
    found = tab.locator("figure:has(script.series)").nth(figure)
    found.scroll_into_view_if_needed()
    found.locator("canvas").wait_for()
    return found


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
    assert figure.locator(".u-legend .u-series:visible").count() == 3
    figure.locator(".u-legend .u-label").nth(1).click()
    hidden = figure.evaluate("(figure) => figure.plot.series.slice(1).map((one) => one.show)")
    assert hidden == [False, False, False, True, True, True]


def test_legends_show_the_dashes_of_lines(show: Show) -> None:
    figure = show(page_of(runs_of(("5 Mbit/s", "10 Mbit/s")))).locator("figure:has(script.lines)").first
    figure.scroll_into_view_if_needed()
    figure.locator("canvas").wait_for()
    code = "(all) => all.map((one) => getComputedStyle(one).strokeDasharray)"
    assert figure.locator(".u-legend .dashes path").evaluate_all(code) == ["none", "8px, 3px, 2px, 3px"]


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


def test_it_prints_its_tables_and_figures(show: Show, runs: Document) -> None:
    tab = show(runs, color_scheme="dark", viewport={"width": A4, "height": 1_000})
    drawn(tab)
    assert tab.pdf(format="A4").startswith(b"%PDF")
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") < 1.5 * A4  # what browsers shrink to fit
    assert tab.locator(".live").first.is_hidden()
    assert tab.locator(".save:visible").count() == 0
    assert tab.locator("figure:has(script.series) .still").first.is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


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
    names = [
        f"{flow}: goodput (Mbit/s){end}" for flow in ("cubic-1", "bbr3-1") for end in ("", ", low", ", high")
    ]
    assert head == ["rate (Mbit/s)", *names]
    assert [float(row[0]) for row in rows] == [5, 10, 20]
    for column in range(7):
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
    on_page = tab.locator("figure svg.chart text").all_text_contents()
    assert words(file) == ["Caption.", *on_page]
    assert "rgb(27, 31, 36)" in file.read_text("utf-8")  # dark on white, though the page is dark
    wide = picture(saved(menu, "PNG", tmp_path)).shape[1]
    assert wide <= PAGE
    drawn_to = tab.locator("figure svg.chart").evaluate("(one) => one.getBBox().x + one.getBBox().width")
    assert wide == pytest.approx(DOTS * min(drawn_to + 12, 672), abs=2 * DOTS), "no empty room at its side"


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
    assert all(chart.is_visible() for chart in tab.locator("figure .chart").all())
    assert tab.locator("button").count() == 0


def test_wide_tables_keep_to_themselves_on_every_screen_and_fit_on_paper(show: Show) -> None:
    columns = [Column("cca"), *(Column(f"metric_number_{n}, Mbit/s", is_number=True) for n in range(12))]
    cells = [["1,234.56 [1,200.12, 1,300.34]"] * 11 + [f"{n}"] for n in range(4)]
    table = Table("Means", columns, [[name, *row] for name, row in zip("abcd", cells, strict=True)])
    varied = replace(table, rows=[[*row[:5], f"{n}", *row[6:]] for n, row in enumerate(table.rows)])
    page = page_with(Section("Tables", [table, varied, _unlike(varied)]))
    tab = unfold(show(page, color_scheme="dark"))
    width = "document.documentElement.scrollWidth"
    for wide in (1200, 420):
        tab.set_viewport_size({"width": wide, "height": 900})
        assert tab.evaluate(width) == wide
    captions = tab.locator("caption").all_inner_texts()
    assert captions[0].startswith("Means. In every row: metric_number_0, Mbit/s 1,234.56 [1,200.12")
    assert tab.locator("table").nth(0).locator("thead th").count() == 2
    assert tab.locator("table").nth(2).locator("thead th").count() == 13
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": A4, "height": 1_000})
    assert tab.evaluate(width) == A4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_edge_beyond_which_a_table_goes_on_is_shaded(show: Show, scheme: str) -> None:
    columns = [Column("cca"), *(Column(f"metric_number_{n}, Mbit/s", is_number=True) for n in range(6))]
    wide = _unlike(Table("Means", columns, [[name, *"123456"] for name in "abcd"]))
    page = page_with(Section("Tables", [wide]))
    tab = unfold(show(page, color_scheme=scheme, viewport={"width": 420, "height": 900}))
    table = tab.locator(".scroll").first

    def shaded() -> list[bool]:
        """Whether the left and the right edge are, below the text of every row."""
        points = matplotlib.image.imread(io.BytesIO(table.screenshot()))[-3, :, :3]
        middle = np.median(points, axis=0)
        return [bool(np.abs(edge - middle).max() > 0.02) for edge in (points[0], points[-1])]

    assert shaded() == [False, True]
    table.evaluate("(it) => it.scrollTo(it.scrollWidth / 3, 0)")
    assert shaded() == [True, True]
    table.evaluate("(it) => it.scrollTo(it.scrollWidth, 0)")
    assert shaded() == [True, False]


def _unlike(table: Table) -> Table:
    """The table with something else in every cell."""
    rows = [
        [row[0], *(f"{n}{place},234.56 [1,200.12, 1,300.34]" for place in range(1, len(row)))]
        for n, row in enumerate(table.rows)
    ]
    return replace(table, rows=rows)


OVERLAPS = """() => [...document.querySelectorAll("svg.chart")].flatMap((svg) => {
    const box = (one) => [one.textContent, one.getBoundingClientRect()];
    const texts = [...svg.querySelectorAll("text")].map(box);
    const meet = (p, q, low, high, room) => p[low] + room < q[high] && q[low] + room < p[high];
    const lie = (p, q) => meet(p, q, "left", "right", 1) && meet(p, q, "top", "bottom", 2);
    return texts.flatMap(([one, p], n) =>
        texts.slice(n + 1).filter(([, q]) => lie(p, q)).map(([other]) => `${one} | ${other}`));
})"""


def test_no_text_of_a_figure_lies_upon_another(show: Show) -> None:
    queues = [{"kind": "drop_tail", "size": f"{size} bdp"} for size in (1, 2, 20)] + ["fq_codel", "cake"]
    scenario = Scenario(
        name="queues",
        duration="1 s",
        topology={"kind": "dumbbell", "bottleneck": {"rate": "5 Mbit/s", "delay": "10 ms"}},
        flows=[{"cca": "cubic", "start_jitter": "100 ms"}, {"name": "call", "workload": "voip"}],
        sweep={"topology.bottleneck.queue": queues, "topology.bottleneck.rate": ["900 kbit/s", "100 Mbit/s"]},
    )
    tab = show(page_of(sweep(scenario, (1, 2))), viewport={"width": 1280, "height": 900})
    unfold(tab)
    assert tab.locator("svg.chart text").count() > 50
    assert tab.evaluate(OVERLAPS) == []


TALL = 2 * 800
"""Two screens of 1280 x 800."""


@pytest.fixture(scope="module")
def study() -> list[Run]:
    """Two algorithms at three sizes of the queue, with four seeds: one claim, and others undecided."""
    sizes = {"topology.bottleneck.queue.size": ["0.5 bdp", "2 bdp", "8 bdp"]}
    made = Scenario(
        name="study",
        duration="4 s",
        topology={
            "kind": "dumbbell",
            "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"size": "1 bdp"}},
        },
        flows=[
            {"name": "mine", "cca": "cubic", "start_jitter": "200 ms"},
            {"name": "neighbour", "cca": "cubic", "start_jitter": "200 ms"},
        ],
        sweep={"flows.0.cca": ["cubic", "bbr3"], **sizes},
    )
    return sweep(made, (1, 2, 3, 4))


@pytest.fixture(scope="module")
def compared(study: list[Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The file that `compare -o` writes of the same study."""
    base = study[0].scenario.with_values({"topology.bottleneck.queue.size": "2 bdp"})
    every = compare_over(base, {"flows.0.cca": ["cubic", "bbr3"]}, range(1, 5))
    file = tmp_path_factory.mktemp("file") / "c.json"
    write(file, every, "fullpipe compare study.toml --over flows.0.cca=cubic,bbr3 -o c.json")
    return read(file)


@pytest.fixture(params=["sweep", "run", "comparison", "all"])
def report(request: pytest.FixtureRequest, study: list[Run], compared: dict[str, Any]) -> Document:
    """The report of a sweep, of a single run, of a comparison, and of all three."""
    made = {
        "sweep": lambda: page_of(study),
        "run": lambda: page_of(study[:1]),
        "comparison": lambda: page_of_file(compared),
    }
    return made[request.param]() if request.param in made else joined([one() for one in made.values()])


def test_two_screens_have_conclusion_figure_path_and_table(show: Show, report: Document) -> None:
    tab = show(report, viewport={"width": 1280, "height": 800})
    first = tab.locator("#p1")
    blocks = first.locator("ul.conclusion, .results > figure, .results > .scroll")
    assert blocks.count() == 4
    ends = [box["y"] + box["height"] for box in (each.bounding_box() for each in blocks.all())]
    assert ends == sorted(ends)
    assert ends[-1] < TALL
    assert tab.locator(".details details[open]").count() == 0
    assert 1 <= first.locator(".conclusion li").count() <= 5
    assert first.locator(".results > .scroll tbody tr").count() <= ALL_ROWS


def test_a_phone_scrolls_sideways_nowhere(show: Show, report: Document) -> None:
    tab = show(report, viewport={"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    unfold(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_two_screens_answer_ten_questions(show: Show, study: list[Run]) -> None:
    tab = show(page_of(study, question="Is BBRv3 fair?"), viewport={"width": 1280, "height": 800})
    parts = "h1, .question, .conclusion li, .scope, .results :is(text, th, td, figcaption, .legend)"
    code = f"""[...document.querySelectorAll("{parts}")].filter((one) =>
        one.getBoundingClientRect().bottom + scrollY < {TALL}).map((one) => one.textContent).join("\\n")"""
    text = tab.evaluate(code)
    answers = {
        "asked": "Is BBRv3 fair?",
        "algorithm": "bbr3 instead of cubic",
        "direction": r"(rises|falls|worse|better|undecided)",
        "how much, with its unit and interval": r"\d \[-?[\d.]+, [+-]?[\d.]+\] ?(Mbit/s|ms|%)?|% \[-",
        "where along the sweep": r"(buffer \d|buffer [<>]?= |buffer \(BDP\))",
        "seeds": "seeds 1 to 4",
        "version": rf"fullpipe {re.escape(study[0].meta.versions['fullpipe'])}",
        "repeat": "fullpipe run study.toml --seeds 4",
        "undecided": "undecided",
        "path": r"10 Mbit/s, 20 ms delay, queue drop_tail \d+ to \d+ packets \(0\.\d+ to 8 BDP\)",
    }
    assert [question for question, answer in answers.items() if not re.search(answer, text)] == []


def test_print_has_open_details_only_and_says_where_the_data_are(show: Show, study: list[Run]) -> None:
    tab = show(page_of(study), viewport={"width": A4, "height": 1_000})
    line = tab.locator(".printed")
    assert line.is_hidden()
    tab.emulate_media(media="print")
    assert tab.locator("details:visible").count() == 0
    assert tab.locator(".file:visible").all_inner_texts() == ["Download values.csv", "Download study.toml"]
    assert line.inner_text().startswith("Only open details are printed, of ")
    assert line.inner_text().endswith("Data are in the HTML file of this report: values.csv and study.toml.")
    tab.locator("details:has(table)").first.evaluate("(one) => { one.open = true; }")
    assert tab.locator("details:visible table").first.bounding_box()["height"] > 0


def test_a_printed_report_is_four_pages_at_most(show: Show, study: list[Run]) -> None:
    count = re.search(rb"/Count (\d+)", show(page_of(study)).pdf(format="A4"))
    assert count
    assert 1 <= int(count[1]) <= 4


def test_printed_tables_repeat_their_heads(show: Show, study: list[Run]) -> None:
    tab = unfold(show(page_of(study), viewport={"width": A4, "height": 1_000}))
    tab.emulate_media(media="print")
    heads = tab.evaluate("""[...document.querySelectorAll("thead")].map((head) => [
        getComputedStyle(head).display, getComputedStyle(head).breakInside,
        getComputedStyle(head.querySelector("button")).display]).join("; ")""")
    assert set(heads.split("; ")) == {"table-header-group,avoid,contents"}  # a box in a head is painted once
    broken = "[...document.querySelectorAll('figure, tr')].map((one) => getComputedStyle(one).breakInside)"
    assert set(tab.evaluate(broken)) == {"avoid"}
    assert tab.evaluate("document.documentElement.scrollWidth") <= A4
