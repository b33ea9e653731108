"""Samples over time, and lines along an axis, as the data of a figure."""

from __future__ import annotations

import json
from typing import Any

from fullpipe.report.content import Lines, Series
from fullpipe.report.quantised import NOTHING, quantised
from fullpipe.report.text import lines_visible


def smallest_group(numbers: int, samples: int) -> int:
    """Number of samples that share one smallest and one largest value in a page."""
    size = 1
    while (numbers if size == 1 else 2 * numbers / size) > samples:
        size *= 2
    return size if size != 2 else 4  # two numbers for every two samples save nothing


def series_of(chart: Series, name: str, size: int) -> dict[str, Any]:
    """Return the data from which the script of a page draws a figure."""
    traces = []
    for trace in chart.traces:
        found = quantised(trace.values, size)
        traces.append(
            {
                "label": lines_visible(trace.label),
                "colour": trace.look.colour,
                "dash": trace.look.dash,
                "low": found.low,
                "step": found.step,
                "values": found.values,
            }
        )
    return {
        "label": lines_visible(chart.y_label),
        "name": lines_visible(name),
        "start": chart.start_s,
        "step": chart.step_s,
        "warmup": chart.warmup_s,
        "size": size,
        "nothing": NOTHING,
        "traces": traces,
    }


def lines_of(chart: Lines, name: str) -> dict[str, Any]:
    """Return the data of lines with bands for the script of a page: columns along common places."""
    places, lines = chart.places, []
    for line in chart.lines:
        at = {point[0]: point for point in line.points}
        columns = [[at[place][n] if place in at else None for place in places] for n in (1, 2, 3)]
        look = {"colour": line.look.colour, "dash": line.look.dash}
        lines.append({"label": lines_visible(line.label), **look, "columns": columns})
    labels = {"x": lines_visible(chart.x_label), "label": lines_visible(chart.y_label)}
    named = {"name": lines_visible(name), **labels, "log": chart.is_log}
    return {**named, "bars": chart.has_bars, "ticks": chart.has_ticks, "places": places, "lines": lines}


def json_of(value: Any) -> str:
    """JSON that ends no element and opens none."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
