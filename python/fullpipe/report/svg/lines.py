"""Lines with bands, and samples over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fullpipe.report.content import Line, Lines, Series, Trace
from fullpipe.report.quantised import extremes
from fullpipe.report.svg.marks import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    LogScale,
    Scale,
    apart,
    bottom_axis,
    classes,
    drawing,
    element,
    group,
    left_axis,
    number,
    span,
    tip,
)

_HEIGHT = 280.0
_END = _HEIGHT - BOTTOM
_FEW, _MOST_TICKS = 4, 9
"""Places without bands between them, and places of a linear axis that all have ticks."""
_CAP = 3
"""Half the length of a cap."""


def lines(chart: Lines, label: str) -> str:
    """Means along an axis, a line per label, with bands of their intervals, or with bars at few places."""
    points = [point for line in chart.lines for point in line.points]
    places = sorted({p[0] for p in points})
    ends = (places[0], places[-1], LEFT + 12, WIDTH - RIGHT - 12)
    x: Scale = LogScale(*ends) if chart.is_log else Scale(*ends)
    y = Scale(*span([end for p in points for end in p[1:]]), _END, TOP)
    ticks = apart(places, x) if chart.is_log or len(places) <= _MOST_TICKS else None
    inner = [left_axis(y, chart.y_label), bottom_axis(x, chart.x_label, _END, at=ticks)]
    draw = _bars if len(places) <= _FEW else _band
    inner += [part for line in chart.lines for part in (draw(line, x, y), *_line(line, x, y, chart))]
    return drawing(_HEIGHT, inner, label)


def _band(line: Line, x: Scale, y: Scale) -> str:
    upper = [f"{x(at):.1f},{y(high):.1f}" for at, _, _, high in line.points]
    lower = [f"{x(at):.1f},{y(low):.1f}" for at, _, low, _ in reversed(line.points)]
    return element("polygon", points=" ".join([*upper, *lower]), class_=classes(line.look, "band"))


def _bars(line: Line, x: Scale, y: Scale) -> str:
    """Bars with caps at both ends."""
    cap = f"m{-_CAP} 0h{2 * _CAP}"
    bars = [
        f"M{x(at):.1f} {y(low):.1f}{cap}m{-_CAP} 0V{y(high):.1f}{cap}" for at, _, low, high in line.points
    ]
    return element("path", d="".join(bars), class_=f"c{line.look.colour} line")


def _line(line: Line, x: Scale, y: Scale, chart: Lines) -> Iterator[str]:
    middle = " ".join(f"{x(at):.1f},{y(mean):.1f}" for at, mean, _, _ in line.points)
    yield element("polyline", points=middle, class_=classes(line.look, "line"))
    for at, mean, low, high in line.points:
        told = (
            f"{line.label}: {number(mean)} [{number(low)}, {number(high)}] at {number(at)}; {chart.y_label}"
        )
        dot = {"cx": x(at), "cy": y(mean), "r": 3, "class_": classes(line.look, "dot")}
        yield group("circle", [tip(told)], **dot)


def series(chart: Series, label: str, columns: int) -> str:
    """Samples over time as smallest and largest of as many columns, a line per flow or link."""
    count = max(len(trace.values) for trace in chart.traces)
    size = max(1, -(-count // columns))
    end = chart.start_s + chart.step_s * max(count - 1, 1)
    x = Scale(chart.start_s, end, LEFT, WIDTH - RIGHT)
    known = [trace.values[np.isfinite(trace.values)] for trace in chart.traces]
    y = Scale(
        *span([float(end) for part in known if len(part) for end in (part.min(), part.max())]), _END, TOP
    )
    warm = x(min(max(chart.warmup_s, chart.start_s), end)) - LEFT
    shade = (
        [element("rect", x=LEFT, y=TOP, width=warm, height=_END - TOP, class_="warmup")] if warm > 0 else []
    )
    inner = [*shade, left_axis(y, chart.y_label), bottom_axis(x, "time, s", _END)]
    for trace in chart.traces:
        times = chart.start_s + chart.step_s * size * np.arange(-(-len(trace.values) // size))
        inner.append(element("path", d=_path(trace, size, times, x, y), class_=classes(trace.look, "line")))
    return drawing(_HEIGHT, inner, label)


def _path(trace: Trace, size: int, times: Sequence[float] | np.ndarray, x: Scale, y: Scale) -> str:
    """A path through the extremes, with gaps where there is no sample."""
    found, pen = [], "M"
    for time, (low, high) in zip(times, extremes(trace.values, size), strict=True):
        if np.isnan(low):
            pen = "M"
            continue
        found.append(f"{pen}{x(float(time)):.0f} {y(float(low)):.0f}")
        if high > low:
            found.append(f"V{y(float(high)):.0f}")
        pen = "L"
    return "".join(found)
