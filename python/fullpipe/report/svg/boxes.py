"""Box plots of runs, heat maps, and forest plots of differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import asinh, ceil, log10, sinh
from typing import NamedTuple

from fullpipe.report.content import Box, Boxes, Difference, Forest, Heat
from fullpipe.report.svg.marks import (
    BOTTOM,
    LEFT,
    NARROW,
    RIGHT,
    TOP,
    WIDTH,
    LogScale,
    Scale,
    bottom_axis,
    classes,
    cut,
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
_CELL = 30.0
_LONGEST_NUMBERS = 30
_LETTER = 6.5
_SHADES = 8
_MUCH = 100
"""Ratio of the largest to the smallest value above which shades are logarithmic, as in `fullpipe plot`."""
_BAR = 104.0
"""Room for the colour bar."""
_BELOW, _THICK = 46.0, 14.0
"""Room for a colour bar below a narrow map, and its thickness."""
_LEAST_ROWS = 6
"""Least height of the colour bar, in rows of cells, so that its label fits."""
_LONGEST_NAME = 24
"""Maximum number of characters of the name of a row or a column of cells; a third less in a narrow map."""
_DEEP = {"h": range(4), "o": range(5, _SHADES), "u": range(4, _SHADES)}
"""Indices of the shades that are dark enough for white text, by the letter of the shade's class."""
_Shade = Callable[[float], tuple[str, int]]
"""Function from a value to the letter and the number, 0 to 7, of its shade's class."""


class _Rows(NamedTuple):
    """Rows with a label and a mark each. In a narrow drawing, the label is above the mark."""

    width: int
    height: float
    """Height of a row."""
    start: float
    """Beginning of the axis."""
    middle: float
    """End of the axis if numbers are at the right of the axis."""
    longest: int
    """Maximum number of characters of a label."""

    def label(self, text: str, n: int) -> str:
        """The label of the row with this index."""
        shown, top = cut(text, self.longest), TOP + self.height * n
        if self.width == NARROW:
            return element("text", shown, x=0, y=top + 11, class_="tick")
        return element("text", shown, x=self.start - 8, y=top + self.height / 2 + 4, class_="tick end")

    def mark(self, n: int) -> float:
        """The vertical place of the mark of a row."""
        return TOP + self.height * n + (24 if self.width == NARROW else self.height / 2)


_BESIDE = _Rows(WIDTH, 18.0, 340, 524, 49)
_ABOVE = _Rows(NARROW, 36.0, 16, 172, 54)


def boxes(chart: Boxes, label: str) -> str:
    """Boxes side by side or, if names are long, one below the other; whiskers reach to the extremes. Few runs
    are points with a line at their median."""
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


def narrow_boxes(chart: Boxes, label: str) -> str:
    """Boxes one below the other, each with its name above it."""
    return _under_each_other(chart, label, _ABOVE)


def _span(chart: Boxes) -> tuple[float, float]:
    return span([value for box in chart.boxes for value in box.five])


def _under_each_other(chart: Boxes, label: str, rows: _Rows = _BESIDE) -> str:
    ends = rows.start, rows.width - 2 * RIGHT
    x = Scale(*_span(chart), *ends)
    bottom = TOP + rows.height * len(chart.boxes)
    inner = [bottom_axis(x, chart.y_label, bottom, ends)]
    for n, box in enumerate(chart.boxes):
        inner.append(_box(box, rows.mark(n), 0.6 * _BESIDE.height, x, is_upright=False))
        inner.append(rows.label(box.label, n))
    return drawing(bottom + BOTTOM, inner, label, rows.width)


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
    half = line((median, median), (near, far), "median")
    if box.values:
        places = [(middle, scale(value)) if is_upright else (scale(value), middle) for value in box.values]
        dots = [element("circle", cx=x, cy=y, r=3.0, class_=f"c{box.look.colour} dot") for x, y in places]
        return group("g", [tip(told), half, *dots])
    parts = [
        tip(told),
        line((low, q1), (middle, middle), look),
        line((q3, high), (middle, middle), look),
        element("rect", x=x, y=y, width=wide, height=high_, class_=classes(box.look, "box")),
        half,
    ]
    return group("g", parts)


def heat(chart: Heat, label: str) -> str:
    """A grid of cells with their numbers, first row at the bottom, and a colour bar at its right.

    Lighter shades are larger values, as in `fullpipe plot`. With a neutral value, darker shades are farther
    from the neutral value.
    """
    return _heat(chart, label, WIDTH, _LONGEST_NAME)


def narrow_heat(chart: Heat, label: str) -> str:
    """A heat map with its colour bar below; empty if the numbers do not fit into the cells."""
    return _heat(chart, label, NARROW, 2 * _LONGEST_NAME // 3)


def _heat(chart: Heat, label: str, width: int, longest: int) -> str:
    known = [cell for row in chart.cells for cell in row if cell is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    shade, is_narrow = _shade(chart, low, high), width == NARROW
    rows, columns = ([cut(name, longest) for name in names] for names in (chart.rows, chart.columns))
    left = 32 + 6.5 * max(map(len, rows))
    step = min((width - left - RIGHT - (0 if is_narrow else _BAR)) / len(columns), 110)
    if is_narrow and _LETTER * max(len(chart.text(end)) for end in (low, high)) > step:
        return ""
    inner = []
    for place, (name, row) in enumerate(zip(reversed(rows), reversed(chart.cells), strict=True)):
        top = TOP + _CELL * place
        inner.append(element("text", name, x=left - 6, y=top + 19, class_="tick end"))
        for column, cell in enumerate(row):
            inner += _cell(chart, cell, left + step * column, top, step, shade)
    end, bottom = left + step * len(columns), TOP + _CELL * len(rows)
    turns = _LETTER * max(map(len, columns)) > step
    inner += _names_below(columns, left, bottom, step, turns=turns)
    bottom += _LETTER * max(map(len, columns)) if turns else 0
    inner.append(element("text", chart.x_label, x=(left + end) / 2, y=bottom + 34, class_="label middle"))
    side = TOP + _CELL * len(rows) / 2
    turn = f"rotate(-90 14 {side:.1f})"
    inner.append(element("text", chart.y_label, x=14, y=side, transform=turn, class_="label middle"))
    if is_narrow:
        bar = _bar(chart, (low, high), shade, (left, bottom + BOTTOM), max(end - left, width - left - RIGHT))
        return drawing(bottom + BOTTOM + _BELOW, [*inner, *bar], label, width)
    tall = _CELL * max(len(rows), _LEAST_ROWS)
    inner += _bar(chart, (low, high), shade, (end + 24, TOP), tall, is_upright=True)
    return drawing(max(bottom, TOP + tall) + BOTTOM, inner, label)


def _names_below(
    names: Sequence[str], left: float, bottom: float, step: float, *, turns: bool
) -> Iterator[str]:
    """The names of columns; vertical if they would overlap."""
    for n, name in enumerate(names):
        x = left + step * (n + 0.5)
        if turns:
            x, y = x + 4, bottom + 6
            yield element("text", name, x=x, y=y, transform=f"rotate(-90 {x:.1f} {y:.1f})", class_="tick end")
        else:
            yield element("text", name, x=x, y=bottom + 16, class_="tick middle")


def _bar(
    chart: Heat,
    ends: tuple[float, float],
    shade: _Shade,
    at: tuple[float, float],
    length: float,
    *,
    is_upright: bool = False,
) -> Iterator[str]:
    """The colour bar with its ends and its label; a neutral value is in the middle.

    An upright bar has its largest value at the top, and its texts at the right. Other bars have the largest
    value at the right, and their texts below.
    """
    low, high = ends
    if chart.neutral is not None:
        reach = max(high - chart.neutral, chart.neutral - low) or 1.0
        low, high = chart.neutral - reach, chart.neutral + reach
    left, top = at
    part = length / _SHADES
    for n in range(_SHADES):
        hue, level = "h", 0 if chart.text(low) == chart.text(high) else _SHADES - 1 - n
        if chart.neutral is not None:
            hue, level = shade(high - (high - low) * (n + 0.5) / _SHADES)
        x, y = (left, top + part * n) if is_upright else (left + length - part * (n + 1), top)
        wide, tall = (_THICK, part) if is_upright else (part, _THICK)
        yield element("rect", x=x, y=y, width=wide, height=tall, class_=f"{hue}{level}")
    told = [(0.0, low), (1.0, high), *([] if chart.neutral is None else [(0.5, chart.neutral)])]
    for share, value in told:
        y = top + length - (length - 10) * share
        kind = {0.0: "tick", 0.5: "tick middle", 1.0: "tick end"}[share]
        place = (
            {"x": left + 20, "y": y, "class_": "tick"}
            if is_upright
            else {"x": left + length * share, "y": top + 27, "class_": kind}
        )
        yield element("text", chart.text(value), **place)
    text = cut(chart.label, int(length / _LETTER))
    x, y = (left + 74, top + length / 2) if is_upright else (left + length / 2, top + 42)
    turn = f"rotate(-90 {x:g} {y:.1f})" if is_upright else None
    yield element("text", text, x=x, y=y, transform=turn, class_="label middle")


def _shade(chart: Heat, low: float, high: float) -> _Shade:
    neutral = chart.neutral
    if neutral is None and chart.text(low) == chart.text(high):
        return lambda _: ("h", 0)
    if neutral is None:
        spans_much = low > 0 and high > _MUCH * low
        scale = (LogScale if spans_much else Scale)(low, high, 0, _SHADES - 1)
        return lambda value: ("h", min(max(round(scale(value)), 0), _SHADES - 1))
    reach = max(high - neutral, neutral - low) or 1.0
    away = Scale(0, reach, 0, (_SHADES - 2) / 2)
    return lambda value: ("o" if value >= neutral else "u", 2 * round(away(abs(value - neutral))))


def _cell(
    chart: Heat, value: float | None, left: float, top: float, width: float, shade: _Shade
) -> list[str]:
    if value is None:
        return []
    hue, level = shade(value)
    text = element(
        "text",
        chart.text(value),
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
    return _forest(chart, label, _BESIDE)


def narrow_forest(chart: Forest, label: str) -> str:
    """The differences, each with its label above."""
    return _forest(chart, label, _ABOVE)


def _forest(chart: Forest, label: str, rows: _Rows) -> str:
    ends = [end for d in chart.differences for end in (d.value, d.low, d.high) if end is not None]
    low, high = (asinh(reach * 1.5) for reach in (min([*ends, 0.0]) / chart.linear, max(ends) / chart.linear))
    axis = Scale(min(low, -asinh(2.0)), max(high, asinh(2.0)), rows.start, rows.middle)

    def x(value: float) -> float:
        return axis(asinh(value / chart.linear))

    bottom = TOP + rows.height * len(chart.differences)
    edge = chart.linear
    width = x(edge) - x(-edge)
    band = element("rect", x=x(-edge), y=TOP, width=width, height=bottom - TOP, class_="margin")
    zero = element("line", x1=x(0.0), x2=x(0.0), y1=TOP, y2=bottom, class_="axis")
    marks = [part for n, row in enumerate(chart.differences) for part in _row(row, x, rows, n)]
    reach = chart.linear * sinh(max(abs(axis.low), axis.high))
    ticks = [
        tick for tick in _powers(chart.linear, reach) if axis.low <= asinh(tick / chart.linear) <= axis.high
    ]
    shown = _apart(ticks, x)
    inner = [*([band] if chart.has_margin else []), *_bottom(chart, shown, x, bottom, rows), zero, *marks]
    return drawing(bottom + BOTTOM, inner, label, rows.width)


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


def _bottom(
    chart: Forest, ticks: list[float], x: Callable[[float], float], y: float, rows: _Rows
) -> Iterator[str]:
    yield element("line", x1=rows.start, x2=rows.middle, y1=y, y2=y, class_="axis")
    for tick in ticks:
        yield element("text", number(tick), x=x(tick), y=y + 16, class_="tick middle")
    if rows.width == NARROW:
        yield element("text", chart.x_label, x=0, y=y + 34, class_="label")
    else:
        yield element(
            "text", chart.x_label, x=(rows.start + rows.middle) / 2, y=y + 34, class_="label middle"
        )


def _row(row: Difference, x: Callable[[float], float], rows: _Rows, n: int) -> Iterator[str]:
    yield rows.label(row.label, n)
    look, y = verdict_class(row.verdict), rows.mark(n)
    if row.low is not None and row.high is not None:
        yield element("line", x1=x(row.low), x2=x(row.high), y1=y, y2=y, class_=f"{look} line")
    told = f"{row.label}: {row.text or number(row.value)}, {row.verdict}"
    yield group("circle", [tip(told)], cx=x(row.value), cy=y, r=3.5, class_=f"{look} dot")
    shown = cut(row.text, _LONGEST_NUMBERS)
    yield element("text", shown, x=rows.width - 4, y=y + 4, class_="tick end")
