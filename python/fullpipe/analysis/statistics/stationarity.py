"""Doubts about the mean over a run: start-up in it, drift, or too few independent samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from fullpipe.analysis.statistics.autocorrelation import effective_sample_size
from fullpipe.analysis.statistics.intervals import t_interval
from fullpipe.analysis.statistics.samples import Vector, vector

Trend = Literal["steady", "warm-up", "drift", "noisy", "too short"]

FEWEST = 30
"""Fewest samples for a verdict."""
TOLERANCE = 0.02
"""Change of the mean by start-up that does not matter, as a share of the mean."""
PRECISION = 0.05
"""Largest half-width of the 95 % interval of a mean worth quoting, as a share of the mean. Drift below this
share does not matter."""
_BATCH = 5
_ROUNDING = 1e-12
_FEWEST_PARTS = 6
_BATCHES = 10
_Z = 2.576  # two-sided 1 %, so that of a hundred steady flows one is suspected


@dataclass(frozen=True, slots=True)
class Steadiness:
    """Whether a mean over samples along a run can be trusted."""

    verdict: Trend
    reason: str
    """One clause, with the numbers."""
    warmup: int
    """Number of samples to leave out at the start, by MSER-5; 0 if none."""

    @property
    def trusted(self) -> bool:
        """Whether the mean can be quoted without a reservation."""
        return self.verdict == "steady"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A mean that should not be trusted."""

    flow: str
    quantity: str
    verdict: Trend
    reason: str
    warmup_s: float | None
    """The warm-up that would help; None if none would."""

    def __str__(self) -> str:
        text = f"{self.flow}: the mean {self.quantity} should not be trusted: {self.reason}"
        return text if self.warmup_s is None else f'{text}; try warmup = "{self.warmup_s:g} s"'


def mser5(values: Iterable[float]) -> int:
    """Number of samples to leave out at the start, so that the error of the mean of the rest is smallest.

    Formula: 5 d, where d ≤ k / 2 minimises Σ (z_j - mean)² / (k - d)² over j > d, with z_1..z_k the means of
    consecutive groups of five samples. A result of half of the samples means that no steady part was found.
    Source: White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation",
    Winter Simulation Conference 2000.

    >>> mser5([0.0] * 10 + [9.0, 10.0, 11.0, 10.0, 10.0] * 12)
    10
    """
    x = vector(values, at_least=_BATCH)
    z = x[: x.size // _BATCH * _BATCH].reshape(-1, _BATCH).mean(axis=1)
    # Sums from the end, over the groups that are left when d are dropped.
    left = np.arange(z.size, 0, -1)
    centred = z - z.mean()
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    around = squares - total**2 / left
    around[around < _ROUNDING * squares[0]] = 0.0  # equal means differ by rounding
    error = around / left**2
    return _BATCH * int(np.argmin(error[: z.size // 2 + 1]))


def geweke(values: Iterable[float], first: float = 0.1, last: float = 0.5) -> float:
    """Difference between the mean at the start and the mean at the end, in standard errors.

    Formula: z = (mean_a - mean_b) / sqrt(s_a² / n_a + s_b² / n_b), a the first tenth, b the last half, and
    n the effective sample sizes, which replace the spectral densities of the source. Two different constants
    give an infinity.
    Source: Geweke 1992, "Evaluating the accuracy of sampling-based approaches to the calculation of
    posterior moments".

    >>> geweke([1.0, 2.0] * 50)
    0.0
    """
    x = vector(values, at_least=_FEWEST_PARTS)
    a, b = x[: max(3, int(first * x.size))], x[-max(3, int(last * x.size)) :]
    difference = float(a.mean() - b.mean())
    error = np.sqrt(sum(part.var(ddof=1) / effective_sample_size(part) for part in (a, b)))
    if error == 0:
        return 0.0 if difference == 0 else float(np.copysign(np.inf, difference))
    return difference / float(error)


def steadiness(values: Iterable[float]) -> Steadiness:
    """Whether the mean of samples along a run can be trusted, with the reason and the samples to leave out.

    Start-up matters if leaving out the samples of MSER-5 moves the mean by more than 2 %, and by more than
    the half-width of the 95 % interval of the rest. The mean drifts if Geweke's z exceeds 2.58 and both ends
    differ by more than 5 %, after that start-up if there is one.

    The mean is noisy if its 95 % interval is wider than ±5 %. The interval is the narrower of two: 1.96
    standard deviations over the root of the effective sample size, and Student's over ten batches. The
    second is better for a regular sawtooth.

    Source: the methods are cited in `mser5`, `geweke` and `effective_sample_size`; the limits are ours.

    >>> steadiness([5.0] * 100).verdict
    'steady'
    """
    x = vector(values, at_least=1)
    if x.size < FEWEST:
        return Steadiness("too short", f"{x.size} samples are too few, {FEWEST} are needed", 0)
    mean = float(x.mean())
    scale = abs(mean)
    if scale == 0 or float(np.ptp(x)) <= TOLERANCE * scale:
        return Steadiness("steady", "it hardly varies", 0)
    warmup = mser5(x)
    rest = x[warmup:]
    moved = float(rest.mean()) - mean
    if abs(moved) > max(TOLERANCE * scale, _half_width(rest)):
        if _drift(rest) or warmup + _BATCH > x.size / 2:
            return Steadiness("drift", f"it has not settled in {x.size} samples", 0)
        how = f"start-up is in it; without, it would change by {moved / scale:+.1%}"
        return Steadiness("warm-up", how, warmup)
    if apart := _drift(x):
        return Steadiness("drift", f"the last half differs from the first tenth by {apart:+.1%}", 0)
    half = _half_width(x) / scale
    if half > PRECISION:
        few = f"{x.size} samples are worth about {effective_sample_size(x):.0f} independent ones"
        return Steadiness("noisy", f"{few}, and its 95 % interval is ±{half:.0%}", 0)
    return Steadiness("steady", f"its 95 % interval is ±{half:.1%}", 0)


def _drift(x: Vector) -> float | None:
    """Return the difference between both ends as a share of the mean; None if it is not significant."""
    mean = abs(float(x.mean()))
    apart = float(x[-(x.size // 2) :].mean() - x[: max(3, x.size // 10)].mean())
    return apart / mean if abs(apart) > PRECISION * mean and abs(geweke(x)) > _Z else None


def _half_width(x: Vector) -> float:
    """Return the half-width of the 95 % interval of the mean."""
    by_worth = 1.96 * float(x.std(ddof=1)) / float(np.sqrt(effective_sample_size(x)))
    return min(by_worth, t_interval([part.mean() for part in np.array_split(x, _BATCHES)]).half_width)


def doubtful_means(series: pl.DataFrame, flows: pl.DataFrame, warmup_s: float = 0.0) -> list[Doubt]:
    """Return the means of goodput and RTT that should not be trusted, in the order of the flows.

    Args:
        series: Table of samples.
        flows: Table of flows, with their starts and ends.
        warmup_s: Warm-up that the summaries of the run leave out.

    Returns:
        One entry per doubtful mean; none without samples.
    """
    return list(_doubts(series, flows, warmup_s))


def _doubts(series: pl.DataFrame, flows: pl.DataFrame, warmup_s: float) -> Iterator[Doubt]:
    of_flow = series.partition_by("flow", as_dict=True)
    for flow, start_s, end_s in flows.select("flow", "start_s", "end_s").iter_rows():
        if (flow,) not in of_flow:
            continue
        begin_s = max(warmup_s, start_s or 0.0)
        own = of_flow[flow,].filter((pl.col("time_s") > begin_s) & (pl.col("time_s") <= end_s + 1e-9))
        for quantity, column in (("goodput", "goodput_bps"), ("RTT", "srtt_s")):
            known = own.select("time_s", column).drop_nulls()
            if known.is_empty():
                continue
            found = steadiness(known[column].to_list())
            if not found.trusted:
                drop = known["time_s"][found.warmup - 1] if found.warmup else None
                yield Doubt(flow, quantity, found.verdict, found.reason, drop)
