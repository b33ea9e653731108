"""Models of statsmodels (extra `stats`): several metrics together, and seeds as random effects."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy.special import fdtrc

from fullpipe.analysis.statistics.anova import EFFECTS, Factors, FTest, Matrix, effects_of
from fullpipe.analysis.statistics.intervals import Vector
from fullpipe.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Pillai:
    """Result of a test that all groups have the same means of several metrics."""

    trace: float
    f: float
    df1: float
    df2: float
    p: float


def manova(groups: Sequence[Matrix]) -> Pillai:
    """Test that the means of several metrics are the same in all groups, by Pillai's trace.

    The test assumes independent runs, jointly normal metrics, and the same covariances in every group.
    Pillai's trace is the most robust of the usual statistics if these assumptions do not hold. The test does
    not say which metric differs: use it beside a test of every metric. Source: Pillai 1955, "Some new test
    criteria in multivariate analysis"; Olson 1976, "On choosing a test statistic in multivariate analysis of
    variance".

    Args:
        groups: A matrix per group, with a row per run and a column per metric, each in any unit.

    Raises:
        MissingExtraError: If statsmodels is not installed.
        ValueError: If there are fewer than two groups or metrics, a group has no more runs than there are
            metrics, or a metric is a linear combination of others.
    """
    metrics = {group.shape[1] for group in groups}
    if len(groups) < 2 or len(metrics) != 1 or metrics == {1}:
        raise ValueError(
            "groups: give two groups or more, all with the same metrics, and two metrics or more"
        )
    if any(len(group) <= group.shape[1] for group in groups):
        raise ValueError("groups: each group needs more runs than metrics")
    values = np.vstack(groups)
    values = (values - values.mean(axis=0)) / np.where(np.ptp(values, axis=0) > 0, values.std(axis=0), 1)
    if np.linalg.matrix_rank(values) < values.shape[1]:
        raise ValueError("metrics: one metric is a linear combination of the others; leave it out")
    of = np.repeat(range(len(groups)), [len(group) for group in groups])
    design = np.column_stack([np.ones(len(of)), *(of == n for n in range(1, len(groups)))]).astype(float)
    found = _statsmodels("multivariate.manova").MANOVA(values, design)
    hypothesis = np.hstack([np.zeros((len(groups) - 1, 1)), np.eye(len(groups) - 1)])
    row = found.mv_test([("groups", hypothesis)]).results["groups"]["stat"].loc["Pillai's trace"]
    trace, f, df1, df2, p = (float(row[key]) for key in ("Value", "F Value", "Num DF", "Den DF", "Pr > F"))
    return Pillai(trace, f, df1, df2, p)


def mixed_model(blocks: Mapping[tuple[int, int, int], float]) -> Mapping[str, FTest]:
    """Apply `factorial_mixed_model` to two factors, and return the tests by the names in `EFFECTS`.

    Raises:
        MissingExtraError: If statsmodels is not installed.
        ValueError: In the same cases as `factorial_mixed_model`.
    """
    found = factorial_mixed_model(dict[tuple[int, ...], float](blocks.items()))
    return dict(zip(EFFECTS, found.values(), strict=True))


def factorial_mixed_model(blocks: Mapping[tuple[int, ...], float]) -> Mapping[Factors, FTest]:
    """Test every factor and interaction in a mixed model with a random intercept per seed.

    The model is fitted by restricted maximum likelihood. Effects are tested by Wald's F with the degrees of
    freedom within seeds. The test is exact if every seed has every cell. Sources: Laird and Ware 1982,
    "Random-effects models for longitudinal data"; Pinheiro and Bates 2000, "Mixed-effects models in S and
    S-PLUS", section 2.4.2.

    Args:
        blocks: The value of every combination of levels and seed, all numbered from 0, the seed last.

    Returns:
        A test per set of factors, as in `factorial_anova`.

    Raises:
        MissingExtraError: If statsmodels is not installed.
        ValueError: If a factor has fewer than two levels, there are fewer than two seeds, nothing varies, or
            the model cannot be fitted.
    """
    keys = np.array(list(blocks))
    values = np.array(list(blocks.values()))
    *levels, seeds = (int(places.max()) + 1 for places in keys.T)
    if min(levels) < 2 or seeds < 2 or np.ptp(values) == 0:
        raise ValueError(
            "blocks: give two or more levels per factor, two or more seeds, and values that vary"
        )
    columns = [_deviations(k)[keys[:, place]] for place, k in enumerate(levels)]
    effects = effects_of(len(levels))
    parts = [_products([columns[place] for place in effect]) for effect in effects]
    design = np.column_stack([np.ones(len(keys)), *parts])
    scaled = (values - values.mean()) / values.std()
    freedom = len(keys) - seeds - (math.prod(levels) - 1)
    if freedom < 1:
        raise ValueError("blocks: there are too few seeds for this number of cells; add seeds")
    estimates, covariance = _fitted(scaled, design, keys[:, -1])
    ends = np.cumsum([1, *(part.shape[1] for part in parts)])
    found = {}
    for name, begin, end in zip(effects, ends[:-1], ends[1:], strict=True):
        effect = estimates[begin:end]
        f = float(effect @ np.linalg.solve(covariance[begin:end, begin:end], effect)) / len(effect)
        found[name] = FTest(f, len(effect), freedom, float(fdtrc(len(effect), freedom, f)), len(keys))
    return found


def _products(columns: Sequence[Matrix]) -> Matrix:
    """Return the products of all combinations of columns with one column of each factor, run by run."""
    made = columns[0]
    for more in columns[1:]:
        made = (made[:, :, None] * more[:, None, :]).reshape(len(made), -1)
    return made


def _deviations(levels: int) -> Matrix:
    """Return a design matrix whose columns sum to zero over the levels."""
    return np.vstack([np.eye(levels - 1), -np.ones((1, levels - 1))])


def _fitted(values: Vector, design: Matrix, seeds: Any) -> tuple[Vector, Matrix]:
    """Return fixed effects and their covariance; by least squares if the variance between seeds is 0."""
    make = _statsmodels("regression.mixed_linear_model").MixedLM
    if _vary_no_more_than_chance(values, design, seeds):
        inverse = np.linalg.inv(design.T @ design)
        estimates = inverse @ design.T @ values
        rest = values - design @ estimates
        return estimates, inverse * float(rest @ rest) / (len(values) - design.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # users cannot act on warnings of the optimiser
        try:
            found = make(values, design, groups=seeds).fit(reml=True)
        except np.linalg.LinAlgError:
            raise ValueError("the mixed model cannot be fitted to these values") from None
    fixed = design.shape[1]
    return np.asarray(found.fe_params), np.asarray(found.cov_params())[:fixed, :fixed]


def _vary_no_more_than_chance(values: Vector, design: Matrix, seeds: Any) -> bool:
    """Whether the variance between seeds is no larger than the variance within seeds."""
    rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    sums, n = np.bincount(seeds, weights=rest), np.bincount(seeds)
    between = float((sums**2 / n).sum())
    within = float(rest @ rest) - between
    freedom = len(values) - len(n) - (design.shape[1] - 1)
    return bool(between / (len(n) - 1) <= within / freedom)


def _statsmodels(module: str) -> Any:
    try:
        return import_module(f"statsmodels.{module}")
    except ImportError:
        raise MissingExtraError(
            "statsmodels is not installed; pip install 'fullpipe[stats]' brings it"
        ) from None
