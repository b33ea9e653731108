"""The findings of comparisons on a terminal: the conclusion, and one table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import isnan
from textwrap import wrap
from typing import Any

from fullpipe.cli.console import styled, table, terminal
from fullpipe.cli.shown import (
    INTERVAL,
    LONGEST,
    MARGIN,
    difference_shown,
    heading,
    margin_shown,
    number_shown,
    point_shown,
    unit_shown,
)
from fullpipe.validation.compare import Finding
from fullpipe.validation.compare.finding import known

MOST_ROWS = 12
"""Rows of a table unless all are asked for."""
_LONGEST_HEADING = 10
"""Characters of a column's name; a longer one is replaced by "reference" or "other"."""
_NO_BREAK = "\u00a0"
_GLUED = re.compile(r"(?<=\d) (?=%|ms\b|Mbit/s|\[)|(?<=%) (?=\[)|(?<=\d,) (?=[-+\d.,]+\])|(?<=²) (?=\d)")
"""Spaces at which no line ends: between a number, its unit and its interval."""
_WIDE = 100
"""Columns of a terminal in which margins stay on one line."""
_LONGEST_PLACE = 32
"""Characters of a line that names a group."""
_COLOURS = {"better": "green", "worse": "red", "equivalent": "", "undecided": "dim"}


def show_conclusion(sentences: Sequence[str]) -> None:
    """Print sentences as the first paragraph."""
    console = terminal()
    for n, sentence in enumerate(sentences):
        lines = wrap(_GLUED.sub(_NO_BREAK, sentence), console.width, break_on_hyphens=False)
        text = "\n".join(lines).replace(_NO_BREAK, " ")
        console.print(styled(text, "bold" if n == 0 else ""), soft_wrap=True)
    if sentences:
        console.print()


def show_findings(
    findings: Sequence[Finding],
    *,
    all_rows: bool,
    first: Callable[[Finding], Any] | None = None,
    level: str = "95 %",
) -> None:
    """Print a table of findings, of many the first ones.

    Args:
        findings: In their order.
        all_rows: Print all of them.
        first: Sorting key of the rows that are kept; left out, their order.
        level: Of the intervals.
    """
    chosen = list(findings)
    if not all_rows and len(chosen) > MOST_ROWS:
        kept = sorted(chosen, key=first)[:MOST_ROWS] if first else chosen[:MOST_ROWS]
        chosen = [each for each in chosen if any(each is one for one in kept)]
    console = terminal()
    for part in _by_names(chosen):
        console.print(_table(part, level, console.width, several=_has_several_sides(findings)))
    left = len(findings) - len(chosen)
    if left:
        console.print(styled(f"{left:,} more rows: --all prints them", "dim"))


def _by_names(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings in tables: sides with short names have columns of these names."""
    parts: list[tuple[tuple[str, str], list[Finding]]] = []
    for each in findings:
        if not parts or parts[-1][0] != _headings(each):
            parts.append((_headings(each), []))
        parts[-1][1].append(each)
    return [part for _, part in parts]


def _headings(found: Finding) -> tuple[str, str]:
    is_short = max(map(len, found.sides)) <= _LONGEST_HEADING
    return found.sides if is_short else ("reference", "other")


def _has_several_sides(findings: Sequence[Finding]) -> bool:
    return len({each.sides for each in findings}) > 1


def _table(findings: Sequence[Finding], level: str, width: int, *, several: bool) -> Any:
    made = table("", *_headings(findings[0]), f"difference [{level}]", "margin", last="verdict")
    name, _, _, difference, margin, verdict = made.columns
    name.no_wrap, difference.no_wrap, verdict.min_width = True, False, 10
    if width < _WIDE:
        margin.no_wrap, difference.min_width, margin.max_width = False, INTERVAL, MARGIN
    place = None
    for each in findings:
        if place != (place := _place(each, several=several)):
            longest = _LONGEST_PLACE if width >= _WIDE else LONGEST
            made.add_row(styled(heading(place, longest), "bold"))
        of = each.unit, each.metric
        unit = unit_shown(each.unit)
        made.add_row(
            f" {each.metric} {unit if unit != each.unit or unit == 's' else ''}",
            number_shown(each.reference, *of),
            number_shown(known(each.other), *of),
            _difference(each),
            margin_shown(each.margin, *of),
            styled(_verdict(each), _COLOURS.get(each.verdict, "yellow")),
        )
        sides = (each.left_out.reference, each.left_out.other) if each.left_out else ()
        if any(side.unfinished for side in sides):
            made.add_row("  unfinished", *(f"{side.unfinished:,} of {side.began:,}" for side in sides))
    return made


def _difference(found: Finding) -> str:
    if isnan(found.difference):
        return "-"
    return difference_shown(found.difference, found.interval, found.reference, found.unit, found.metric)


def _place(found: Finding, *, several: bool) -> str:
    """Side, case, point and group of a row."""
    other = [found.sides[1]] if several else []
    return ", ".join(filter(None, [*other, found.case, *point_shown(found.point), found.of]))


def _verdict(found: Finding) -> str:
    if found.rule == "lacking" or found.reason.startswith("a run has"):
        return f"{found.verdict}: {found.reason}"
    return f"{found.verdict} (about {found.seeds:,} seeds)" if found.seeds else found.verdict
