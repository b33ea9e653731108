"""Explanations of printed numbers that their own data contradict: another row, cut-off digits, a misprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fullpipe.studies.ahsan2025.printed import ALL, EXPERIMENT, PLACE, Results, Table
from fullpipe.studies.claim_checks import ClaimResult
from fullpipe.studies.digits import as_printed, is_as_printed, is_cut_off
from fullpipe.studies.experiments import Measurements
from fullpipe.studies.text import Aligned
from fullpipe.studies.verdicts import Verdict

UNITS = 2
"""Largest difference in units of the last digit between numbers that agree but for that digit."""


def named(of: Results, found: Measurements, checked: Sequence[ClaimResult]) -> list[ClaimResult]:
    """Return the results with a note on every printed number that the data contradict."""
    return [replace(j, note=_note(of, found, j)) if _is_wrong(j) else j for j in checked]


def listed(checked: Sequence[ClaimResult]) -> list[list[str]]:
    """Return the wrong printed numbers with the right ones, heads first."""
    rows = [["where", "printed", "from the data", "what is printed"]]
    for j in filter(_is_wrong, checked):
        shown = [*j.claim.what.values()]
        ours = [as_printed(part.ours[0], printed) for part, printed in zip(j.parts, shown, strict=True)]
        rows.append([j.claim.id, ", ".join(shown), ", ".join(ours), j.note])
    return rows


def text(checked: Sequence[ClaimResult]) -> list[str | Aligned]:
    """Return the section of the report; empty if all numbers are right, or were not computed."""
    rows = listed(checked)
    return ["Printed results that their own data contradict:", Aligned(rows)] if len(rows) > 1 else []


def _is_wrong(j: ClaimResult) -> bool:
    return j.claim.kind == "equals" and j.verdict is Verdict.CONTRADICTED


def _note(of: Results, found: Measurements, j: ClaimResult) -> str:
    if len(j.claim.what) > 1:
        return "one of its numbers differs"
    ((quantity, printed),) = j.claim.what.items()
    ours = j.parts[0].ours[0]
    if is_cut_off(ours, printed):
        return "printed is cut off, not rounded" if "E" not in printed else "the printed exponent is cut off"
    table = next((one for one in of.tables if one.id == j.claim.where[PLACE]), None)
    algorithm = str(j.claim.where["algorithm"])
    if table is None or algorithm == ALL:
        return ""
    return _of_another_row(table, found, algorithm, quantity) or _misprint(table, algorithm, quantity)


def _of_another_row(table: Table, found: Measurements, algorithm: str, quantity: str) -> str:
    printed = table.groups[algorithm][quantity]
    for other in table.groups:
        (value,) = found.at(EXPERIMENT, quantity, other, {PLACE: table.id})
        if is_as_printed(value, printed):
            return f"printed is {other}'s"
        if _is_near(value, printed):
            return f"printed is {other}'s, but for the last digit"
    return ""


def _misprint(table: Table, algorithm: str, quantity: str) -> str:
    row = table.groups[algorithm]
    product = as_printed(float(row["average"]) * float(row["count"]), row["sum"])
    if quantity == "sum" and product != row["sum"]:
        return f"a misprint: printed average times count is {product}"
    return ""


def _is_near(value: float, printed: str) -> bool:
    unit = 10.0 ** -len(printed.partition(".")[2])
    return abs(value - float(printed)) <= UNITS * unit
