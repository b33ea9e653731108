"""Neutral values of metrics, neither much nor little: the middle of the colours of a heat map."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from fullpipe.analysis.metrics import MEASURES

_NEUTRAL = {measure.name: measure.neutral for measure in MEASURES if measure.neutral}


def with_neutral(metrics: Collection[str]) -> list[str]:
    """Return metrics with those that give their neutral values.

    >>> with_neutral(["share", "goodput"])
    ['share', 'goodput', 'equal_share']
    """
    others = (_NEUTRAL.get(name) for name in metrics)
    return list(dict.fromkeys((*metrics, *(name for name in others if isinstance(name, str)))))


def neutral_of(metric: str, values: pl.DataFrame, groups: Collection[str]) -> float | None:
    """Return the neutral value of a metric for some groups; None unless it is the same in all runs.

    Args:
        metric: Name of the metric.
        values: Values of the metrics of `with_neutral`, as `values_of` gives them.
        groups: Names of groups of flows, as in the column `of`.
    """
    neutral = _NEUTRAL.get(metric)
    if not isinstance(neutral, str):
        return neutral
    found = values.filter(pl.col("metric") == neutral, pl.col("of").is_in(list(groups)))["value"].unique()
    return found[0] if len(found) == 1 else None
