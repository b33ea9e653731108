"""From a printed number and our runs to a verdict, by one rule for every study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from scipy.special import stdtrit

from fullpipe.statistics import summarise, t_interval

LEVEL = 0.95
TOLERANCE = 0.05
"""Within this fraction of our mean a printed value counts as reproduced, however sure we are."""
REACH = 0.25
"""Beyond this fraction it does not, however unsure we are."""

RULE = """\
contradicted by their own data  the printed numbers exclude each other, beyond their rounding
not testable here               it needs an engine that is not at hand, or a run of ours has no value
reproduced                      a printed value lies within 5 % of our mean, or within 25 % and in the 95 %
                                prediction interval of one more run of ours, mean ± t sd sqrt(1 + 1/n)
same direction                  against the reference condition our mean moves the way theirs does, and the
                                95 % intervals of our two means do not overlap
not reproduced                  otherwise"""

RULE_FOR_WORDS = """\
A claim in words is taken as comparisons, one for each condition that it names. A comparison holds if the 95 %
interval of our difference over the seeds lies on the claimed side of zero, and fails if it lies on the other.
reproduced                      every comparison holds
same direction                  more than half of them hold, and none fails
not reproduced                  otherwise"""


class Verdict(StrEnum):
    """What can be said of a printed number or a claim."""

    REPRODUCED = "reproduced"
    SAME_DIRECTION = "same direction"
    NOT_REPRODUCED = "not reproduced"
    CONTRADICTED = "contradicted by their own data"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True, slots=True)
class Direction:
    """A reference condition: theirs in print, ours per run."""

    printed: float
    ours: Sequence[float]


@dataclass(frozen=True, slots=True)
class Expectation:
    """The values that a printed number allows, from low to high, rounding included."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The number itself, or the middle of a range."""
        return (self.low + self.high) / 2


def judge(
    printed: Expectation,
    ours: Sequence[float],
    *,
    direction: Direction | None = None,
    testable: bool = True,
    consistent: bool = True,
) -> Verdict:
    """Apply `RULE`; `ours` has one value per run. A run in which it was not measured has NaN."""
    if not consistent:
        return Verdict.CONTRADICTED
    if not testable or not ours or not _measured(ours):
        return Verdict.NOT_TESTABLE
    if _reproduced(printed, ours):
        return Verdict.REPRODUCED
    if direction is not None and _same_direction(printed, ours, direction):
        return Verdict.SAME_DIRECTION
    return Verdict.NOT_REPRODUCED


def judge_comparisons(comparisons: Sequence[Sequence[float]]) -> Verdict:
    """Apply `RULE_FOR_WORDS` to differences that are positive where the claim is right, one row per
    comparison, one value per run."""
    if not comparisons or not all(comparisons) or not all(_measured(row) for row in comparisons):
        return Verdict.NOT_TESTABLE
    held = sum(holds(differences) for differences in comparisons)
    if held == len(comparisons):
        return Verdict.REPRODUCED
    fails = any(holds([-difference for difference in row]) for row in comparisons)
    return Verdict.SAME_DIRECTION if 2 * held > len(comparisons) and not fails else Verdict.NOT_REPRODUCED


def holds(differences: Sequence[float]) -> bool:
    """Whether the 95 % interval of the mean lies above zero; of a single run, whether that run does."""
    if len(differences) < 2:
        return sum(differences) > 0
    return t_interval(differences, LEVEL).low > 0


def prediction_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Where one more run falls: mean ± t(n - 1) sd sqrt(1 + 1/n); for one run, that run alone."""
    found = summarise(values)
    if found.n < 2:
        return found.mean, found.mean
    half = float(stdtrit(found.n - 1, (1 + level) / 2)) * found.sd * (1 + 1 / found.n) ** 0.5
    return found.mean - half, found.mean + half


def _measured(values: Sequence[float]) -> bool:
    """Whether every run has a value: an interval over some of them would stand for others."""
    return all(isfinite(value) for value in values)


def _reproduced(printed: Expectation, ours: Sequence[float]) -> bool:
    mean = summarise(ours).mean
    near, far = TOLERANCE * abs(mean), REACH * abs(mean)
    expected = prediction_interval(ours)
    low = min(mean - near, max(mean - far, expected[0]))
    high = max(mean + near, min(mean + far, expected[1]))
    return printed.low <= high and printed.high >= low


def _same_direction(printed: Expectation, ours: Sequence[float], direction: Direction) -> bool:
    if len(ours) < 2 or len(direction.ours) < 2 or not _measured(direction.ours):
        return False
    theirs_rises = printed.middle > direction.printed
    here, there = t_interval(ours, LEVEL), t_interval(direction.ours, LEVEL)
    return here.low > there.high if theirs_rises else here.high < there.low
