"""Samples over time as the data of a figure."""

from __future__ import annotations

import json
from typing import Any

from fullpipe.report.content import Series
from fullpipe.report.pyramid import FACTOR, NOTHING, quantised
from fullpipe.report.text import lines_visible


def smallest_group(numbers: int, samples: int) -> int:
    """How many samples have one smallest and one largest value in the finest levels."""
    size = 1
    while (numbers if size == 1 else 2 * numbers / size) > samples:
        size *= 2
    return size if size != 2 else 4  # two numbers for every two samples save nothing


def series_of(chart: Series, name: str, size: int) -> dict[str, Any]:
    """What the script of a page draws a figure from."""
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
                "levels": found.levels,
            }
        )
    return {
        "label": lines_visible(chart.y_label),
        "name": lines_visible(name),
        "start": chart.start_s,
        "step": chart.step_s,
        "size": size,
        "factor": FACTOR,
        "nothing": NOTHING,
        "traces": traces,
    }


def json_of(value: Any) -> str:
    """JSON that ends no element and opens none."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
