"""What `fullpipe check` prints."""

from __future__ import annotations

from math import isnan
from typing import Any

from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import complain
from fullpipe.cli.shown import difference_shown, heading, number_shown, point_shown, unit_shown
from fullpipe.validation.compare import Finding
from fullpipe.validation.compare.finding import known
from fullpipe.validation.compare.rules import ALIKE
from fullpipe.validation.gate.check import Checked
from fullpipe.validation.gate.forms import summary

_COLOURS = {"regressed": "red", "not worse": "green", "undecided": "yellow"}
_MOST_ROWS = 50


def show(checked: Checked) -> None:
    """Print the verdict, and every value that is not "not worse"."""
    console = terminal()
    console.print(
        led(f"{checked.suite}: {checked.decision}", _COLOURS[checked.decision], f". {summary(checked)}")
    )
    console.print(styled(f"base: {checked.base}; change: {checked.change}", "dim"), soft_wrap=True)
    left = [row for row in checked.findings if row.decision != "not worse"]
    left.sort(key=lambda row: row.decision)
    if left:
        console.print(_table(left[:_MOST_ROWS]))
    if len(left) > _MOST_ROWS:
        console.print(styled(f"and {len(left) - _MOST_ROWS} more; --json has all of them", "dim"))
    for note in checked.notes:
        console.print(styled(note, "dim"), soft_wrap=True)
    if any(row.reason == ALIKE for row in left):
        complain(f'note: {ALIKE}; give flows a start_jitter, such as "100 ms"')


def _table(rows: list[Finding]) -> Any:
    made = table("", "base", "change", "difference [95 %]", "margin", last="verdict")
    of = None
    for row in rows:
        place = ", ".join([row.case, *point_shown(row.point), row.of])
        if place != of:
            of = place
            made.add_row(styled(heading(place), "bold"))
        unit = row.unit
        shown_unit = unit_shown(unit)
        made.add_row(
            f" {row.metric} {shown_unit if shown_unit != unit or unit == 's' else ''}",
            number_shown(row.reference, unit, row.metric),
            number_shown(known(row.other), unit, row.metric),
            _difference(row),
            number_shown(row.allowed, unit, row.metric),
            styled(_verdict(row), _COLOURS[row.decision]),
        )
    return made


def _difference(row: Finding) -> str:
    if isnan(row.difference):
        return "-"
    return difference_shown(row.difference, row.interval, row.reference, row.unit, row.metric)


def _verdict(row: Finding) -> str:
    if row.reason.startswith("a run has") or isnan(row.difference):
        return f"{row.decision}: {row.reason}"
    return f"{row.decision} (about {row.seeds:,} seeds)" if row.seeds else row.decision
