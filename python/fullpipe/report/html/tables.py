"""Tables as HTML."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from fullpipe.report.content import Column, Table
from fullpipe.report.narrow import WIDE, narrowed
from fullpipe.report.svg.marks import verdict_class
from fullpipe.report.text import lines_visible

_PROSE = 40
"""Cells of more characters are prose."""


def shown(text: str) -> str:
    """Text in which nothing is markup, and nothing is obeyed or hidden."""
    return escape(lines_visible(text))


def table_of(table: Table) -> list[str]:
    """A table that scrolls by itself. End tags of cells and rows may be left out in HTML, and are.

    In a wide one what is the same in every row is said once, and intervals are below their means.
    """
    table = narrowed(table)
    wide = ' class="wide"' if len(table.columns) > WIDE and not table.is_tight else ""
    head = "".join(
        f'<th scope="col"{" class=n" if column.is_number else ""}>{_breakable(shown(column.name))}'
        for column in table.columns
    )
    name = shown(table.caption)
    parts = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table{wide}>',
        f"<caption>{name}</caption><thead><tr>{head}</thead><tbody>",
    ]
    longest = [max((len(row[n]) for row in table.rows), default=0) for n in range(len(table.columns))]
    cells = [_cell_of(column, n, longest[n]) for n, column in enumerate(table.columns)]
    for row in table.rows:
        written = "".join(cell(text) for cell, text in zip(cells, row, strict=True))
        parts.append(f"<tr>{written}")
    note = f'<p class="note">{shown(table.note)}</p>' if table.note else ""
    return [*parts, f"</tbody></table></div>{note}"]


def _breakable(text: str) -> str:
    """A heading that may go on in the next line behind "_"."""
    return text.replace("_", "_<wbr>")


def _cell_of(column: Column, place: int, longest: int) -> Callable[[str], str]:
    """Return the function that writes the cells of a column; prose wraps."""
    if place == 0:
        return lambda text: f"<th scope=row>{shown(text)}"
    if column.is_verdict:
        return lambda text: f'<td><span class="verdict {verdict_class(text)}">{shown(text)}</span>'
    if column.is_number:
        return lambda text: f"<td class=n>{_with_interval(shown(text))}"
    kind = " class=w" if longest > _PROSE else ""
    return lambda text: f"<td{kind}>{shown(text)}"


def _with_interval(text: str) -> str:
    """A mean, and its interval in brackets less strong."""
    mean, bracket, interval = text.partition(" [")
    return f"{mean} <i>[{interval}</i>" if bracket else text
