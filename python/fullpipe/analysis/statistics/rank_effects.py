"""Effect sizes by ranks, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri, stdtrit

from fullpipe.analysis.statistics.anova import Groups, Matrix
from fullpipe.analysis.statistics.effect_sizes import Effect
from fullpipe.analysis.statistics.intervals import Interval, check_level
from fullpipe.analysis.statistics.ranks import friedman, kruskal_wallis
from fullpipe.analysis.statistics.samples import Vector, vector
from fullpipe.analysis.statistics.slow_imports import ranked


def epsilon_squared(groups: Groups, level: float = 0.95, *, resamples: int = 2_000, seed: int = 1) -> Effect:
    """Share of the variance of ranks that groups explain: H / (N - 1) (Kelley 1935; see `kruskal_wallis`).

    The interval is that of the share in the population. It comes from bootstrap draws within every group,
    each with the value corrected for bias, (H - k + 1) / (N - k); see `_ends`. The same seed gives the same
    interval.

    Raises:
        ValueError: As `kruskal_wallis`.
    """
    check_level(level)
    values = [vector(group, at_least=2, what=f"group {n}") for n, group in enumerate(groups)]
    found = kruskal_wallis(values)
    together = np.concatenate(values)
    of = np.repeat(range(len(values)), [x.size for x in values])
    distinct, places = np.unique(together, return_inverse=True)
    random = np.random.Generator(np.random.PCG64(seed))
    counts = np.zeros((len(values), resamples, distinct.size))
    for n, x in enumerate(values):
        drawn = random.multinomial(x.size, np.full(x.size, 1 / x.size), size=resamples)
        at, firsts = np.unique(np.sort(places[of == n]), return_index=True)
        counts[n][:, at] = np.add.reduceat(drawn[:, np.argsort(places[of == n])], firsts, axis=1)
    shares, unbiased = _explained(counts), together.size - len(values)
    k = len(values)
    drawn_values = (shares * (together.size - 1) - (k - 1)) / unbiased
    value = (found.statistic - (k - 1)) / unbiased
    return Effect("epsilon²", found.effect, _ends(drawn_values, value, together.size - k, level))


def _explained(counts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Vector:
    """Return, for every draw, the share of the variance of midranks between groups.

    Args:
        counts: Counts by group, draw and distinct value.
    """
    total = counts.sum(axis=0)
    middle = np.cumsum(total, axis=1) - (total - 1) / 2
    n = total.sum(axis=1, keepdims=True)
    away = middle - (n + 1) / 2
    spread = (total * away**2).sum(axis=1)
    sizes = counts.sum(axis=2)
    between = ((counts * away).sum(axis=2) ** 2 / sizes).sum(axis=0)
    return np.asarray(np.divide(between, spread, out=np.zeros_like(spread), where=spread > 0))


def kendalls_w(
    blocks: Sequence[Sequence[float]], level: float = 0.95, *, resamples: int = 2_000, seed: int = 1
) -> Effect:
    """Agreement of blocks on the order of levels: W, from 0 to 1 (Kendall and Babington Smith 1939).

    The interval is that of W for infinitely many blocks. It comes from bootstrap draws of blocks, each with
    the mean rank correlation of two blocks, (n W - 1) / (n - 1), which is unbiased; see `_ends`.

    Args:
        blocks: A row per block, such as a seed, and a column per level.
        level: Level of the interval.
        resamples: Number of draws.
        seed: Seed of the draws; the same seed gives the same interval.

    Raises:
        ValueError: As `friedman`.
    """
    check_level(level)
    found = friedman(blocks)
    ranks = ranked(np.asarray(blocks, dtype=np.float64), axis=1)
    n = len(ranks)
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = random.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    agreement = (n * _agreement(drawn, ranks) - 1) / (n - 1)
    return Effect(
        "Kendall's W", found.effect, _ends(agreement, (n * found.effect - 1) / (n - 1), n - 1, level)
    )


def _agreement(counts: Matrix, ranks: Matrix) -> Vector:
    n, k = ranks.shape
    spread = counts @ (ranks**2 - (k + 1) ** 2 / 4).sum(axis=1)
    sums = ((counts @ ranks - n * (k + 1) / 2) ** 2).sum(axis=1)
    return np.asarray(np.divide(sums / n, spread, out=np.zeros_like(sums), where=spread > 0))


def _ends(drawn: Vector, value: float, freedom: int, level: float) -> Interval:
    """Percentile interval of the draws, centred on the value and widened for small samples.

    The widening uses Student's instead of the normal quantile, and corrects the too small variance of draws.

    Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13; Hesterberg 2015, "What
    teachers should know about the bootstrap", section 4.1, for the widening.
    """
    tail = (1 - level) / 2
    n = freedom + 1
    wider = math.sqrt(n / freedom) * float(stdtrit(freedom, 1 - tail)) / float(ndtri(1 - tail))
    low, high = (wider * (float(end) - float(drawn.mean())) for end in np.quantile(drawn, [tail, 1 - tail]))
    return Interval(
        min(max(value + low, 0.0), 1.0), max(min(value + high, 1.0), 0.0), level, "bootstrap-percentile"
    )
