"""Numbers, samples and tables in HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from fullpipe.report.content import Boxes, Column, Figure, Forest, Heat, Lines, Series, Table
from fullpipe.report.markdown import WIDE, narrowed
from fullpipe.report.svg.marks import NOTHING, quantised, verdict_class
from fullpipe.report.text import lines_visible

# The numbers of charts as rows under headings with units, for CSV files.


Cell = str | float | int | None


def numbers_of(figure: Figure) -> list[list[Cell]]:
    """Return the numbers of a heat map, box plot or forest plot as rows, with column names in the first row;
    empty for other charts.

    The numbers are the drawn numbers, in the units of the figure. A heat map has a row per cell.
    """
    match figure.chart:
        case Heat() as chart:
            head = [chart.y_label, chart.x_label, figure.caption.rstrip(".")]
            up = zip(chart.rows, chart.cells, strict=True)
            cells = [(y, zip(chart.columns, row, strict=True)) for y, row in up]
            return _rows(head, [[y, x, value] for y, row in cells for x, value in row])
        case Boxes() as chart:
            five = [f"{name}: {chart.y_label}" for name in ("minimum", "q1", "median", "q3", "maximum")]
            return _rows(["of", *five, "runs"], [[box.label, *box.five, box.runs] for box in chart.boxes])
        case Forest() as chart:
            head = ["of", chart.x_label, f"{chart.x_label}, low", f"{chart.x_label}, high", "verdict"]
            each = [[one.label, one.value, one.low, one.high, one.verdict] for one in chart.differences]
            return _rows(head, each)
        case _:
            return []


def _rows(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """The headings and the rows, with control characters escaped."""
    return [[lines_visible(cell) if isinstance(cell, str) else cell for cell in row] for row in (head, *rows)]


# Time series, and lines along an axis, as the data of a figure.


def smallest_group(numbers: int, samples: int) -> int:
    """Number of samples per group; a page stores the smallest and the largest value of each group."""
    size = 1
    while (numbers if size == 1 else 2 * numbers / size) > samples:
        size *= 2
    return size if size != 2 else 4  # a minimum and a maximum per two samples save nothing


def series_of(chart: Series, name: str, size: int) -> dict[str, Any]:
    """Return the data from which the script of a page draws a figure."""
    traces = []
    for trace in chart.traces:
        found = quantised(trace.values, size)
        traces.append(
            {
                "label": lines_visible(trace.label),
                "colour": trace.look.colour,
                "dash": trace.look.dash,
                "low": found.low,
                "step": found.step,
                "values": found.values,
            }
        )
    return {
        "label": lines_visible(chart.y_label),
        "name": lines_visible(name),
        "start": chart.start_s,
        "step": chart.step_s,
        "warmup": chart.warmup_s,
        "size": size,
        "nothing": NOTHING,
        "traces": traces,
    }


def lines_of(chart: Lines, name: str) -> dict[str, Any]:
    """Return the data of lines with bands for the script of a page: columns along common places."""
    places, lines = chart.places, []
    for line in chart.lines:
        at = {point[0]: point for point in line.points}
        columns = [[at[place][n] if place in at else None for place in places] for n in (1, 2, 3)]
        look = {"colour": line.look.colour, "dash": line.look.dash}
        lines.append({"label": lines_visible(line.label), **look, "columns": columns})
    labels = {"x": lines_visible(chart.x_label), "label": lines_visible(chart.y_label)}
    named = {"name": lines_visible(name), **labels, "log": chart.is_log}
    return {**named, "bars": chart.has_bars, "ticks": chart.has_ticks, "places": places, "lines": lines}


def json_of(value: Any) -> str:
    """Return JSON for a script element. Text in it cannot open or close an HTML element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


# Tables as HTML.


_LONG = 20
"""Rows up to which a table has no scroll bar of its own. Longer tables scroll below their headings."""
_PROSE = 40
"""Cells with more characters than this are prose."""
_LETTER, _BETWEEN, _PAGE, _PHONE = 7.6, 11.2, 1232, 358
"""Mean width of a letter, distance of columns, widths of a page and a phone within margins, in pixels."""


def shown(text: str) -> str:
    """Text with markup and control characters escaped."""
    return escape(lines_visible(text))


def table_of(table: Table) -> list[str]:
    """A table in a scrolling region. End tags of cells and rows are left out, as HTML allows.

    In a wide table, columns with equal cells move into the caption, and intervals are below their means. A
    tight table has intervals beside the means if the table then fits the page. A table that is wider than the
    page has smaller letters, and its verdicts stay in view while it scrolls. If a table is tight, has
    verdicts, or is wider than a phone, a phone shows every row as a block in which each cell has its heading.
    """
    table = narrowed(table)
    is_wide = len(table.columns) > WIDE and not (table.is_tight and _width(table) < _PAGE)
    is_held = is_wide and _width(table, is_folded=True) > _PAGE
    has_verdicts = any(column.is_verdict for column in table.columns)
    is_stacked = table.is_tight or has_verdicts or _width(table) > _PHONE
    named = {"wide": is_wide, "held": is_held, "stacked": is_stacked}
    kinds = " ".join(name for name, is_it in named.items() if is_it)
    head = "".join(
        f'<th scope="col"{_class(column)}>{_breakable(shown(column.name))}' for column in table.columns
    )
    name, long = shown(table.caption), " long" if len(table.rows) > _LONG else ""
    parts = [
        f'<div class="scroll{long}" tabindex="0" role="region" aria-label="{name}">',
        f'<table class="{kinds}">' if kinds else "<table>",
        f"<caption>{name}</caption><thead><tr>{head}</thead><tbody>",
    ]
    longest = [max((len(row[n]) for row in table.rows), default=0) for n in range(len(table.columns))]
    heads = [_head_of(column) if is_stacked else "" for column in table.columns]
    cells = [_cell_of(column, n, longest[n], heads[n]) for n, column in enumerate(table.columns)]
    for row in table.rows:
        written = "".join(cell(text) for cell, text in zip(cells, row, strict=True))
        parts.append(f"<tr>{written}")
    note = f'<p class="note">{shown(table.note)}</p>' if table.note else ""
    return [*parts, f"</tbody></table></div>{note}"]


def _class(column: Column) -> str:
    return " class=n" if column.is_number else " class=v" if column.is_verdict else ""


def _width(table: Table, *, is_folded: bool = False) -> float:
    """The approximate width of a table in pixels. Headings wrap and their brackets are narrow; with
    `is_folded`, intervals wrap, too."""
    words = [[word.strip("()[]") for word in column.name.split()] for column in table.columns]
    heads = [max(map(len, of_column), default=0) for of_column in words]
    cells = [[row[n].split(" [") if is_folded else [row[n]] for row in table.rows] for n in range(len(heads))]
    longest = (max((len(part) for cell in column for part in cell), default=0) for column in cells)
    return sum(_LETTER * max(pair) + _BETWEEN for pair in zip(heads, longest, strict=True))


def _breakable(text: str) -> str:
    """A heading that may wrap after "_"."""
    return text.replace("_", "_<wbr>")


def _head_of(column: Column) -> str:
    """The attribute from which the style sheet shows the heading of a column in a cell."""
    return f' data-head="{shown(column.name)}"'


def _cell_of(column: Column, place: int, longest: int, head: str) -> Callable[[str], str]:
    """Return the function that writes the cells of a column; prose wraps."""
    if place == 0:
        return lambda text: f"<th scope=row{head}>{shown(text)}"
    if column.is_verdict:
        return lambda text: (
            f'<td class=v{head}><span class="verdict {verdict_class(text)}">{shown(text)}</span>'
        )
    if column.is_number:
        return lambda text: f"<td class=n{head}>{_with_interval(shown(text))}"
    kind = " class=w" if longest > _PROSE else ""
    return lambda text: f"<td{kind}{head}>{shown(text)}"


def _with_interval(text: str) -> str:
    """A mean, and its interval in brackets in a weaker colour."""
    mean, bracket, interval = text.partition(" [")
    return f"{mean} <i>[{interval}</i>" if bracket else text
