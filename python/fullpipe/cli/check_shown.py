"""What `fullpipe check` prints."""

from __future__ import annotations

from typing import Any

from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import complain
from fullpipe.cli.shown import difference_shown, heading, number_shown, point_shown, unit_shown
from fullpipe.validation.compare.judge import ALIKE
from fullpipe.validation.gate.check import Checked, Row
from fullpipe.validation.gate.forms import summary

_COLOURS = {"regressed": "red", "not worse": "green", "undecided": "yellow"}
_MOST_ROWS = 50


def show(checked: Checked) -> None:
    """Print the verdict, and every value that is not "not worse"."""
    console = terminal()
    console.print(
        led(f"{checked.suite}: {checked.verdict}", _COLOURS[checked.verdict], f". {summary(checked)}")
    )
    console.print(styled(f"base: {checked.base}; change: {checked.change}", "dim"), soft_wrap=True)
    left = [row for row in checked.rows if row.found.verdict != "not worse"]
    left.sort(key=lambda row: row.found.verdict)
    if left:
        console.print(_table(left[:_MOST_ROWS]))
    if len(left) > _MOST_ROWS:
        console.print(styled(f"and {len(left) - _MOST_ROWS} more; --json has all of them", "dim"))
    for note in checked.notes:
        console.print(styled(note, "dim"), soft_wrap=True)
    if any(row.found.reason == ALIKE for row in left):
        complain(f'note: {ALIKE}; give flows a start_jitter, such as "100 ms"')


def _table(rows: list[Row]) -> Any:
    made = table("", "base", "change", "difference [95 %]", "margin", last="verdict")
    of = None
    for row in rows:
        match, found = row.match, row.found
        place = ", ".join([row.case, *point_shown(row.point), match.of])
        if place != of:
            of = place
            made.add_row(styled(heading(place), "bold"))
        unit = match.unit
        shown_unit = unit_shown(unit)
        made.add_row(
            f" {match.metric} {shown_unit if shown_unit != unit or unit == 's' else ''}",
            number_shown(row.base, unit, match.metric),
            number_shown(row.change, unit, match.metric),
            _difference(row),
            number_shown(match.contrast.margin, unit, match.metric),
            styled(_verdict(row), _COLOURS[found.verdict]),
        )
    return made


def _difference(row: Row) -> str:
    found = row.found
    if found.difference is None:
        return "-"
    return difference_shown(found.difference, found.interval, row.base, row.match.unit, row.match.metric)


def _verdict(row: Row) -> str:
    found = row.found
    if found.reason.startswith("a run has") or found.difference is None:
        return f"{found.verdict}: {found.reason}"
    return f"{found.verdict} (about {found.seeds:,} seeds)" if found.seeds else found.verdict
