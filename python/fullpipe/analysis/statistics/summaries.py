"""Summaries of replicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fullpipe.analysis.statistics.samples import vector


@dataclass(frozen=True, slots=True)
class Summary:
    """Five numbers of a box plot, and the moments.

    `sd` is the sample standard deviation, sqrt(sum (x - mean)^2 / (n - 1)), and `sem` is sd / sqrt(n); both
    are NaN for a single value. Quartiles are interpolated linearly (Hyndman and Fan
    1996, "Sample quantiles in statistical packages", definition 7)."""

    n: int
    mean: float
    sd: float
    sem: float
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float


def summarise(values: Iterable[float]) -> Summary:
    """Summarise one or more finite numbers.

    >>> summarise([1, 2, 3, 4, 5]).median
    3.0
    """
    x = vector(values, at_least=1)
    sd = float(x.std(ddof=1)) if x.size > 1 else float("nan")
    low, q1, median, q3, high = (float(q) for q in np.quantile(x, [0, 0.25, 0.5, 0.75, 1]))
    return Summary(
        n=int(x.size),
        mean=float(x.mean()),
        sd=sd,
        sem=sd / float(np.sqrt(x.size)),
        minimum=low,
        q1=q1,
        median=median,
        q3=q3,
        maximum=high,
    )
