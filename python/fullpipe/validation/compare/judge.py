"""What is said of two variants that ran with the same seeds: better, worse, equivalent or undecided."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fullpipe.analysis.metrics.measure import Better
from fullpipe.analysis.statistics import Interval, Paired, cliffs_delta, holm, paired, pairs_that_decide
from fullpipe.analysis.unfinished import Counts

Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "undecided"]
LEVEL = 0.95
_ERROR = 0.05
"""Of either test: a difference where there is none, and equivalence where the difference is the margin."""
_OPEN = "neither 0 nor more than the margin is ruled out"
ONE_SEED = "one seed has no interval"
ALIKE = "all seeds gave the same run, which is one"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What completion times of two sides leave out, as the runs ended before: counts over all seeds."""

    reference: Counts
    other: Counts
    margin: float
    """The difference of the two shares that does not matter."""

    @property
    def more(self) -> float:
        """The share of the other side less that of the reference; 0 if that does not matter."""
        more = self.other.share - self.reference.share
        return more if abs(more) > self.margin else 0.0

    def __str__(self) -> str:
        return f"{self.other} against {self.reference}"


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
    left_out: LeftOut | None = None
    """Of completion times; None of all else."""

    @property
    def pairs(self) -> Paired | None:
        """What is known of the differences; None of a single seed."""
        return paired(self.reference, self.other) if len(self.reference) > 1 else None

    @property
    def difference(self) -> float:
        """Of the means, other - reference."""
        return sum(self.other) / len(self.other) - sum(self.reference) / len(self.reference)

    def lacks_slow_ones(self, *, is_alike: bool) -> bool:
        """Whether it may come of transfers that did not finish that one side is faster, or both are alike.

        Those that finish are the faster ones, so that the p-th percentile of them is one of rank p (1 - u) of
        all where a share u is left out. Where the shares are the same, ranks are, too; else the side that has
        left more out seems faster than it is. A side that is faster though it has left less out is faster.
        Source: Lachin 1999, "Worst-rank score analysis with informatively missing observations in clinical
        trials".
        """
        more = self.left_out.more if self.left_out else 0.0
        return bool(more) and (is_alike or (more > 0) == (self.difference < 0))


@dataclass(frozen=True, slots=True)
class Tested:
    """A contrast with the paired t-test of its differences, corrected over all that are judged together."""

    contrast: Contrast
    pairs: Paired | None
    p: float
    """After Holm's correction; NaN without a test."""
    tests: int
    """How many of all tests have no smaller p: what the correction multiplies this one with."""

    @property
    def known_p(self) -> float | None:
        """The corrected p, if there is one."""
        return None if math.isnan(self.p) else self.p

    def rejects(self, level: float) -> bool:
        """Whether a difference of 0 is out at an error of `level`; so it is where no difference varies."""
        return self.p < level or math.isnan(self.p)

    def seeds(self, level: float) -> int | None:
        """How many seeds would decide at an error of `level`, if nothing else changes."""
        if self.pairs is None:
            return None
        return pairs_that_decide(self.pairs, self.contrast.margin, 1 - level, self.tests)

    def within(self, level: float) -> Interval | None:
        """The interval of two one-sided tests of an error of `level` each."""
        return None if self.pairs is None else self.pairs.interval(1 - 2 * level)

    def untold(self, is_one_run: bool) -> str:
        """Why nothing can be said of it; empty if something can."""
        if self.pairs is None:
            return ONE_SEED
        return ALIKE if is_one_run and self.contrast.difference else ""


def tested(contrasts: Sequence[Contrast]) -> list[Tested]:
    """Paired t-tests of contrasts that are judged together, corrected as Holm 1979 has it."""
    found = [contrast.pairs for contrast in contrasts]
    p = [math.nan if pairs is None else pairs.p for pairs in found]
    ranked = sorted(value for value in p if not math.isnan(value))
    tests = [max(1, len(ranked) - bisect_left(ranked, value)) for value in p]
    return [Tested(*each) for each in zip(contrasts, found, holm(p), tests, strict=True)]


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
    - undecided: neither, or all seeds gave the same run, or one side is faster and has left more transfers
      unfinished: see `Contrast.lacks_slow_ones`.

    Sources: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability"; Holm 1979, "A simple sequentially rejective
    multiple test procedure".
    """
    return [_assessed(each) for each in tested(contrasts)]


def _assessed(test: Tested) -> Assessment:
    contrast, difference = test.contrast, test.contrast.difference
    delta, why = cliffs_delta(contrast.other, contrast.reference), test.untold(contrast.seeds_change_nothing)
    if why or test.pairs is None:
        return Assessment("undecided", difference, None, None, delta, None, None, why)
    verdict, reason = _verdict(test)
    seeds = test.seeds(_ERROR) if verdict == "undecided" and reason == _OPEN else None
    interval, correlation = test.pairs.interval(LEVEL), test.pairs.correlation
    return Assessment(verdict, difference, interval, test.known_p, delta, correlation, seeds, reason)


def _verdict(test: Tested) -> tuple[Verdict, str]:
    contrast, within = test.contrast, test.within(_ERROR)
    if within and -contrast.margin <= within.low and within.high <= contrast.margin:
        if contrast.lacks_slow_ones(is_alike=True):
            return "undecided", unlike(contrast.left_out)
        alike = contrast.reference == contrast.other
        return "equivalent", "every seed gives the same on both sides" if alike else "within the margin"
    if test.rejects(_ERROR):
        if contrast.lacks_slow_ones(is_alike=False):
            return "undecided", unlike(contrast.left_out)
        return word(contrast.better, contrast.difference), "the interval leaves out 0"
    return "undecided", _OPEN


def unlike(left_out: LeftOut | None) -> str:
    """Why times of which unlike shares are left out are not told apart."""
    return f"{left_out}: the faster side has left more of its slow ones out; make runs longer"


def word(better: Better, difference: float) -> Verdict:
    """What a difference that is there is called."""
    direction: Literal["higher", "lower"] = "higher" if difference > 0 else "lower"
    if not better:
        return direction
    return "better" if direction == better else "worse"
