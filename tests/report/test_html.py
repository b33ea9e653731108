"""A report is one safe, small and repeatable file."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from urllib.parse import unquote

import pytest

from fullpipe import run
from fullpipe.report.content import Document, Download, Part, joined
from fullpipe.report.html import html
from fullpipe.report.markdown import markdown
from fullpipe.report.recipe import Recipe
from fullpipe.report.rows import Budget
from fullpipe.report.runs.page import page_of
from fullpipe.runs import Run
from tests.report.pages import copies, hostile_page, hostile_runs, runs_of, scenario

SAMPLES = Budget().samples
ALLOWED = {
    "wbr",
    *("html", "head", "meta", "title", "style", "body", "a", "script", "header", "p", "h1", "h2"),
    *("h3", "h4", "nav", "ul", "li", "main", "section", "div", "table", "caption", "thead", "tbody"),
    *("tr", "th", "td", "i", "span", "details", "summary", "pre", "code", "figure", "figcaption", "svg"),
    *("line", "text", "polygon", "polyline", "circle", "path", "rect", "g", "img", "footer", "dl", "dt"),
    *("dd", "h5"),
}


class Elements(HTMLParser):
    """Every element with its attributes, and text by the element that it is in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return runs_of()


@pytest.fixture(scope="module")
def thousand() -> list[Run]:
    """Five points with two hundred seeds each."""
    rates = ("5 Mbit/s", "10 Mbit/s", "20 Mbit/s", "40 Mbit/s", "80 Mbit/s")
    return [copy for one in runs_of(rates, 1) for copy in copies(one, 200)]


def test_the_same_runs_in_any_order_give_the_same_bytes(runs: list[Run]) -> None:
    assert html(page_of(runs), SAMPLES) == html(page_of(runs[::-1]), SAMPLES)


@pytest.mark.slow
def test_a_page_of_a_thousand_runs_is_below_two_megabytes(thousand: list[Run]) -> None:
    text = html(page_of(thousand), SAMPLES)
    assert "1,000 runs of 5 points" in text
    assert len(text.encode()) < 2_000_000


def test_a_page_is_below_two_hundred_kilobytes_without_its_data(runs: list[Run]) -> None:
    text = html(page_of(runs), SAMPLES)
    without = re.sub(r'"levels":\[.*?\]|href="data:[^"]*"', "", text)
    assert len(without.encode()) < 200_000


def test_samples_beyond_the_budget_are_told_and_left_out(runs: list[Run]) -> None:
    whole, small = (html(page_of(runs[:1]), samples) for samples in (SAMPLES, 50))
    assert "the smallest and the largest of every" in small
    assert "the smallest and the largest of every" not in whole
    assert sum(map(len, _samples(small))) < sum(map(len, _samples(whole)))


def test_rows_beyond_the_budget_are_told(runs: list[Run]) -> None:
    text = html(page_of(runs, budget=Budget(rows=4)), SAMPLES)
    assert "The first 4 of 6 runs are shown; 2 are left out here." in text


def test_values_beyond_the_budget_are_told(runs: list[Run]) -> None:
    text = html(page_of(runs, budget=Budget(csv_bytes=400)), SAMPLES)
    assert re.search(r"The first \d of 24 rows are shown; \d+ are left out\.", text)


def test_nothing_is_fetched_and_only_its_own_scripts_may_run(runs: list[Run]) -> None:
    text = html(page_of(runs), SAMPLES)
    found = Elements(text).found
    links = [value for tag, attrs in found for name, value in attrs.items() if name in ("href", "src")]
    assert links
    assert all(str(link).startswith(("#", "data:")) for link in links)
    (policy,) = [str(a["content"]) for tag, a in found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for body in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL):
        assert b64encode(sha256(body.encode()).digest()).decode() in policy


def test_no_element_has_a_style_or_a_handler(runs: list[Run]) -> None:
    names = {name for _, attrs in Elements(html(page_of(runs), SAMPLES)).found for name in attrs}
    assert not [name for name in names if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("made", [hostile_page, lambda: page_of(hostile_runs())])
def test_hostile_text_is_text_in_html(made: Callable[[], Document]) -> None:
    found = Elements(html(made(), SAMPLES))
    assert {tag for tag, _ in found.found} <= ALLOWED
    assert not [name for _, attrs in found.found for name in attrs if name.startswith("on")]
    assert "<script>alert(1)</script>" in found.text
    assert "\u202e" not in found.text
    assert "\x1b" not in found.text


def test_hostile_text_is_text_in_the_numbers_of_figures() -> None:
    text = html(page_of(hostile_runs()), SAMPLES)
    blocks = re.findall(r'<script type="application/json" class="series">(.*?)</script>', text)
    labels = [trace["label"] for block in blocks for trace in json.loads(block)["traces"]]
    assert any("</script><script>alert(1)" in label for label in labels)


@pytest.mark.parametrize("made", [hostile_page, lambda: page_of(hostile_runs())])
def test_hostile_text_is_text_in_markdown(made: Callable[[], Document]) -> None:
    text = markdown(made())
    prose = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<" not in prose
    assert "\u202e" not in text
    rows = [line for line in prose.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows[:3]}) == 1


def test_a_name_that_a_spreadsheet_would_run_is_text_in_the_download() -> None:
    text = html(page_of([run(scenario(**{"flows.0.name": "+1+1"}))]), SAMPLES)
    assert ",'+1+1," in _csv(text)


def test_the_download_has_every_value(runs: list[Run]) -> None:
    lines = _csv(html(page_of(runs), SAMPLES)).splitlines()
    assert lines[0].startswith("topology.bottleneck.rate,engine,seed,kind,of,goodput (bit/s),")
    assert len(lines) == 1 + len(runs) * 4
    row = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert (row["seed"], row["of"]) == ("1", "cubic-1")
    assert float(row["goodput (bit/s)"]) == pytest.approx(runs[0].flows["goodput_bps"][0])


def test_headings_go_down_by_one_and_tables_name_their_columns(runs: list[Run]) -> None:
    found = Elements(html(page_of(runs), SAMPLES)).found
    levels = [int(tag[1]) for tag, _ in found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in found if tag == "th")
    pictures = [attrs for tag, attrs in found if tag == "svg" and "aria-hidden" not in attrs]
    assert pictures
    assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in pictures)


def test_nothing_of_the_machine_is_told(runs: list[Run]) -> None:
    text = html(page_of(runs), SAMPLES)
    host = runs[0].meta.host
    assert str(host["system"]) not in text
    assert "started" not in text


def _samples(text: str) -> list[str]:
    return re.findall(r'"values":"(.*?)"', text)


def _csv(text: str) -> str:
    (data,) = re.findall(r'download="values.csv" href="data:text/csv;charset=utf-8,([^"]*)"', text)
    return unquote(data.replace("&amp;", "&").replace("&#x27;", "'"))


def test_what_a_page_needs_comes_with_the_package_and_its_licence() -> None:
    built = files("fullpipe.report").joinpath("static")
    assert {path.name for path in built.iterdir()} == {"report.js", "charts.css", "third-party.txt"}
    credits, licences = (built.joinpath(name).read_text("utf-8") for name in ("report.js", "third-party.txt"))
    for owner in ("Leon Sorokin", "Preact Team"):
        assert owner in credits.splitlines()[0]
        assert owner in licences
    assert "Permission is hereby granted" in licences


def test_files_of_one_name_have_names_of_their_own_in_commands_too() -> None:
    def page(content: str) -> Document:
        told = Recipe(["fullpipe run a.toml --out my-a.toml"], ["Save the scenario as a.toml."])
        file = Download("a.toml", "application/toml", content)
        part = Part("?", ["yes"], command="fullpipe run a.toml", recipe=told, data=[file], heading=content)
        return Document(content, [part])

    made = joined([page("one"), page("two"), page("one")])
    assert [file.name for file in made.data] == ["a.toml", "a-2.toml"]
    assert [part.command.split()[-1] for part in made.parts] == ["a.toml", "a-2.toml", "a.toml"]
    told = made.parts[1].recipe
    assert told == Recipe(["fullpipe run a-2.toml --out my-a.toml"], ["Save the scenario as a-2.toml."])
    assert [file.note for file in made.data] == ["one.", "two."]
