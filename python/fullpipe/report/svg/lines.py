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
_LONGER = 1.5
"""A gap, in usual distances of two samples."""
_CAP = 3
"""Half the length of a cap."""


def lines(chart: Lines, label: str) -> str:
    """Means along an axis, a line per label, with bands of their intervals, or with bars at few places."""
    points = [point for line in chart.lines for point in line.points]
    places = chart.places
    ends = (places[0], places[-1], LEFT + 12, WIDTH - RIGHT - 12)
    x: Scale = LogScale(*ends) if chart.is_log else Scale(*ends)
    y = Scale(*span([end for p in points for end in p[1:]]), _END, TOP)
    ticks = apart(places, x) if chart.has_ticks else None
    inner = [left_axis(y, chart.y_label), bottom_axis(x, chart.x_label, _END, at=ticks)]
    draw = _bars if chart.has_bars else _band
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
    """A path through the extremes, with gaps where samples are missing for longer than they usually are."""
    found: list[str] = []
    known = [
        (n, low, high) for n, (low, high) in enumerate(extremes(trace.values, size)) if not np.isnan(low)
    ]
    steps = np.diff([n for n, _, _ in known])
    most = _LONGER * float(np.median(steps)) if steps.size else 0.0
    for step, (n, low, high) in zip([np.inf, *steps], known, strict=False):
        pen = "L" if step <= max(1.0, most) else "M"
        found.append(f"{pen}{x(float(times[n])):.0f} {y(float(low)):.0f}")
        if high > low:
            found.append(f"V{y(float(high)):.0f}")
    return "".join(found)
