"""Boxes of runs, heat maps, and differences under each other."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.report.content import Box, Boxes, Difference, Forest, Heat
from fullpipe.report.svg.marks import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Scale,
    bottom_axis,
    classes,
    drawing,
    element,
    group,
    left_axis,
    number,
    span,
    tip,
    verdict_class,
)

_HEIGHT = 280.0
_CELL, _ROW = 30.0, 18.0
_LABELS = 280
"""Room for the labels of differences."""
_SHADES = 8


def boxes(chart: Boxes, label: str) -> str:
    """Boxes side by side; whiskers reach to the extremes. Long names are turned."""
    longest = max(len(box.label) for box in chart.boxes)
    step = (WIDTH - LEFT - RIGHT) / len(chart.boxes)
    is_turned = longest * 6.5 > step
    height = _HEIGHT + (min(longest, 40) * 4.5 if is_turned else 0)
    y = Scale(*span([value for box in chart.boxes for value in box.five]), _HEIGHT - BOTTOM, TOP)
    inner = [left_axis(y, chart.y_label)]
    for place, box in enumerate(chart.boxes):
        middle = LEFT + step * (place + 0.5)
        inner += [_box(box, middle, min(step * 0.6, 48), y), _name(box.label, middle, is_turned)]
    return drawing(height, inner, label)


def _box(box: Box, x: float, width: float, y: Scale) -> str:
    low, q1, median, q3, high = box.five
    told = f"{box.label}: median {number(median)}, {number(low)} to {number(high)}, {box.runs} runs"
    left, look = x - width / 2, classes(box.look, "line")
    parts = [
        tip(told),
        element("line", x1=x, x2=x, y1=y(low), y2=y(q1), class_=look),
        element("line", x1=x, x2=x, y1=y(q3), y2=y(high), class_=look),
        element("rect", x=left, y=y(q3), width=width, height=max(y(q1) - y(q3), 1.0),
                class_=classes(box.look, "box")),
        element("line", x1=left, x2=left + width, y1=y(median), y2=y(median), class_="median"),
    ]  # fmt: skip
    return group("g", parts)


def _name(text: str, x: float, is_turned: bool) -> str:
    y = _HEIGHT - BOTTOM + 16
    if not is_turned:
        return element("text", text, x=x, y=y, class_="tick middle")
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return element("text", shown, x=x, y=y, transform=f"rotate(-35 {x:.1f} {y:.1f})", class_="tick end")


def heat(chart: Heat, label: str) -> str:
    """A grid of cells with their numbers; darker is more, and the first row is at the bottom."""
    known = [cell for row in chart.cells for cell in row if cell is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    left = LEFT + 12 + 6.0 * min(max(map(len, chart.rows)), 24)
    step = min((WIDTH - left - RIGHT) / len(chart.columns), 110)
    height = TOP + _CELL * len(chart.rows) + BOTTOM
    inner = []
    for place, (name, row) in enumerate(zip(reversed(chart.rows), reversed(chart.cells), strict=True)):
        top = TOP + _CELL * place
        inner.append(element("text", name, x=left - 6, y=top + 19, class_="tick end"))
        for column, cell in enumerate(row):
            inner += _cell(cell, left + step * column, top, step, Scale(low, high, 0, _SHADES - 1))
    bottom = height - BOTTOM
    for column, name in enumerate(chart.columns):
        inner.append(
            element("text", name, x=left + step * (column + 0.5), y=bottom + 16, class_="tick middle")
        )
    middle = left + step * len(chart.columns) / 2
    inner.append(element("text", chart.x_label, x=middle, y=bottom + 34, class_="label middle"))
    side = TOP + _CELL * len(chart.rows) / 2
    turn = f"rotate(-90 14 {side:.1f})"
    inner.append(element("text", chart.y_label, x=14, y=side, transform=turn, class_="label middle"))
    return drawing(height, inner, label)


def _cell(value: float | None, left: float, top: float, width: float, shade: Scale) -> list[str]:
    if value is None:
        return []
    level = round(shade(value))
    text = element(
        "text",
        number(value),
        x=left + width / 2,
        y=top + 19,
        class_=f"cell middle {'deep' if level > 3 else ''}",
    )
    return [
        element("rect", x=left + 1, y=top + 1, width=width - 2, height=_CELL - 2, class_=f"h{level}"),
        text,
    ]


def forest(chart: Forest, label: str) -> str:
    """Differences with their intervals, a row each, and a line at zero."""
    ends = [end for d in chart.differences for end in (d.value, d.low, d.high, 0.0) if end is not None]
    room = 0.05 * (max(ends) - min(ends)) or 1.0
    x = Scale(min(ends) - room, max(ends) + room, _LABELS, WIDTH - RIGHT)
    bottom = TOP + _ROW * len(chart.differences)
    zero = element("line", x1=x(0.0), x2=x(0.0), y1=TOP, y2=bottom, class_="axis")
    marks = [part for n, row in enumerate(chart.differences) for part in _row(row, x, TOP + _ROW * (n + 0.5))]
    axis = bottom_axis(x, chart.x_label, bottom).replace(f'x1="{LEFT}"', f'x1="{_LABELS}"', 1)
    return drawing(bottom + BOTTOM, [axis, zero, *marks], label)


def _row(row: Difference, x: Scale, y: float) -> Iterator[str]:
    shown = row.label if len(row.label) <= 44 else f"{row.label[:43]}…"
    yield element("text", shown, x=_LABELS - 8, y=y + 4, class_="tick end")
    look = verdict_class(row.verdict)
    if row.low is not None and row.high is not None:
        yield element("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_=f"{look} line")
    told = f"{row.label}: {number(row.value)}, {row.verdict}"
    yield group("circle", [tip(told)], cx=x(row.value), cy=y, r=3.5, class_=f"{look} dot")
