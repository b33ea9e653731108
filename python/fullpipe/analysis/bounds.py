"""Bounds of metrics: every interval in a table or a figure is truncated there."""

from __future__ import annotations

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, Bounds


def bounds_of(metric: str) -> Bounds:
    """Return the smallest and largest possible value of a metric, in its unit; 0 and infinity if unknown.

    >>> bounds_of("jain"), bounds_of("rtt_mean")
    ((0.0, 1.0), (0.0, inf))
    """
    return BY_NAME[metric].bounds if metric in BY_NAME else NO_LESS_THAN_0


def bounds_of_difference(metric: str, reference: float) -> Bounds:
    """Return the bounds of a metric's difference from the mean of the reference, in its unit.

    >>> bounds_of_difference("rtt_mean", 0.25), bounds_of_difference("utilisation", 0.75)
    ((-0.25, inf), (-0.75, 0.25))
    """
    least, most = bounds_of(metric)
    return min(least - reference, 0.0), max(most - reference, 0.0)
