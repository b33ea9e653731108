"""Layout of a report on screens, on a phone and on paper."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from fullpipe import Run, Scenario, compare_over, sweep
from fullpipe.cli.compare_variants import write
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
    Line,
    Lines,
    Look,
    Path,
    PathHop,
    PathNode,
    PathRoute,
    Section,
    Series,
    Table,
    Trace,
    joined,
)
from fullpipe.report.files import read
from fullpipe.report.from_file import page_of_file
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from tests.report.pages import Show, drawn, page_with, section, unfold

A4 = 718
"""Points between the margins of a page in print."""


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
    tab = unfold(show(page, color_scheme=scheme, viewport={"width": 700, "height": 900}))
    table = tab.locator(".scroll").first

    def shaded() -> list[bool]:
        """Whether the left and the right edge are, below the text of every row."""
        points = matplotlib.image.imread(io.BytesIO(table.screenshot()))[-3, :, :3]
        middle = np.median(points, axis=0)
        return [bool(np.abs(edge - middle).max() > 0.02) for edge in (points[0], points[-1])]

    assert shaded() == [False, True]
    table.evaluate("(it) => it.scrollTo((it.scrollWidth - it.clientWidth) / 2, 0)")
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
        duration="16 s",
        warmup="1 s",
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


def test_a_sweep_of_variants_asks_about_its_axis_and_answers(study: list[Run]) -> None:
    whole, asked = page_of(study).parts[0], page_of(study, metrics=["rtt_mean"]).parts[0]
    assert whole.question == "Is bbr3 better or worse than cubic in study, and does this depend on buffer?"
    assert whole.conclusion[-1].startswith("Goodput of mine ")
    assert "buffer" in whole.conclusion[-1]
    of_all = [line for line in asked.conclusion if "ean RTT of all flows" in line]
    assert len(of_all) == 2  # the verdicts on the variants, and the means along the axis
    assert len(whole.conclusion) <= 5 >= len(asked.conclusion)


def test_runs_over_time_include_those_of_the_first_sentence(study: list[Run]) -> None:
    page = page_of(study, budget=Budget(runs_over_time=3))
    named = [each.heading for each in section(page, "Over time").sections]
    place = re.search(r"buffer = (\S+ BDP)|at buffer (\S+ BDP)", page.parts[0].conclusion[0])
    assert place
    size = place[1] or place[2]
    of_variants = [name for name in named if f"buffer {size}" in name]
    assert sorted(re.findall(r"algorithm (\w+)", " ".join(of_variants))) == ["BBRv3", "CUBIC"]


def test_a_phone_scrolls_sideways_nowhere(show: Show, report: Document) -> None:
    tab = show(report, viewport={"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    unfold(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    wider = """[...document.querySelectorAll(".scroll, pre")].filter(
        (one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).map((one) => one.textContent)"""
    assert tab.evaluate(wider) == []


NAMES = [
    "goodput, mine, queue fq_codel, algorithm cubic",
    "goodput, neighbour, queue codel, algorithm bbr3 and vegas instead of cubic and reno",
]
LOOK = Look(2)
FIGURES = {
    "forest": Forest(
        "difference / margin (logarithmic beyond 1)",
        [Difference(name, 12.0, -3.0, 400.0, "worse", "-40.6 % [-63.6, -17.7]") for name in NAMES],
        has_margin=True,
    ),
    "heat": Heat(
        "algorithm",
        "queue",
        ["cubic", "bbr3", "reno", "vegas", "illinois", "westwood"],
        ["codel", "fq_codel", "pie"],
        [[0.8, 12.35, 5.0, 7.1, 8.0, 9.0]] * 3,
        label="goodput (Mbit/s)",
    ),
    "boxes": Boxes("goodput (Mbit/s)", [Box(name, LOOK, (1, 2, 3, 4, 5), 7) for name in NAMES]),
    "path": Path(
        [PathNode("neighbour", True, 0, 0.0), PathNode("", False, 1, 0.5), PathNode("server", True, 2, 0.0)],
        [PathHop((0, 1)), PathHop((1, 2))],
        [PathRoute("neighbour (cubic)", LOOK, [0, 1, 2])],
        ["1  bottleneck: 10 Mbit/s, 20 ms delay, queue codel or fq_codel or pie or drop_tail, loss 1 %"],
    ),
}
BEYOND = """(still) => {
    const view = still.getBoundingClientRect();
    const texts = [...still.querySelectorAll("text")].filter((one) => one.checkVisibility());
    return texts.filter((one) => {
        const box = one.getBoundingClientRect();
        return box.left < view.left - 1 || box.right > view.right + 1;
    }).map((one) => one.textContent);
}"""


@pytest.mark.parametrize("width", [320, 390, 640, 1280])
@pytest.mark.parametrize("chart", FIGURES.values(), ids=FIGURES)
def test_charts_fit_every_screen_with_readable_letters(show: Show, chart: Chart, width: int) -> None:
    tab = show(
        page_with(Section("Figures", [Figure("Caption.", chart, "told")])),
        viewport={"width": width, "height": 844},
    )
    still = unfold(tab).locator(".still")
    assert still.evaluate("(one) => one.scrollWidth") == still.evaluate("(one) => one.clientWidth")
    assert still.evaluate(BEYOND) == []
    assert tab.evaluate(OVERLAPS) == []
    shown = still.locator("svg:visible")
    drawn = shown.evaluate("(one) => one.getBoundingClientRect().width / one.viewBox.baseVal.width")
    assert 12 * drawn >= 9, "letters of 12 pixels at the scale of the drawing"


UNSCRIPTED = {
    "lines": Lines("buffer (BDP)", "goodput (Mbit/s)", [Line("cubic", LOOK, [(1, 2, 1, 3), (8, 1, 0, 2)])]),
    "series": Series("smoothed RTT (ms)", 0.0, 0.1, [Trace("cubic", LOOK, np.arange(400.0))]),
}


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("chart", UNSCRIPTED.values(), ids=UNSCRIPTED)
def test_lines_fit_every_screen_without_scripts(show: Show, chart: Chart, width: int) -> None:
    page = page_with(Section("Figures", [Figure("Caption.", chart, "told")]))
    tab = show(page, viewport={"width": width, "height": 844}, java_script_enabled=False)
    still = unfold(tab).locator(".still")
    assert still.evaluate("(one) => one.scrollWidth") == still.evaluate("(one) => one.clientWidth")
    assert still.evaluate(BEYOND) == []
    assert tab.evaluate(OVERLAPS) == []


def test_a_phone_shows_each_row_of_a_table_with_verdicts_as_a_block(
    show: Show, compared: dict[str, Any]
) -> None:
    tab = show(page_of_file(compared), viewport={"width": 390, "height": 844})
    table = tab.locator(".results > .scroll")
    assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    cells = table.locator("tbody tr").first.locator("th, td")
    heads = cells.evaluate_all("(all) => all.map((one) => one.dataset.head)")
    assert {"metric", "difference [95 %]", "verdict"} <= set(heads)
    shown = cells.evaluate_all("(all) => all.map((one) => getComputedStyle(one, '::before').content)")
    assert shown == [f'"{head} "' for head in heads]
    boxes = [cell.bounding_box() for cell in table.locator("tbody").locator("th, td").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert tab.locator(".results thead:visible").count() == 0


def test_means_of_ten_metrics_fit_a_wide_screen(show: Show) -> None:
    heads = [Column("buffer"), Column("algorithm"), Column("flows")]
    names = ("goodput (Mbit/s)", "mean one-way delay (ms)", "p95 RTT (ms)", "dropped data packet share (%)")
    metrics = [Column(f"{name} {n}", is_number=True) for n, name in enumerate([*names, *names, *names[:2]])]
    cells = [[f"{n}{place}.87 [228.86, {n}{place}.13]" for place in range(10, 20)] for n in range(3)]
    table = Table("Means", [*heads, *metrics], [["0.5 BDP", f"cubic{n}", "new", *cells[n]] for n in range(3)])
    tab = unfold(show(page_with(Section("Means", [table])), viewport={"width": 1280, "height": 800}))
    assert tab.locator(".scroll").evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_charts_that_do_not_fit_a_phone_scroll_with_a_shaded_edge(show: Show) -> None:
    columns = [f"{n}" for n in range(14)]
    chart = Heat("x", "y", columns, ["a"], [[float(f"{n}.5") for n in range(14)]])
    page = page_with(Section("Figures", [Figure("Caption.", chart, "told")]))
    still = unfold(show(page, viewport={"width": 390, "height": 844})).locator(".still")
    assert still.evaluate("(one) => one.scrollWidth > one.clientWidth")
    points = matplotlib.image.imread(io.BytesIO(still.screenshot()))[-3, :, :3]
    assert np.abs(points[-1] - np.median(points, axis=0)).max() > 0.02


@pytest.mark.parametrize("levels", [2, 4, 7])
def test_the_verdicts_of_a_test_are_in_view(show: Show, levels: int) -> None:
    means = [Column(f"algorithm {n}", is_number=True) for n in range(levels)]
    heads = [Column("queue"), Column("flows or link"), Column("metric"), *means, Column("between")]
    numbers = [Column(name, is_number=True) for name in ("largest difference [95 %]", "effect size", "p")]
    row = ["fq_codel", "neighbour", "goodput (Mbit/s)", *(f"{100 + n}.25" for n in range(levels))]
    row += ["cubic and reno", "-40.6 % [-63.6, -17.7]", "eta² 0.792 [0.202, 0.862]", "0.0072"]
    rows = [[*row[:-1], f"0.00{n}", f"undecided (about {n} seeds)"] for n in range(1, 4)]
    unlike = [[f"queue {n}", *each[1:3], *(f"{n}{cell}" for cell in each[3:])] for n, each in enumerate(rows)]
    table = Table("Means", [*heads, *numbers, Column("verdict", is_verdict=True)], unlike, is_tight=True)
    tab = unfold(show(page_with(Section("Tables", [table])), viewport={"width": 1280, "height": 800}))
    box = tab.locator("tbody td:last-child").first.bounding_box()
    assert box["x"] + box["width"] <= 1280 - 24


def test_two_screens_answer_twelve_questions(show: Show, study: list[Run]) -> None:
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
        "simulated": "simulated with fullpipe's native engine, model version ",
        "how long": "16 s, 1 s of them warm-up; start jitter up to 200 ms; MSS 1,448 B",
        "undecided": "undecided",
        "path": r"10 Mbit/s, 20 ms delay, queue drop_tail \d+ to \d+ packets \(0\.\d+ to 8 BDP\)",
    }
    assert [question for question, answer in answers.items() if not re.search(answer, text)] == []


def test_print_has_open_details_only_and_says_where_the_data_are(show: Show, study: list[Run]) -> None:
    tab = show(page_of(study), viewport={"width": A4, "height": 1_000})
    line = tab.locator(".printed")
    assert line.is_hidden()
    tab.emulate_media(media="print")
    assert tab.locator(".details details:visible").count() == 0
    assert tab.locator(".file:visible").all_inner_texts() == [
        f"Download {name}" for name in ("values.csv", "study.toml", "scenarios.json")
    ]
    assert line.inner_text().startswith("Only open details are printed, of ")
    assert line.inner_text().endswith(
        "Data are in the HTML file of this report: values.csv, study.toml and scenarios.json."
    )
    tab.locator("details:has(table)").first.evaluate("(one) => { one.open = true; }")
    assert tab.locator("details:visible table").first.bounding_box()["height"] > 0


def test_print_has_the_folded_scenario(show: Show, study: list[Run]) -> None:
    tab = show(page_of(study), viewport={"width": A4, "height": 1_000})
    folded = tab.locator("#provenance details pre")
    assert folded.is_hidden()
    tab.emulate_media(media="print")
    assert folded.bounding_box()["height"] > 200
    assert 'duration = "16 s"' in folded.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_headings_of_long_tables_stay_in_view(show: Show, scheme: str) -> None:
    columns = [
        Column("queue"),
        Column("goodput (Mbit/s)", is_number=True),
        Column("verdict", is_verdict=True),
    ]
    table = Table("All findings", columns, [[f"queue {n}", f"{n}.25", "worse"] for n in range(60)])
    page = page_with(Section("Tables", [table]))
    tab = unfold(show(page, color_scheme=scheme, viewport={"width": 1280, "height": 800}))
    head, region = tab.locator("thead th").first, tab.locator(".scroll")
    region.evaluate("(one) => { one.scrollTop = 700; }")
    region.scroll_into_view_if_needed()
    assert head.bounding_box()["y"] == pytest.approx(region.bounding_box()["y"], abs=2)
    hit = """(one) => { const box = one.getBoundingClientRect();
        return one.contains(document.elementFromPoint(box.left + 5, box.top + box.height / 2)); }"""
    assert head.evaluate(hit), "no row covers the heading"
    tab.emulate_media(media="print")
    assert region.evaluate("(one) => one.scrollHeight <= one.clientHeight + 1")


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
