"""The drawing of a network: nodes, numbered links, and the routes of groups of flows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fullpipe.report.content import Path
from fullpipe.report.svg.marks import TOP, WIDTH, classes, drawing, element, group, tip

_LINE = 17.0
"""Distance of lines of text."""
_LEAST_ROW, _MOST_ROW, _HEIGHT = 12.0, 34.0, 120.0
"""Distance of nodes in a column, and about the height of all."""
_SIDE = 150.0
"""Room for names at either end."""
_WAYS = 3.0
"""Distance of routes that share a link."""
_LONGEST_END, _LONGEST_INNER, _LONGEST_LINE = 22, 14, 112
"""Characters of names and of lines; longer ones are cut."""


def path(chart: Path, label: str) -> str:
    """The network from left to right; below it the numbers of every hop."""
    last = max(node.column for node in chart.nodes) or 1
    low = min(node.place for node in chart.nodes)
    high = max(node.place for node in chart.nodes)
    row = max(_LEAST_ROW, min(_MOST_ROW, _HEIGHT / (high - low or 1)))
    room = _WAYS * len(chart.routes) / 2 + 14
    step = (WIDTH - 2 * _SIDE) / last
    at = [(_SIDE + step * node.column, TOP + room + row * (node.place - low)) for node in chart.nodes]
    bottom = TOP + 2 * room + row * (high - low)
    inner = [*_hops(chart, at), *_routes(chart, at), *_nodes(chart, at, last), *_tags(chart, at)]
    for n, line in enumerate(chart.numbers):
        text = _cut(line, _LONGEST_LINE)
        inner.append(element("text", text, x=8, y=bottom + _LINE * (n + 1), class_="label"))
    return drawing(bottom + _LINE * len(chart.numbers) + 10, inner, label)


_Places = list[tuple[float, float]]


def _hops(chart: Path, at: _Places) -> Iterator[str]:
    for hop in chart.hops:
        if hop.ends is None:
            continue
        (x1, y1), (x2, y2) = (at[end] for end in hop.ends)
        yield element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="air" if hop.is_air else "wire")


def _routes(chart: Path, at: _Places) -> Iterator[str]:
    """A line per group, beside those of other groups."""
    middle = (len(chart.routes) - 1) / 2
    shared = Counter(node for route in chart.routes for node in set(route.nodes))
    for n, route in enumerate(chart.routes):
        places = [(*at[node], _WAYS * (n - middle) if shared[node] > 1 else 0.0) for node in route.nodes]
        points = " ".join(f"{x:.1f},{y + aside:.1f}" for x, y, aside in places)
        yield group("polyline", [tip(route.label)], points=points, class_=classes(route.look, "line", "way"))


def _nodes(chart: Path, at: _Places, last: int) -> Iterator[str]:
    for node, (x, y) in zip(chart.nodes, at, strict=True):
        yield element("circle", cx=x, cy=y, r=5, class_="host" if node.is_host else "router")
        if node.column == 0:
            yield element("text", _cut(node.name, _LONGEST_END), x=x - 10, y=y + 4, class_="tick end")
        elif node.column == last:
            yield element("text", _cut(node.name, _LONGEST_END), x=x + 10, y=y + 4, class_="tick")
        else:
            name = _cut(node.name, _LONGEST_INNER)
            yield element("text", name, x=x, y=y - 10, class_="tick middle")


def _tags(chart: Path, at: _Places) -> Iterator[str]:
    """The numbers of hops on the middle of their edge."""
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


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
