"""Equivalence of two sets of runs: the interval of their difference against a margin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fullpipe.analysis.statistics import Interval, welch_interval

Equivalence = Literal["equivalent", "different", "overlapping ranges", "not decided"]
"""What `equivalence` may say of two sets of values."""

LEVEL = 0.90
"""An interval of 90 % inside the margin is two one-sided tests at 5 % each."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of two sets of values."""

    verdict: Equivalence
    difference: float
    """Of the means, in the unit of the values."""
    interval: Interval | None
    """Of the difference; None with a single run on either side."""
    reason: str


def equivalence(reference: Sequence[float], other: Sequence[float], margin: float) -> Judgement:
    """Hold the difference of two engines, one value per seed, against a margin in the unit of the values.

    - equivalent: the 90 % interval of the difference lies within ± margin;
    - different: it lies beyond the margin;
    - overlapping ranges: neither, and seeds differ by more than the margin on either side, as where runs are
      chaotic: then the ranges over seeds share values, and more cannot be said with so many seeds;
    - not decided: none of these, or a single run, of which no interval is known.

    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability"; the interval is Welch's.

    Raises:
        ValueError: If there is no value on a side.
    """
    difference = sum(other) / len(other) - sum(reference) / len(reference)
    if min(len(reference), len(other)) < 2:
        inside = "within" if abs(difference) <= margin else "beyond"
        reason = f"one run has no interval; the difference is {inside} the margin"
        return Judgement("not decided", difference, None, reason)
    interval = welch_interval(other, reference, LEVEL)
    if -margin <= interval.low and interval.high <= margin:
        return Judgement("equivalent", difference, interval, "the interval lies within the margin")
    if interval.low > margin or interval.high < -margin:
        return Judgement("different", difference, interval, "the interval lies beyond the margin")
    if max(_spread(reference), _spread(other)) > margin and _overlap(reference, other):
        reason = "seeds differ by more than the margin, and the ranges overlap"
        return Judgement("overlapping ranges", difference, interval, reason)
    return Judgement("not decided", difference, interval, "the interval crosses the margin; take more seeds")


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _overlap(first: Sequence[float], second: Sequence[float]) -> bool:
    return min(first) <= max(second) and min(second) <= max(first)
