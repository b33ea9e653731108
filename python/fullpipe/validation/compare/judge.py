"""What is said of two variants that ran with the same seeds: better, worse, equivalent or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fullpipe.analysis.metrics.measures import Better
from fullpipe.analysis.statistics import Interval, Paired, cliffs_delta, holm, paired, pairs_that_decide

Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "undecided"]
LEVEL = 0.95
EQUIVALENCE_LEVEL = 0.90
"""An interval of 90 % inside the margin is two one-sided tests at 5 % each."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two sides of one metric, a value per seed each, in the same order of seeds."""

    reference: Sequence[float]
    other: Sequence[float]
    margin: float
    """The difference that does not matter, in the unit of the values."""
    better: Better
    seeds_change_nothing: bool = False
    """Whether all runs of both sides are alike, so that there is one run of each, however many seeds."""

    @property
    def pairs(self) -> Paired | None:
        """What is known of the differences; None of a single seed."""
        return paired(self.reference, self.other) if len(self.reference) > 1 else None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict and what it rests on."""

    verdict: Verdict
    difference: float
    """Of the means, other - reference."""
    interval: Interval | None
    """Of the difference, 95 %; None if there is none."""
    p: float | None
    """That the difference is 0, after Holm's correction."""
    delta: float
    """Cliff's delta: from -1 to 1, positive if the other side is higher."""
    correlation: float | None
    """Of the two sides over seeds."""
    seeds: int | None
    """How many seeds in all would decide, if nothing else changes; None if that is decided or not known."""
    reason: str


def assessed(contrasts: Sequence[Contrast]) -> list[Assessment]:
    """What is said of metrics that are judged together.

    - equivalent: the 90 % interval of the difference lies within the margin;
    - better, worse (higher, lower where neither is better): not equivalent, and the paired t-test rejects a
      difference of 0 at 5 % after Holm's correction over all that are judged together;
    - undecided: neither, or all seeds gave the same run.

    Sources: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability"; Holm 1979, "A simple sequentially rejective
    multiple test procedure".
    """
    found = [contrast.pairs for contrast in contrasts]
    adjusted = holm([math.nan if pairs is None else pairs.p for pairs in found])
    return [
        _assessed(contrast, pairs, p) for contrast, pairs, p in zip(contrasts, found, adjusted, strict=True)
    ]


def _assessed(contrast: Contrast, pairs: Paired | None, p: float) -> Assessment:
    difference = sum(contrast.other) / len(contrast.other) - sum(contrast.reference) / len(contrast.reference)
    delta = cliffs_delta(contrast.other, contrast.reference)
    if pairs is None:
        return Assessment("undecided", difference, None, None, delta, None, None, "one seed has no interval")
    if contrast.seeds_change_nothing and difference:
        why = "all seeds gave the same run, which is one"
        return Assessment("undecided", difference, None, None, delta, None, None, why)
    verdict, reason = _verdict(contrast, pairs, p)
    seeds = pairs_that_decide(pairs, contrast.margin, LEVEL) if verdict == "undecided" else None
    known = None if math.isnan(p) else p
    interval = pairs.interval(LEVEL)
    return Assessment(verdict, difference, interval, known, delta, pairs.correlation, seeds, reason)


def _verdict(contrast: Contrast, pairs: Paired, p: float) -> tuple[Verdict, str]:
    within = pairs.interval(EQUIVALENCE_LEVEL)
    if -contrast.margin <= within.low and within.high <= contrast.margin:
        alike = not any(pairs.differences)
        return "equivalent", "every seed gives the same on both sides" if alike else "within the margin"
    if p < 1 - LEVEL or math.isnan(p):
        return word(contrast.better, pairs.difference), "the interval leaves out 0"
    return "undecided", "the interval holds 0 and reaches beyond the margin"


def word(better: Better, difference: float) -> Verdict:
    """What a difference that is there is called."""
    direction: Literal["higher", "lower"] = "higher" if difference > 0 else "lower"
    if not better:
        return direction
    return "better" if direction == better else "worse"
