"""The pages of the studies have room for their verdicts, and verdicts are in no other place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fullpipe import studies
from fullpipe.studies.verdicts import Cause
from scripts.study_pages import BEGIN, END, PAGES, renew_figures, with_points, with_verdicts


def test_verdicts_replace_what_lies_between_the_marks() -> None:
    assert with_verdicts(f"a\n{BEGIN}\nold\n{END}\nb\n", "new\n") == f"a\n{BEGIN}\nnew\n{END}\nb\n"
    with pytest.raises(ValueError, match="no <!-- verdicts -->"):
        with_verdicts("a page", "new")


def test_figures_that_pages_show_are_renewed_and_no_others(tmp_path: Path) -> None:
    (drawn := tmp_path / "runs" / "papers" / "kato2025").mkdir(parents=True)
    (assets := tmp_path / "assets").mkdir()
    for name in ("figure-2.svg", "figure-3.svg"):
        (drawn / name).write_text("new", encoding="utf-8")
    for name in ("kato2025-figure-2.svg", "two-flows-rtt.svg"):
        (assets / name).write_text("old", encoding="utf-8")
    assert renew_figures(tmp_path / "runs", assets) == [assets / "kato2025-figure-2.svg"]
    assert {path.name: path.read_text() for path in assets.iterdir()} == {
        "kato2025-figure-2.svg": "new",
        "two-flows-rtt.svg": "old",
    }


@pytest.mark.parametrize("study", studies.names())
def test_the_page_of_a_study_has_a_verdict_on_every_claim(study: str) -> None:
    page = (PAGES / f"{study}.md").read_text(encoding="utf-8")
    shown = page.partition(BEGIN)[2].partition(END)[0]
    claims = {claim.id for claim in studies.printed(study)}
    rows = {line.split(" | ")[0].removeprefix("| ") for line in shown.splitlines() if line.startswith("| ")}
    assert claims <= rows


@pytest.mark.parametrize("study", studies.names())
def test_the_page_of_a_study_begins_with_who_wrote_what_where_and_when(study: str) -> None:
    page = (PAGES / f"{study}.md").read_text(encoding="utf-8")
    cited = re.match(
        r"# .+\n\n\*\*The study\*\*: (?P<authors>.+?): \"(?P<title>.+?)\", (?P<where>.+)\n", page
    )
    assert cited is not None
    assert "2025" in cited["where"]
    assert re.search(r"doi\.org/10\.|ISBN|repository\.", cited["where"])


def test_the_page_on_verdicts_lists_every_cause() -> None:
    page = " ".join((PAGES / "verdicts.md").read_text(encoding="utf-8").split())
    listed = page.partition("has one of these causes: ")[2].partition(". ")[0]
    assert listed == ", ".join(Cause)


def test_points_replace_what_lies_below_the_mark_with_their_title() -> None:
    page = "a\n<!-- One -->\n{}\n<!-- end of points -->\nb\n<!-- Two -->\n{}\n<!-- end of points -->\n"
    new = with_points(page.format("old", ""), "## One\n\n| 1 |\n\n## Two\n\n| 2 |\n")
    assert new == page.format("| 1 |", "| 2 |")
    with pytest.raises(ValueError, match="no <!-- Three"):
        with_points(page, "## Three\n\n| 3 |\n")
