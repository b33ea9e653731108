"""Links of pages that PyPI and GitHub show: the page, and the part of a page, that they name is there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from scripts.reference_pages import pages
from scripts.write_docs import SITE
from tests.docs.blocks import ROOT

HERE = "https://github.com/fullpipe/fullpipe/blob/main/"
FILE = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[\w-]*)?\)")
"""A link to a file, relative to the page."""
PUBLISHED = re.compile(rf"\]\({re.escape(SITE)}([\w./-]*)(?:#[\w-]*)?\)")
NOTEBOOKS = [f"notebooks/{path.stem}" for path in (ROOT / "docs" / "notebooks").glob("*.py")]
LINK = re.compile(rf"\]\((?:{re.escape(HERE)})?((?:[\w./-]+\.md)?)#([\w-]+)\)")


def anchors(text: str) -> set[str]:
    """What GitHub and mkdocs call the headings of a page: in small letters, with dashes for spaces."""
    bare = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ +(.+)$", bare, re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def missing(page: Path) -> list[str]:
    """Links of a page to headings that are not there."""
    text = page.read_text(encoding="utf-8")
    named = LINK.findall(text)
    return [
        f"{path}#{anchor}" for path, anchor in named if anchor not in anchors(_text(path) if path else text)
    ]


def dead(page: Path) -> list[str]:
    """Links of a page to files that a clone lacks, and to pages that the site lacks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = [link for link in FILE.findall(text) if not (page.parent / link).exists()]
    return found + [path for path in PUBLISHED.findall(text) if path not in _published()]


@cache
def _published() -> frozenset[str]:
    """Addresses of all pages of the site, below its own."""
    kept = (page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md"))
    return frozenset(f"{name.removesuffix('.md')}/" for name in [*pages(), *NOTEBOOKS, *kept]) | {""}


def _text(path: str) -> str:
    """A page as it is kept, or as it is made from the code."""
    kept = ROOT / path
    return kept.read_text(encoding="utf-8") if kept.exists() else pages()[path.removeprefix("docs/")]


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_to_parts_of_pages_lead_there(page: Path) -> None:
    assert missing(page) == []


def test_a_link_to_a_part_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"# Here I am\n[a](#here-i-am) [b](#away) [c]({HERE}docs/how-to/queues.md#away)",
        encoding="utf-8",
    )
    assert missing(page) == ["#away", "docs/how-to/queues.md#away"]


@pytest.mark.parametrize(
    "page",
    sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]),
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_links_of_a_clone_lead_to_files_and_published_pages(page: Path) -> None:
    assert dead(page) == []


def test_a_link_to_a_page_that_only_the_site_has_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        f"[a](gallery.md) [b]({SITE}gallery/#x) [c]({SITE}none/) ![d](page.md) [e](#here)", encoding="utf-8"
    )
    assert dead(page) == ["gallery.md", "none/"]
