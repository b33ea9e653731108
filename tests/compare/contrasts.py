"""Contrasts and comparisons that the tests of conclusions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.statistics import Interval
from fullpipe.validation.compare import Finding, Subject, VariantComparison
from fullpipe.validation.compare.comparison import Entries
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.rules import paired

SIZE = "topology.bottleneck.queue.size"
UNITS = {
    "goodput": "bit/s",
    "jain": "1",
    **dict.fromkeys(("rtt_mean", "rtt_p95", "owd_mean", "sojourn_mean", "jitter"), "s"),
}


def contrast(metric: str, of: str, entry: int | None, change: float, point: str = "") -> Contrast:
    """A metric of which the other side has so much more, as a share."""
    base = {"goodput": 5e6, "jain": 0.9, "sojourn_mean": 0.02}.get(metric, 0.05)
    noise = np.random.Generator(np.random.PCG64(3)).normal(0, 0.002, (2, 12))
    sides = [list(base * (1 + of_side)) for of_side in noise]
    other = [value + change * base for value in sides[1]]
    kind = "link" if metric == "sojourn_mean" else "flows"
    better: Any = "higher" if metric in ("goodput", "jain") else "lower"
    subject = Subject(kind, entry, of, metric, UNITS[metric], {SIZE: point} if point else {})
    return Contrast(
        sides[0], other, 0.03 * base, better, subject=subject, sides=("cubic", "vegas"), stated=Margin(0.03)
    )


def compared(contrasts: Sequence[Contrast], changed: int | None = 0, **more: Any) -> VariantComparison:
    """The comparison of contrasts, all at one point."""
    return VariantComparison(
        scenario="duel",
        sides={"cubic": range(1, 13), "vegas": range(1, 13)},
        findings=paired(contrasts),
        by_case={"": Entries(frozenset() if changed is None else frozenset({changed}), frozenset({0, 1}))},
        **more,
    )


ALL = [
    contrast("sojourn_mean", "bottleneck", None, 0.0),
    contrast("jain", "all flows", None, -0.3),
    contrast("goodput", "all flows", None, 0.0),
    contrast("goodput", "beside", 1, 0.4),
    contrast("rtt_mean", "mine", 0, -0.2),
    contrast("goodput", "mine", 0, -0.6),
]


def losses(points: Sequence[str], more: float) -> list[Contrast]:
    """The share of dropped packets is higher by so much."""
    return [
        Contrast(
            [0.001 + 1e-6 * n for n in range(12)],
            [0.001 + more + 2e-6 * n for n in range(12)],
            1e-3,
            "lower",
            subject=Subject("flows", 0, "mine", "dropped_share", "1", {SIZE: point}),
            sides=("cubic", "vegas"),
            stated=Margin(absolute=1e-3),
        )
        for point in points
    ]


def undecided(metric: str, unit: str, reference: float, margin: Margin, of: str = "mine") -> Finding:
    """A difference of 0.05 with a wide interval."""
    return Finding(
        subject=Subject("flows", 0, of, metric, unit),
        rule="paired",
        sides=("reference", "other"),
        values=([reference], [reference + 0.05]),
        margin=margin,
        allowed=margin.allowed(reference),
        better="",
        verdict="undecided",
        decision="undecided",
        reason="",
        difference=0.05,
        interval=Interval(-0.5, 0.3, 0.95, "t"),
        relative_of_cells=Interval(-0.5 / reference, 0.3 / reference, 0.95, "Fieller") if reference else None,
    )
