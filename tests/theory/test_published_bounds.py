"""Tests that others have published, against the tables of docs/explanation/published-bounds.md.

A change of the simulator that moves a verdict renews the tables with
`python -m scripts.published_bounds --write`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from scripts.published_bounds import CAUSES, GROUPS, PAGE, Case, with_table

ROW = re.compile(r"\| (\w+) \| (\w+) \| [\d. ()]+ \| ([\d.]+) \([^)]*\) \| (.*) \|")
PRINTED = {(group, *found[:2]): found[2:] for group in GROUPS for found in ROW.findall(
    PAGE.read_text("utf-8").split(f"<!-- {group} -->")[1].split("<!-- end")[0]
)}  # fmt: skip
"""Mean in s and verdict of every row of the page."""
CASES = [(group, case) for group, cases in GROUPS.items() for case in cases]


def word(verdict: str) -> str:
    """The verdict without its numbers."""
    return verdict.split(maxsplit=1)[0]


def test_the_page_has_a_row_per_test() -> None:
    assert list(PRINTED) == [(group, case.name, case.cca) for group, case in CASES]


@pytest.mark.parametrize("n", range(len(CASES)))
def test_times_and_verdicts_are_those_of_the_page(n: int, cases: Callable[[int], int]) -> None:
    if n >= cases(len(CASES)):
        pytest.skip("--long runs all tests")
    group, case = CASES[n]
    mean, verdict = PRINTED[group, case.name, case.cca]
    *_, ours, found = case.row()
    assert float(ours.split()[0]) == pytest.approx(float(mean), rel=0.03)
    assert word(found) == word(verdict)


def test_every_cause_is_a_section_of_the_page() -> None:
    headings = re.findall(r"^## (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    assert {cause.partition("#")[2].rstrip(")") for cause in CAUSES.values()} <= anchors


def test_a_table_is_replaced_between_its_marks() -> None:
    text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"
    assert with_table(text, "x", "new") == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"


def test_tests_are_distinct_scenarios() -> None:
    def digest(group: str, case: Case) -> tuple[str, str]:
        return group, case.scenario().digest

    assert len({digest(*one) for one in CASES}) == len(CASES)
