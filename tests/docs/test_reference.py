"""The reference pages say what the code says."""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

import fullpipe
from fullpipe import Scenario, _native, metrics
from fullpipe.engines.native.plan import plan
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.tcp import PROFILES
from fullpipe.scenario.schema import file_schema
from scripts.api_pages import MODULES, module_pages, page, public_names
from scripts.plan_page import plan_page
from scripts.reference_pages import (
    algorithm_page,
    algorithms_page,
    links_page,
    metrics_page,
    pages,
    queues_page,
)
from scripts.scenario_page import scenario_page
from scripts.write_docs import write

ROOT = Path(__file__).resolve().parent.parent.parent
HEADINGS = [
    "Idea",
    "Source and revision",
    "Signals",
    "State diagram",
    "Deviations from the source",
    "Validated against",
]


@pytest.mark.parametrize("name", catalogue.controllers())
def test_an_algorithm_has_a_page_with_the_headings_of_its_file(name: str) -> None:
    lines = algorithm_page(name).splitlines()
    assert [line[3:] for line in lines if line.startswith("## ")][: len(HEADINGS)] == HEADINGS


@pytest.mark.parametrize("name", catalogue.controllers())
def test_a_page_shows_every_parameter_and_preset(name: str) -> None:
    page = algorithm_page(name)
    entry = catalogue.controllers()[name]
    for shown in (*entry.keys, *entry.presets):
        assert f"| `{shown}` |" in page


def test_the_table_of_algorithms_links_to_every_page() -> None:
    page = algorithms_page()
    for name in catalogue.controllers():
        assert f"(algorithms/{name}.md)" in page


def test_the_readme_counts_the_algorithms() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"**{len(catalogue.controllers())} algorithms**" in readme


def test_the_page_of_scenarios_has_every_value_that_a_host_sets() -> None:
    section = scenario_page().split("### What a host sets")[1].split("\n## ")[0]
    table = [line.replace("`", "").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    head, _, *rows = ([cell.strip("| ") for cell in line] for line in table)
    for name, said in PROFILES.items():
        shown = {row[0]: row[head.index(name)] for row in rows} if said else {}
        assert {key: json.dumps(value) for key, value in said.items()}.items() <= shown.items()


@pytest.mark.parametrize("name", catalogue.queues())
def test_a_queue_shows_its_parameters_and_its_spelling_in_tc(name: str) -> None:
    section = queues_page().split(f"## {name}: ")[1].split("\n## ")[0]
    assert all(f"| `{param}` |" in section for param in catalogue.queues()[name].keys)
    assert ("| tc |" in section) == (name not in ("step", "mac80211"))


@pytest.mark.parametrize("family", ["losses", "impairments"])
def test_a_loss_or_an_impairment_shows_its_parameters(family: str) -> None:
    page = links_page()
    for name, entry in catalogue.family(family).items():
        section = page.split(f"### {name}\n")[1].split("\n### ")[0]
        assert all(f"| `{param}` |" in section for param in entry.keys), name


def test_the_page_of_metrics_has_every_formula_and_measure() -> None:
    page = metrics_page()
    assert page.count("**Formula**") == page.count("**Source**") == page.count("\n### ")
    assert "\n### harm" in page
    assert "**Bulk flows** are the flows that compete for throughput. A bulk flow always has more" in page
    for measure in (*metrics.MEASURES, *metrics.LINK_MEASURES):
        assert f"| `{measure.name}` |" in page


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_an_entry_that_says_what_it_is(name: str) -> None:
    entries = {part.partition("\n")[0]: part for part in page(name).split("\n## ")[1:]}
    assert list(entries) == public_names(import_module(MODULES[name]))
    bare = [title for title, text in entries.items() if not any(map(_is_prose, text.splitlines()[1:]))]
    assert not bare, "write a docstring, or below a constant what it is"


@pytest.mark.parametrize("name", MODULES)
def test_a_function_says_its_types_and_what_it_raises(name: str) -> None:
    text, module = page(name), import_module(MODULES[name])
    for public in public_names(module):
        function = getattr(module, public)
        if inspect.isfunction(function):
            called = text.split(f"\n## {public}\n")[1].strip().splitlines()[0]
            assert re.search(r"\) -> .+`$", called), public
            assert all(f"{one}: " in called for one in inspect.signature(function).parameters), public
            raises = re.search(r"^ +raise [A-Z]", inspect.getsource(function), re.MULTILINE)
            assert not raises or re.search("[Rr]aise", inspect.getdoc(function) or ""), public


def _is_prose(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("`", "- `", "#"))


def test_every_module_of_the_top_level_has_a_page_that_is_linked() -> None:
    pages = module_pages()
    modules = [name for name in fullpipe.__all__ if inspect.ismodule(getattr(fullpipe, name))]
    assert modules
    for name in set(modules) - {"factors"}:  # the former name of "test"
        assert f"reference/python/{name}.md" in pages
        assert f"[`fullpipe.{name}`](python/{name}.md)" in pages["reference/python.md"]


def test_an_older_name_of_a_documented_module_is_that_module() -> None:
    for name, home in MODULES.items():
        assert import_module(name) is import_module(home)


def test_the_page_of_the_plan_has_every_field_of_a_plan_that_is_handed_over() -> None:
    text = plan_page()
    shown = plan(Scenario.named("single-reno"))
    [flow] = shown["flows"]
    for name in (*shown, *shown["links"][0], *flow, *flow["tcp"], *shown["record"]):
        assert f"| `{name}` |" in text


def test_the_page_of_the_plan_has_every_part_of_its_schema() -> None:
    text = plan_page()
    for name in json.loads(_native.plan_schema())["$defs"]:
        assert f"\n## {name}\n" in text


def test_the_pages_are_files_beside_those_that_are_written_by_hand(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "left.md").write_text("of a page that is no more", encoding="utf-8")
    made = write(folder)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    by_hand = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    made_of_code = set(pages())
    assert found == by_hand | made_of_code
    assert made == len(made_of_code) > 40
    assert (folder / "assets" / "kato2025-figure-2.svg").exists()
    links = (
        (page.parent / link, page) for page in folder.rglob("*.md") for link in LINK.findall(_prose(page))
    )
    dead = [
        f"{page.name}: {file}" for file, page in links if not file.exists() and "notebooks" not in file.parts
    ]
    assert dead == []


LINK = re.compile(r"\]\((?!https?:)([\w./-]+\.md)(?:#[\w-]*)?\)")


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_the_page_of_scenarios_has_every_key_with_its_type() -> None:
    text = scenario_page()
    assert "| `rate` | rate, more than 0 bit/s |" in text
    assert '| `start` | duration | `"0 s"` | Time at which the flow starts to send. |' in text
    assert "| `initial_window` | whole number, at least 1 and at most 10,000 | `10` |" in text
    for name, definition in file_schema()["definitions"].items():
        for key in definition.get("properties", ()):
            assert name.endswith("Part") or f"| `{key}` |" in text


def test_links_within_the_page_of_scenarios_lead_somewhere() -> None:
    text = scenario_page()
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line[:1] == "#"}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings
