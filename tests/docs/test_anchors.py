"""Links of the pages in the root, which PyPI and GitHub show: the part of a page that they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.reference_pages import pages
from tests.docs.blocks import ROOT

HERE = "https://github.com/fullpipe/fullpipe/blob/main/"
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
