"""Bounds of the quantities of studies; intervals of means are truncated there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, PART, Bounds
from fullpipe.analysis.statistics import Interval, t_interval

_PERCENT, _SIGNED = (0.0, 100.0), (-inf, inf)
_BOUNDS: Mapping[str, Bounds] = {
    "jain": PART,
    "share": PART,
    "short_share": PART,
    "share_change": (-1.0, 1.0),
    "lost_percent": _PERCENT,
    "cubic_lost_percent": _PERCENT,
    "bbr_lost_percent": _PERCENT,
    "retransmitted_percent": _PERCENT,
    "regular_drops_percent": _PERCENT,
    "cuts_percent": _PERCENT,
    "long_share_percent": _PERCENT,
    "link": _PERCENT,
    "growth_percent": (-100.0, 100.0),
    "growth_ms": _SIGNED,
    "lead_mbps": _SIGNED,
    "drop": (-inf, 1.0),
    "cut": (-inf, 1.0),
    "change": _SIGNED,
}
"""Bounds of quantities by their names without a number at the end; the lower bound of all others is 0."""


def bounds_of(quantity: str) -> Bounds:
    """Return the smallest and largest possible value of a quantity, in its unit.

    >>> bounds_of("drop_2"), bounds_of("jain_cubic"), bounds_of("rtt_ms")
    ((-inf, 1.0), (0.0, 1.0), (0.0, inf))
    """
    name = quantity.rstrip("0123456789").removesuffix("_")
    return _BOUNDS.get("jain" if name.startswith("jain_") else name, NO_LESS_THAN_0)


def interval_of(quantity: str, values: Sequence[float]) -> Interval | None:
    """Return Student's 95 % interval of the mean, truncated at the bounds; None for fewer than two values."""
    return t_interval(values).clipped(*bounds_of(quantity)) if len(values) > 1 else None
