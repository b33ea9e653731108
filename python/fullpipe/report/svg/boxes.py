"""Box plots of runs, heat maps, and forest plots of differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import asinh, ceil, log10, sinh

from fullpipe.report.content import Box, Boxes, Difference, Forest, Heat
from fullpipe.report.svg.marks import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    LogScale,
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
_NUMBERS = 520
"""End of the axis of differences, and beginning of the room for their numbers."""
_LONGEST_NUMBERS = 30
_LONGEST = 40
"""Most characters of the label of a row."""
_LETTER = 6.5
_SHADES = 8
_MUCH = 100
"""Ratio of the largest to the smallest value above which shades are logarithmic, as in `fullpipe plot`."""
_BAR = 104.0
"""Room for the colour bar."""
_LEAST_ROWS = 6
"""Least height of the colour bar, in rows of cells, so that its label fits."""
_DEEP = {"h": range(4), "o": range(5, _SHADES), "u": range(4, _SHADES)}
"""Shades with white text, by the letter of their class."""
_Shade = Callable[[float], tuple[str, int]]
"""Function from a value to the letter and the number, 0 to 7, of its shade's class."""


def boxes(chart: Boxes, label: str) -> str:
    """Boxes side by side or, if names are long, one below the other; whiskers reach to the extremes."""
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
    """A grid of cells with their numbers, first row at the bottom, and a colour bar.

    Lighter shades are larger values, as in `fullpipe plot`. With a neutral value, darker shades are farther
    from the neutral value.
    """
    known = [cell for row in chart.cells for cell in row if cell is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    shade = _shade(low, high, chart.neutral)
    left = LEFT + 12 + 6.0 * min(max(map(len, chart.rows)), 24)
    step = min((WIDTH - left - RIGHT - _BAR) / len(chart.columns), 110)
    height = TOP + _CELL * max(len(chart.rows), _LEAST_ROWS) + BOTTOM
    inner = []
    for place, (name, row) in enumerate(zip(reversed(chart.rows), reversed(chart.cells), strict=True)):
        top = TOP + _CELL * place
        inner.append(element("text", name, x=left - 6, y=top + 19, class_="tick end"))
        for column, cell in enumerate(row):
            inner += _cell(cell, left + step * column, top, step, shade)
    bottom = TOP + _CELL * len(chart.rows)
    for column, name in enumerate(chart.columns):
        inner.append(
            element("text", name, x=left + step * (column + 0.5), y=bottom + 16, class_="tick middle")
        )
    middle = left + step * len(chart.columns) / 2
    inner.append(element("text", chart.x_label, x=middle, y=bottom + 34, class_="label middle"))
    side = TOP + _CELL * len(chart.rows) / 2
    turn = f"rotate(-90 14 {side:.1f})"
    inner.append(element("text", chart.y_label, x=14, y=side, transform=turn, class_="label middle"))
    inner += _bar(chart, (low, high), shade, left + step * len(chart.columns) + 24)
    return drawing(height, inner, label)


def _bar(chart: Heat, ends: tuple[float, float], shade: _Shade, left: float) -> Iterator[str]:
    """The colour bar with its ends and its label; a neutral value is in the middle."""
    low, high = ends
    if chart.neutral is not None:
        reach = max(high - chart.neutral, chart.neutral - low) or 1.0
        low, high = chart.neutral - reach, chart.neutral + reach
    tall = _CELL * max(len(chart.rows), _LEAST_ROWS)
    for n in range(_SHADES):
        hue, level = "h", 0 if number(low) == number(high) else _SHADES - 1 - n
        if chart.neutral is not None:
            hue, level = shade(high - (high - low) * (n + 0.5) / _SHADES)
        yield element(
            "rect",
            x=left,
            y=TOP + tall * n / _SHADES,
            width=14,
            height=tall / _SHADES,
            class_=f"{hue}{level}",
        )
    told = [(low, TOP + tall), (high, TOP + 10)]
    told += [] if chart.neutral is None else [(chart.neutral, TOP + tall / 2 + 4)]
    for value, y in told:
        yield element("text", number(value), x=left + 20, y=y, class_="tick")
    middle = TOP + tall / 2
    x = left + 74
    turn = f"rotate(-90 {x:g} {middle:.1f})"
    text = _cut_to(chart.label, tall)
    yield element("text", text, x=x, y=middle, transform=turn, class_="label middle")


def _cut_to(text: str, room: float) -> str:
    """The text, cut to fit into `room` pixels."""
    longest = int(room / _LETTER)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _shade(low: float, high: float, neutral: float | None) -> _Shade:
    if neutral is None and number(low) == number(high):
        return lambda _: ("h", 0)
    if neutral is None:
        spans_much = low > 0 and high > _MUCH * low
        scale = (LogScale if spans_much else Scale)(low, high, 0, _SHADES - 1)
        return lambda value: ("h", min(max(round(scale(value)), 0), _SHADES - 1))
    reach = max(high - neutral, neutral - low) or 1.0
    away = Scale(0, reach, 0, (_SHADES - 2) / 2)
    return lambda value: ("o" if value >= neutral else "u", 2 * round(away(abs(value - neutral))))


def _cell(value: float | None, left: float, top: float, width: float, shade: _Shade) -> list[str]:
    if value is None:
        return []
    hue, level = shade(value)
    text = element(
        "text",
        number(value),
        x=left + width / 2,
        y=top + 19,
        class_=f"cell middle {'deep' if level in _DEEP[hue] else 'pale'}",
    )
    return [
        element("rect", x=left + 1, y=top + 1, width=width - 2, height=_CELL - 2, class_=f"{hue}{level}"),
        text,
    ]


def forest(chart: Forest, label: str) -> str:
    """Differences with their intervals, a row each, and their numbers.

    The axis is the inverse hyperbolic sine: linear near 0 and logarithmic beyond, so that a large difference
    does not hide small differences.
    """
    ends = [end for d in chart.differences for end in (d.value, d.low, d.high) if end is not None]
    low, high = (asinh(reach * 1.5) for reach in (min([*ends, 0.0]) / chart.linear, max(ends) / chart.linear))
    axis = Scale(min(low, -asinh(2.0)), max(high, asinh(2.0)), _LABELS, _NUMBERS)

    def x(value: float) -> float:
        return axis(asinh(value / chart.linear))

    bottom = TOP + _ROW * len(chart.differences)
    edge = chart.linear
    width = x(edge) - x(-edge)
    band = element("rect", x=x(-edge), y=TOP, width=width, height=bottom - TOP, class_="margin")
    zero = element("line", x1=x(0.0), x2=x(0.0), y1=TOP, y2=bottom, class_="axis")
    marks = [part for n, row in enumerate(chart.differences) for part in _row(row, x, TOP + _ROW * (n + 0.5))]
    reach = chart.linear * sinh(max(abs(axis.low), axis.high))
    ticks = [
        tick for tick in _powers(chart.linear, reach) if axis.low <= asinh(tick / chart.linear) <= axis.high
    ]
    shown = _apart(ticks, x)
    inner = [*([band] if chart.has_margin else []), *_bottom(chart, shown, x, bottom), zero, *marks]
    return drawing(bottom + BOTTOM, inner, label)


def _powers(linear: float, reach: float) -> list[float]:
    """Ticks: 0, and powers of ten with both signs from the linear part to the reach, the largest first."""
    first = ceil(log10(linear) - 1e-9)
    powers = [10.0**n for n in range(first, int(log10(max(reach, 10.0**first))) + 1)]
    return [0.0, *(sign * power for power in powers for sign in (1, -1))]


def _apart(ticks: list[float], x: Callable[[float], float]) -> list[float]:
    """Ticks whose texts do not overlap the texts of earlier ticks."""
    found: list[float] = []
    for tick in ticks:
        if all(
            abs(x(tick) - x(other)) >= _LETTER * (max(len(number(tick)), len(number(other))) + 1)
            for other in found
        ):
            found.append(tick)
    return found


def _bottom(chart: Forest, ticks: list[float], x: Callable[[float], float], y: float) -> Iterator[str]:
    yield element("line", x1=_LABELS, x2=_NUMBERS, y1=y, y2=y, class_="axis")
    for tick in ticks:
        yield element("text", number(tick), x=x(tick), y=y + 16, class_="tick middle")
    middle = (_LABELS + _NUMBERS) / 2
    yield element("text", chart.x_label, x=middle, y=y + 34, class_="label middle")


def _row(row: Difference, x: Callable[[float], float], y: float) -> Iterator[str]:
    yield _row_label(row.label, y)
    look = verdict_class(row.verdict)
    if row.low is not None and row.high is not None:
        yield element("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_=f"{look} line")
    told = f"{row.label}: {row.text or number(row.value)}, {row.verdict}"
    yield group("circle", [tip(told)], cx=x(row.value), cy=y, r=3.5, class_=f"{look} dot")
    shown = row.text if len(row.text) <= _LONGEST_NUMBERS else f"{row.text[: _LONGEST_NUMBERS - 1]}…"
    yield element("text", shown, x=WIDTH - 4, y=y + 4, class_="tick end")
