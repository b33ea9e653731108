"""The numbers of charts that a page shows as they are: rows under a head with units, for a file of CSV."""

from __future__ import annotations

from collections.abc import Sequence

from fullpipe.report.content import Boxes, Figure, Forest, Heat
from fullpipe.report.text import lines_visible

Cell = str | float | int | None


def numbers_of(figure: Figure) -> list[list[Cell]]:
    """Rows of a heat map, boxes or differences, the first of which names the columns; else nothing.

    The numbers are those drawn, in the units of the figure. A heat map has a row per cell.
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
    """Rows under their head, with control characters shown."""
    return [[lines_visible(cell) if isinstance(cell, str) else cell for cell in row] for row in (head, *rows)]
