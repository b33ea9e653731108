"""Boxes of runs, heat maps, and differences under each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
"""Room for the labels of rows."""
_LONGEST = 44
"""Letters of a label of a row."""
_LETTER = 6.5
_SHADES = 8


def boxes(chart: Boxes, label: str) -> str:
    """Boxes side by side or, if their names are long, under each other; whiskers reach to the extremes."""
    step = (WIDTH - LEFT - RIGHT) / len(chart.boxes)
    if max(len(box.label) for box in chart.boxes) * _LETTER > step:
        return _under_each_other(chart, label)
    y = Scale(*_span(chart), _HEIGHT - BOTTOM, TOP)
    inner = [left_axis(y, chart.y_label)]
    for place, box in enumerate(chart.boxes):
        middle = LEFT + step * (place + 0.5)
        inner.append(_box(box, middle, min(step * 0.6, 48), y, is_upright=True))
        inner.append(element("text", box.label, x=middle, y=_HEIGHT - BOTTOM + 16, class_="tick middle"))
    return drawing(_HEIGHT, inner, label)


def _span(chart: Boxes) -> tuple[float, float]:
    return span([value for box in chart.boxes for value in box.five])


def _under_each_other(chart: Boxes, label: str) -> str:
    x = Scale(*_span(chart), _LABELS, WIDTH - RIGHT)
    bottom = TOP + _ROW * len(chart.boxes)
    inner = [bottom_axis(x, chart.y_label, bottom, left=_LABELS)]
    for place, box in enumerate(chart.boxes):
        middle = TOP + _ROW * (place + 0.5)
        inner.append(_box(box, middle, 0.6 * _ROW, x, is_upright=False))
        inner.append(_row_label(box.label, middle))
    return drawing(bottom + BOTTOM, inner, label)


def _row_label(text: str, y: float) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return element("text", shown, x=_LABELS - 8, y=y + 4, class_="tick end")


def _box(box: Box, middle: float, width: float, scale: Scale, *, is_upright: bool) -> str:
    """A box across the axis at its middle."""
    low, q1, median, q3, high = map(scale, box.five)
    near, far, look = middle - width / 2, middle + width / 2, classes(box.look, "line")

    def line(ends: tuple[float, float], across: tuple[float, float], kind: str) -> str:
        x, y = (across, ends) if is_upright else (ends, across)
        return element("line", x1=x[0], x2=x[1], y1=y[0], y2=y[1], class_=kind)

    start, size = min(q1, q3), max(abs(q3 - q1), 1.0)
    place = (near, start, width, size) if is_upright else (start, near, size, width)
    x, y, wide, high_ = place
    numbers = [number(value) for value in box.five]
    told = f"{box.label}: median {numbers[2]}, {numbers[0]} to {numbers[4]}, {box.runs} runs"
    parts = [
        tip(told),
        line((low, q1), (middle, middle), look),
        line((q3, high), (middle, middle), look),
        element("rect", x=x, y=y, width=wide, height=high_, class_=classes(box.look, "box")),
        line((median, median), (near, far), "median"),
    ]
    return group("g", parts)


def heat(chart: Heat, label: str) -> str:
    """A grid of cells with their numbers, of which the first row is at the bottom.

    Darker is more, or, of what has a neutral value, farther from it.
    """
    known = [cell for row in chart.cells for cell in row if cell is not None]
    shade = _shade(min(known, default=0.0), max(known, default=1.0), chart.neutral)
    left = LEFT + 12 + 6.0 * min(max(map(len, chart.rows)), 24)
    step = min((WIDTH - left - RIGHT) / len(chart.columns), 110)
    height = TOP + _CELL * len(chart.rows) + BOTTOM
    inner = []
    for place, (name, row) in enumerate(zip(reversed(chart.rows), reversed(chart.cells), strict=True)):
        top = TOP + _CELL * place
        inner.append(element("text", name, x=left - 6, y=top + 19, class_="tick end"))
        for column, cell in enumerate(row):
            inner += _cell(cell, left + step * column, top, step, shade)
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


_Shade = Callable[[float], tuple[str, int]]
"""The letter of a shade's class, and its number from 0 to 7. What reads the same has the same shade."""


def _shade(low: float, high: float, neutral: float | None) -> _Shade:
    if neutral is None and number(low) == number(high):
        return lambda _: ("h", 0)
    if neutral is None:
        scale = Scale(low, high, 0, _SHADES - 1)
        return lambda value: ("h", round(scale(value)))
    reach = max(high - neutral, neutral - low) or 1.0
    away = Scale(0, reach, 0, (_SHADES - 2) / 2)
    return lambda value: ("h" if value >= neutral else "u", 2 * round(away(abs(value - neutral))))


def _cell(value: float | None, left: float, top: float, width: float, shade: _Shade) -> list[str]:
    if value is None:
        return []
    hue, level = shade(value)
    text = element(
        "text",
        number(value),
        x=left + width / 2,
        y=top + 19,
        class_=f"cell middle {'deep' if level > 3 else ''}",
    )
    return [
        element("rect", x=left + 1, y=top + 1, width=width - 2, height=_CELL - 2, class_=f"{hue}{level}"),
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
    axis = bottom_axis(x, chart.x_label, bottom, left=_LABELS)
    return drawing(bottom + BOTTOM, [axis, zero, *marks], label)


def _row(row: Difference, x: Scale, y: float) -> Iterator[str]:
    yield _row_label(row.label, y)
    look = verdict_class(row.verdict)
    if row.low is not None and row.high is not None:
        yield element("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_=f"{look} line")
    told = f"{row.label}: {number(row.value)}, {row.verdict}"
    yield group("circle", [tip(told)], cx=x(row.value), cy=y, r=3.5, class_=f"{look} dot")
