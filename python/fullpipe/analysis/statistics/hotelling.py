"""Hotelling's test: whether the means of several metrics of one sample are all zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from fullpipe.analysis.statistics.anova import Matrix


@dataclass(frozen=True, slots=True)
class Hotelling:
    """Result of a test that the means of several metrics are all zero."""

    wilks: float
    """Wilks' lambda, 1 / (1 + T² / (n - 1))."""
    f: float
    df1: int
    df2: int
    p: float


def hotelling(values: Matrix) -> Hotelling:
    """Test that the means of p metrics are all zero, from n rows: a MANOVA with an intercept only.

    T² = n m' S⁻¹ m and F = (n - p) / (p (n - 1)) T² with p and n - p degrees of freedom. Rows must be
    independent. The test is pointless for metrics that cannot be negative. Source: Hotelling 1931,
    "The generalization of Student's ratio".

    Args:
        values: A row per run and a column per metric, each in any unit.

    Raises:
        ValueError: If there are no more rows than metrics, or a metric is a sum of multiples of others.

    >>> found = hotelling(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]]))
    >>> round(found.wilks, 4), round(found.f, 4)
    (0.1613, 5.2)
    """
    n, metrics = values.shape
    if n <= metrics:
        raise ValueError(f"values: more rows than the {metrics} metrics are needed, there are {n}")
    spread = np.atleast_2d(np.cov(values.T))
    if np.linalg.matrix_rank(spread) < metrics:
        raise ValueError("values: a metric is a sum of multiples of others, or does not vary")
    means = values.mean(axis=0)
    t2 = n * float(means @ np.linalg.solve(spread, means))
    df1, df2 = metrics, n - metrics
    f = t2 * df2 / (df1 * (n - 1))
    return Hotelling(1 / (1 + t2 / (n - 1)), f, df1, df2, float(fdtrc(df1, df2, f)))
