"""Which value of a metric is neither much nor little: the middle of the colours of a heat map."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from fullpipe.analysis.metrics import MEASURES

_NEUTRAL = {measure.name: measure.neutral for measure in MEASURES if measure.neutral}


def with_neutral(metrics: Collection[str]) -> list[str]:
    """Metrics, and those that say which value of them is neutral.

    >>> with_neutral(["share", "goodput"])
    ['share', 'goodput', 'equal_share']
    """
    others = (_NEUTRAL.get(name) for name in metrics)
    return list(dict.fromkeys((*metrics, *(name for name in others if isinstance(name, str)))))


def neutral_of(metric: str, values: pl.DataFrame, groups: Collection[str]) -> float | None:
    """The neutral value of a metric of some groups, if there is one and it is the same in all runs.

    Args:
        metric: Its name.
        values: As `values_of` gives them for the metrics of `with_neutral`.
        groups: Names of groups of flows, as the column `of` has them.
    """
    neutral = _NEUTRAL.get(metric)
    if not isinstance(neutral, str):
        return neutral
    found = values.filter(pl.col("metric") == neutral, pl.col("of").is_in(list(groups)))["value"].unique()
    return found[0] if len(found) == 1 else None
