"""Pairs of levels of all subjects of a family."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fullpipe.validation.factors.rows import Row


def follow_ups(rows: Sequence[Row]) -> list[float]:
    """P values of pairs of levels, corrected over the subjects of a family; NaN of all other rows.

    Pairs of one subject are corrected by their own test. Over subjects, p is multiplied by the number of
    those that still have a pair with a p as large or larger, in steps from the smallest on: Holm's procedure,
    whose hypotheses are those subjects. Source: Holm 1979, "A simple sequentially rejective multiple test
    procedure".
    """
    adjusted, largest = [math.nan] * len(rows), 0.0
    order = sorted((n for n, row in enumerate(rows) if row.is_follow_up), key=lambda n: rows[n].p)
    for step, n in enumerate(order):
        left = len({rows[m].subject.key for m in order[step:]})
        largest = max(largest, min(1.0, left * rows[n].p))
        adjusted[n] = largest
    return adjusted
