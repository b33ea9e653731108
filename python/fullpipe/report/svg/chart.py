"""A chart as SVG."""

from __future__ import annotations

from fullpipe.report.content import Boxes, Figure, Forest, Heat, Image, Lines, Look, Path, Series
from fullpipe.report.svg.boxes import boxes, forest, heat
from fullpipe.report.svg.lines import lines, series
from fullpipe.report.svg.path import path


def svg_of(figure: Figure, columns: int) -> str:
    """The chart of a figure; time series with as many columns. An image has none."""
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


def legend_of(figure: Figure) -> list[tuple[str, Look]]:
    """Labels with their looks, for charts whose lines need a legend."""
    match figure.chart:
        case Lines(lines=drawn) | Series(traces=drawn):
            return [(one.label, one.look) for one in drawn if one.label]
        case Path(routes=drawn_routes):
            return [(one.label, one.look) for one in drawn_routes]
        case _:
            return []
