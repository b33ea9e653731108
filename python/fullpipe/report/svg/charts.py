"""Charts in SVG: lines over time, the drawn path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from fullpipe.report.content import Boxes, Figure, Forest, Heat, Image, Line, Lines, Look, Path, Series, Trace
from fullpipe.report.svg.boxes import boxes, forest, heat, narrow_boxes, narrow_forest, narrow_heat
from fullpipe.report.svg.marks import (
    BOTTOM,
    LEFT,
    NARROW,
    RIGHT,
    TOP,
    WIDTH,
    LogScale,
    Scale,
    apart,
    bottom_axis,
    classes,
    cut,
    drawing,
    element,
    extremes,
    group,
    left_axis,
    number,
    span,
    tip,
)

# Lines with bands, and samples over time.


_HEIGHT = 280.0
_END = _HEIGHT - BOTTOM
_LONGER = 1.5
"""Shortest gap in a line, in multiples of the usual interval between samples."""
_FINER = 3
"""Columns of a wide drawing of time series per column of the narrow drawing."""
_CAP = 3
"""Half the length of the cap of an error bar, in pixels."""


def lines(chart: Lines, label: str, width: int = WIDTH) -> str:
    """Means along an axis, a line per label, with intervals as bands, or as bars if there are few places."""
    points = [point for line in chart.lines for point in line.points]
    places, right = chart.places, width - RIGHT
    ends = (places[0], places[-1], LEFT + 12, right - 12)
    x: Scale = LogScale(*ends) if chart.is_log else Scale(*ends)
    y = Scale(*span([end for p in points for end in p[1:]]), _END, TOP)
    ticks = apart(places, x) if chart.has_ticks else None
    inner = [left_axis(y, chart.y_label, right), bottom_axis(x, chart.x_label, _END, (LEFT, right), ticks)]
    draw = _bars if chart.has_bars else _band
    inner += [part for line in chart.lines for part in (draw(line, x, y), *_line(line, x, y, chart))]
    return drawing(_HEIGHT, inner, label, width)


def _band(line: Line, x: Scale, y: Scale) -> str:
    upper = [f"{x(at):.1f},{y(high):.1f}" for at, _, _, high in line.points]
    lower = [f"{x(at):.1f},{y(low):.1f}" for at, _, low, _ in reversed(line.points)]
    return element("polygon", points=" ".join([*upper, *lower]), class_=classes(line.look, "band"))


def _bars(line: Line, x: Scale, y: Scale) -> str:
    """Bars with caps at both ends."""
    cap = f"m{-_CAP} 0h{2 * _CAP}"
    bars = [
        f"M{x(at):.1f} {y(low):.1f}{cap}m{-_CAP} 0V{y(high):.1f}{cap}"
        for at, _, low, high in line.points
        if high > low
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


def series(chart: Series, label: str, columns: int, width: int = WIDTH) -> str:
    """Samples over time, a line per flow or link, as minima and maxima of at most `columns` groups."""
    count = max(len(trace.values) for trace in chart.traces)
    size = max(1, -(-count // columns))
    end = chart.start_s + chart.step_s * max(count - 1, 1)
    x = Scale(chart.start_s, end, LEFT, width - RIGHT)
    known = [trace.values[np.isfinite(trace.values)] for trace in chart.traces]
    y = Scale(
        *span([float(end) for part in known if len(part) for end in (part.min(), part.max())]), _END, TOP
    )
    warm = x(min(max(chart.warmup_s, chart.start_s), end)) - LEFT
    shade = (
        [element("rect", x=LEFT, y=TOP, width=warm, height=_END - TOP, class_="warmup")] if warm > 0 else []
    )
    axes = (left_axis(y, chart.y_label, x.end), bottom_axis(x, "time, s", _END, (LEFT, x.end)))
    inner = [*shade, *axes]
    for trace in chart.traces:
        times = chart.start_s + chart.step_s * size * np.arange(-(-len(trace.values) // size))
        inner.append(element("path", d=_path(trace, size, times, x, y), class_=classes(trace.look, "line")))
    return drawing(_HEIGHT, inner, label, width)


def _path(trace: Trace, size: int, times: Sequence[float] | np.ndarray, x: Scale, y: Scale) -> str:
    """A path through the extremes, with gaps where the interval between samples is longer than usual."""
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


# The drawing of a network: nodes, numbered links, and the routes of groups of flows.


_LINE = 17.0
"""Distance of lines of text."""
_MOST_ROW, _PATH_HEIGHT = 34.0, 120.0
"""Largest distance of nodes in a column, and the approximate height of all nodes, in pixels."""
_WAYS = 3.0
"""Distance of routes that share a link."""
_LONGEST_INNER = 14
"""Maximum number of characters of the name of a node between the ends; longer text is cut."""


class _Frame(NamedTuple):
    """Room of a drawing: its width, the room for names at either end, and the longest texts."""

    width: int
    side: float
    least_row: float
    end: int
    line: int


_WIDE = _Frame(WIDTH, 150.0, 12.0, 22, 112)
_SMALL = _Frame(NARROW, 24.0, 28.0, 22, 54)
"""Frame of a narrow drawing: names are above the nodes, and lines of text wrap."""


def path(chart: Path, label: str, frame: _Frame = _WIDE) -> str:
    """The network from left to right; below it the numbers of every hop."""
    last = max(node.column for node in chart.nodes) or 1
    low = min(node.place for node in chart.nodes)
    high = max(node.place for node in chart.nodes)
    row = max(frame.least_row, min(_MOST_ROW, _PATH_HEIGHT / (high - low or 1)))
    room = _WAYS * len(chart.routes) / 2 + 14
    step = (frame.width - 2 * frame.side) / last
    at = [(frame.side + step * node.column, TOP + room + row * (node.place - low)) for node in chart.nodes]
    bottom = TOP + 2 * room + row * (high - low)
    inner = [*_hops(chart, at), *_routes(chart, at), *_nodes(chart, at, last, frame), *_tags(chart, at)]
    lines = chart.numbers
    if frame.width == NARROW:
        lines = [part for line in chart.numbers for part in wrap(line, frame.line, subsequent_indent="   ")]
    for n, line in enumerate(lines):
        text = cut(line, frame.line)
        x = 8 if not line.startswith(" ") else 24
        inner.append(element("text", text.strip(), x=x, y=bottom + _LINE * (n + 1), class_="label"))
    return drawing(bottom + _LINE * len(lines) + 10, inner, label, frame.width)


_Places = list[tuple[float, float]]


def _hops(chart: Path, at: _Places) -> Iterator[str]:
    for hop in chart.hops:
        if hop.ends is None:
            continue
        (x1, y1), (x2, y2) = (at[end] for end in hop.ends)
        yield element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="air" if hop.is_air else "wire")


def _routes(chart: Path, at: _Places) -> Iterator[str]:
    """Draw a line per group of flows, beside the lines of other groups."""
    middle = (len(chart.routes) - 1) / 2
    shared = Counter(node for route in chart.routes for node in set(route.nodes))
    for n, route in enumerate(chart.routes):
        places = [(*at[node], _WAYS * (n - middle) if shared[node] > 1 else 0.0) for node in route.nodes]
        points = " ".join(f"{x:.1f},{y + aside:.1f}" for x, y, aside in places)
        yield group("polyline", [tip(route.label)], points=points, class_=classes(route.look, "line", "way"))


def _nodes(chart: Path, at: _Places, last: int, frame: _Frame) -> Iterator[str]:
    for node, (x, y) in zip(chart.nodes, at, strict=True):
        yield element("circle", cx=x, cy=y, r=5, class_="host" if node.is_host else "router")
        name, is_narrow = cut(node.name, frame.end), frame.width == NARROW
        if node.column == 0:
            place = (0.0, y - 9, "tick") if is_narrow else (x - 10, y + 4, "tick end")
        elif node.column == last:
            place = (float(NARROW), y - 9, "tick end") if is_narrow else (x + 10, y + 4, "tick")
        else:
            name, place = cut(node.name, _LONGEST_INNER), (x, y - 10, "tick middle")
        yield element("text", name, x=place[0], y=place[1], class_=place[2])


def _tags(chart: Path, at: _Places) -> Iterator[str]:
    """Draw the number of each hop in the middle of its edge."""
    edges: dict[tuple[int, ...], list[str]] = {}
    for n, hop in enumerate(chart.hops, 1):
        if hop.ends is not None:
            edges.setdefault(tuple(sorted(hop.ends)), []).append(str(n))
    for (a, b), numbers in edges.items():
        x, y = (at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2
        text = ", ".join(numbers)
        half = 5.0 + 4.0 * len(text)
        yield element("rect", x=x - half, y=y - 9, width=2 * half, height=18, rx=9, class_="tag")
        yield element("text", text, x=x, y=y + 4, class_="label middle")


# A chart as SVG.


def svg_of(figure: Figure, columns: int) -> str:
    """Return the chart of a figure as SVG. Time series have this number of columns. An image has no SVG."""
    chart, label = figure.chart, figure.alternative
    match chart:
        case Lines():
            return lines(chart, label)
        case Series():
            return series(chart, label, columns)
        case Boxes():
            return boxes(chart, label)
        case Heat():
            return heat(chart, label)
        case Forest():
            return forest(chart, label)
        case Path():
            return path(chart, label)
        case Image():
            return ""


def narrow_svg_of(figure: Figure, columns: int) -> str:
    """Return the chart of a figure for a phone; empty if the chart has no narrow form, or would not be
    readable. Time series have a column per `_FINER` columns of the wide drawing."""
    chart, label = figure.chart, figure.alternative
    match chart:
        case Lines():
            return lines(chart, label, NARROW)
        case Series():
            return series(chart, label, max(1, columns // _FINER), NARROW)
        case Boxes():
            return narrow_boxes(chart, label)
        case Heat():
            return narrow_heat(chart, label)
        case Forest():
            return narrow_forest(chart, label)
        case Path():
            return path(chart, label, _SMALL)
        case _:
            return ""


def legend_of(figure: Figure) -> list[tuple[str, Look]]:
    """Labels with colours and dashes, for charts that need a legend."""
    match figure.chart:
        case Lines(lines=drawn) | Series(traces=drawn):
            return [(one.label, one.look) for one in drawn if one.label]
        case Path(routes=drawn_routes):
            return [(one.label, one.look) for one in drawn_routes]
        case _:
            return []
