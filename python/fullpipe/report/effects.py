"""Effects of `fullpipe test` as a figure: differences in per cent of their reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from fullpipe.analysis.bounds import bounds_of_difference
from fullpipe.analysis.shown import difference_shown
from fullpipe.report.content import Difference, Figure, Forest
from fullpipe.report.rows import interval_of, is_real, margin_of, reference_of, text_of

_MOST = 12
"""Rows of the figure."""
_LARGEST = 1e9
"""Largest difference that is drawn, per cent."""
Row = Mapping[str, Any]


def forest_of(rows: Sequence[Row]) -> Figure | None:
    """Draw the differences of rows that have one, those with a verdict first; None without any."""
    known = [(row, made) for row in rows if (made := _difference(row)) is not None]
    if not known:
        return None
    first = sorted(range(len(known)), key=lambda n: not known[n][0].get("verdict"))[:_MOST]
    drawn = [known[n][1] for n in sorted(first)]
    left = f" {len(drawn)} of {len(known):,} are drawn." if len(drawn) < len(known) else ""
    caption = f"Differences with their intervals, in per cent of the reference.{left}"
    linear = median(abs(each.value) for each in drawn) or 1.0
    told = "; ".join(f"{each.label} {each.text}" for each in drawn)
    return Figure(caption, Forest("difference, % of the reference", drawn, linear), told)


def _difference(row: Row) -> Difference | None:
    """A row of the figure, with its interval truncated at the bounds of the metric.

    Returns:
        None without a difference and a reference that give numbers to draw.
    """
    if not is_real(row.get("difference")) or not reference_of(row):
        return None
    reference, ends = reference_of(row), interval_of(row)
    scale = 100 / abs(reference)
    within = ends and ends.clipped(*bounds_of_difference(str(row.get("metric")), reference))
    low, high = (scale * within.low, scale * within.high) if within else (None, None)
    value = scale * row["difference"]
    if not all(end is None or abs(end) < _LARGEST for end in (value, low, high)):
        return None
    of = str(row.get("unit") or ""), str(row.get("metric") or "")
    text = difference_shown(float(row["difference"]), ends, reference, *of, margin_of(row), has_unit=True)
    return Difference(_label(row), value, low, high, str(row.get("verdict") or ""), text)


def _label(row: Row) -> str:
    """Effect, metric, group and point."""
    paths = [key for key in row if "." in key]
    words = [row.get(key) for key in ("effect", "case", "metric", "of", *paths, "test")]
    return " ".join(text_of(word) for word in words if word)
