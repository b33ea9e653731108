"""The findings of comparisons on a terminal: one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any

from fullpipe.cli.answer import Answer, Row, fits
from fullpipe.cli.shown import difference_shown, margin_shown, number_shown, unit_shown
from fullpipe.validation.compare import Finding
from fullpipe.validation.compare.finding import known
from fullpipe.validation.compare.names import Names

_LONGEST_HEADING = 10
"""Characters of a column's name; a longer one is replaced by "reference" or "other"."""
_COLOURS = {
    "better": "green",
    "worse": "red",
    "equivalent": "",
    "undecided": "dim",
    "regressed": "red",
    "not worse": "",
}
_MARGIN = 4
"""Place of the column of margins."""


def show_findings(
    answer: Answer,
    findings: Sequence[Finding],
    names: Names,
    *,
    first: Callable[[Finding], Any] | None = None,
    level: str = "95 %",
) -> None:
    """Print a table of findings, of many the first ones.

    Margins are in a line below the table if the terminal is too narrow for their column.

    Args:
        answer: Answer that the table belongs to.
        findings: Findings in the order of the table.
        names: Names of sides and points.
        first: Sorting key of the rows that are kept; left out, their order.
        level: Level of the intervals.
    """
    headings = ["", *_headings(findings, names), f"difference [{level}]", "margin", "verdict"]
    several = len({each.sides for each in findings}) > 1

    def row(found: Finding) -> Row:
        return _row(found, names.place(found, with_side=several))

    ranked = sorted(findings, key=first) if first else findings
    if fits(headings, [row(each) for each in answer.first_of(ranked)], answer.width):
        answer.table(headings, findings, row, first)
        return
    del headings[_MARGIN]
    shown = answer.table(headings, findings, lambda found: _without_margin(row(found)), first)
    margins = {
        each.metric: margin_shown(each.margin, each.unit, each.metric, has_unit=True) for each in shown
    }
    answer.say(f"margins: {'; '.join(f'{metric} {margin}' for metric, margin in margins.items())}")


def _headings(findings: Sequence[Finding], names: Names) -> list[str]:
    """The names of both sides if they are the same in all rows and short."""
    reference, other = ({names.value(each.sides[n]) for each in findings} for n in (0, 1))
    single = [name for of_side in (reference, other) if len(of_side) == 1 for name in of_side]
    if max(map(len, single), default=0) > _LONGEST_HEADING:
        return ["reference", "other"]
    return [
        next(iter(of_side)) if len(of_side) == 1 else word
        for of_side, word in ((reference, "reference"), (other, "other"))
    ]


def _row(found: Finding, place: str) -> Row:
    of, unit = (found.unit, found.metric), unit_shown(found.unit, found.metric)
    unfinished: Sequence[str] = ()
    if found.left_out and (found.left_out.reference.unfinished or found.left_out.other.unfinished):
        sides = (found.left_out.reference, found.left_out.other)
        unfinished = ["  unfinished", *(f"{side.unfinished:,} of {side.began:,}" for side in sides)]
    cells = [
        f" {found.metric} {unit if unit != found.unit or unit == 's' else ''}".rstrip(),
        number_shown(found.reference, *of),
        number_shown(known(found.other), *of),
        _difference(found),
        margin_shown(found.margin, *of, has_unit=True),
        verdict_of(found),
    ]
    return Row(place, cells, _COLOURS.get(found.outcome, "yellow"), unfinished)


def _without_margin(row: Row) -> Row:
    cells = [cell for n, cell in enumerate(row.cells) if n != _MARGIN]
    return Row(row.place, cells, row.style, row.below)


def _difference(found: Finding) -> str:
    if isnan(found.difference):
        return "-"
    of = found.reference, found.unit, found.metric, found.margin
    return difference_shown(found.difference, found.interval, *of)


def verdict_of(found: Finding) -> str:
    """The outcome with the seeds that would decide, or with the runs that decide."""
    if found.is_by_runs:
        return f"{found.outcome}: {found.reason}"
    return f"{found.outcome} (about {found.seeds:,} seeds)" if found.seeds else found.outcome
