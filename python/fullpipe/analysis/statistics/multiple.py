"""P values adjusted for many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """P values adjusted for the family-wise error: the probability of rejecting any true hypothesis.

    p'(i) = max over j <= i of min(1, (m - j + 1) p(j)), p ascending. Source: Holm 1979, "A simple
    sequentially rejective multiple test procedure". NaN stays NaN, and does not count as a test.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [math.nan] * len(p)
    known = sorted((value, i) for i, value in enumerate(p) if not math.isnan(value))
    largest = 0.0
    for rank, (value, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * value))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """P values adjusted for the false discovery rate: the mean share of true hypotheses among those rejected.

    q(i) = min over j >= i of min(1, m p(j) / j), p ascending. Source: Benjamini and Hochberg 1995,
    "Controlling the false discovery rate: a practical and powerful approach to multiple testing"; it holds
    for independent and positively dependent tests. NaN stays NaN, and does not count as a test.

    >>> [round(q, 3) for q in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    adjusted = [math.nan] * len(p)
    known = sorted(((value, i) for i, value in enumerate(p) if not math.isnan(value)), reverse=True)
    least = 1.0
    for place, (value, i) in enumerate(known):
        least = min(least, len(known) / (len(known) - place) * value)
        adjusted[i] = least
    return adjusted
