"""Rules for verdicts on printed numbers and claims, and the causes of differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isinf, isnan

from fullpipe.analysis.statistics import summarise, t_interval
from fullpipe.analysis.statistics.intervals import prediction_limit

# Causes of differences from printed numbers. A study can name only these causes.
# A study names a cause only if an experiment shows it: a run in which only this cause is removed. Otherwise
# the cause is unknown.


class Cause(StrEnum):
    """Cause of a difference between our result and a printed number or claim."""

    SOCKET_BUFFER = "socket buffer"
    SEGMENT_SIZE = "segment size"
    DEVICE_QUEUE = "device queue"
    TOKEN_BUCKET = "token bucket"
    QUEUE_SIZE = "queue size"
    QUEUE_DISCIPLINE = "queue discipline"
    LOSS_DETECTION = "loss detection"
    RATE_SAMPLES = "rate samples"
    POLICER_RULE = "policer rule"
    WIFI_ACCESS = "Wi-Fi access"
    OTHER_SIMULATOR = "needs that simulator"
    OTHER_IMPLEMENTATION = "another implementation"
    OTHER_MEASURE = "another measure"
    AMBIGUOUS_TEXT = "ambiguous text"
    ENDED_CONNECTION = "connection ended on the way"
    UNPRINTED_PARAMETER = "unprinted parameter"
    OWN_ERROR = "paper's own error"
    UNKNOWN = "unknown"


# Verdicts on printed numbers and claims. The same rules apply to every study.


LEVEL = 0.95
TOLERANCE = 0.05
"""Largest difference, as a share of our mean, up to which a printed number always counts as reproduced."""
REACH = 0.25
"""Difference, as a share of our mean, beyond which a printed number never counts as reproduced."""
ENOUGH_RUNS = 5
"""Minimum number of runs for a prediction interval. With two runs, the half-width of the interval would be 16
standard deviations."""
FACTOR = 2.0
"""For the verdict "same direction", the ratio of our change to the printed change is at most `FACTOR` and at
least 1 / `FACTOR`."""

RULE = (
    ("recomputed", "the value computed from the published data equals the printed one, to the last digit"),
    (
        "contradicted by their own data",
        "the printed numbers exclude each other, beyond their rounding, or the published data give another"
        " number",
    ),
    ("not judged: give --data", "the claim is judged by published data, which were not given"),
    ("not testable here", "the claim needs what is not available here, or one of our runs has no value"),
    (
        "reproduced",
        "our mean is within the printed range, or differs from its middle by at most 5 %; or, with five runs"
        " or more, the range is within 25 % of our mean and overlaps the 95 % prediction interval of one more"
        " run of ours, mean ± t sd sqrt(1 + 1/n)",
    ),
    (
        "same direction",
        "our mean differs from the reference condition in the printed direction, by half to double the"
        " printed change, and the 95 % intervals of our two means do not overlap; a printed range that"
        ' includes "no change" has no direction',
    ),
    ("not reproduced", "otherwise"),
)
"""Verdicts on a number, and their conditions. The first verdict whose condition holds is given."""
REMARKS_ON_RULE = (
    "(by tolerance): the printed value is outside our 95 % interval, or differs from our single run. (x 0.7):"
    " our change against the reference condition is 0.7 times the printed one. A quantity with a ceiling,"
    " such as an index, is judged by its distance from the ceiling. If an event never happened in a run, its"
    " time is not averaged: the number is not reproduced. If a claim names several conditions, each must be"
    " reproduced. Conditions are averaged only if the claim says so."
)
COMPARISONS = (
    "A claim in words becomes comparisons, one for each condition that it names. So does an inequality:"
    ' "above 0.97" is a comparison with 0.97. A comparison holds if the 95 % interval of our difference over'
    " the seeds is on the claimed side of zero, and fails if it is on the other side. There is no tolerance."
    " If an event never happened in a run, every run must be on the claimed side. The same applies to a"
    " single run."
)
RULE_FOR_WORDS = (
    ("reproduced", "every comparison holds"),
    ("same direction", "more than half of the comparisons hold, and no comparison fails"),
    ("not reproduced", "otherwise"),
)
"""Verdicts on a claim in words, and their conditions. The first verdict whose condition holds is given."""


class Verdict(StrEnum):
    """Verdict on a printed number or a claim. The best verdict is first."""

    RECOMPUTED = "recomputed"
    REPRODUCED = "reproduced"
    SAME_DIRECTION = "same direction"
    NOT_REPRODUCED = "not reproduced"
    CONTRADICTED = "contradicted by their own data"
    NOT_TESTABLE = "not testable here"
    NOT_JUDGED = "not judged: give --data"


@dataclass(frozen=True, slots=True)
class Direction:
    """The number printed for a reference condition, and our number per run under this condition."""

    printed: float
    ours: Sequence[float]


@dataclass(frozen=True, slots=True)
class Expectation:
    """The range of values that round to a printed number, or that a printed range includes."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def middle(self) -> float:
        """Middle of the range. For a printed number, this is the number itself."""
        return (self.low + self.high) / 2

    def below(self, ceiling: float) -> Expectation:
        """Return the range of the distances of the values from a ceiling."""
        return Expectation(ceiling - self.high, ceiling - self.low)


@dataclass(frozen=True, slots=True)
class PartResult:
    """Verdict on one number or on one comparison of a claim."""

    verdict: Verdict
    factor: float | None = None
    """Ratio of our change to the printed change, both from the reference condition; None without a reference
    condition."""
    by_tolerance: bool = False
    """Whether the number is reproduced although the 95 % interval of our mean excludes the printed value."""
    opposite: bool = False
    """Whether our runs show the opposite of the comparison."""


NO_VALUE = PartResult(Verdict.NOT_TESTABLE)
BY_DATA = {
    Verdict.REPRODUCED: Verdict.RECOMPUTED,
    Verdict.SAME_DIRECTION: Verdict.CONTRADICTED,
    Verdict.NOT_REPRODUCED: Verdict.CONTRADICTED,
    Verdict.NOT_TESTABLE: Verdict.NOT_JUDGED,
}
"""Verdict on a claim that is judged by published data, for each verdict that the same result from runs would
get."""


def check_number(
    printed: Expectation, ours: Sequence[float], direction: Direction | None = None
) -> PartResult:
    """Return the verdict on a printed number by `RULE`.

    Args:
        printed: The range of values that the printed number allows.
        ours: Our value in every run, in the same unit. NaN means not measured. Infinity means that the event
        never happened.
        direction: The numbers under the reference condition, or None.
    """
    if not _measured(ours):
        return NO_VALUE
    if any(map(isinf, ours)):
        return PartResult(Verdict.NOT_REPRODUCED)
    if _reproduced(printed, ours):
        return PartResult(Verdict.REPRODUCED, by_tolerance=_leaves_out(printed, ours))
    if direction is None or direction.printed in printed or not _comparable(ours, direction.ours):
        return PartResult(Verdict.NOT_REPRODUCED)
    return _by_direction(printed, ours, direction)


def check_comparison(differences: Sequence[float], *, strict: bool = True) -> PartResult:
    """Return the verdict on one comparison of a claim in words: reproduced if the comparison holds.

    Args:
        differences: One difference per run, positive if the claim holds. A difference is infinite if the
        event of one compared quantity never happened.
        strict: Whether a difference of zero counts as false.
    """
    if not _measured(differences):
        return NO_VALUE
    low, high = _ends(differences)
    if _is_above(low, strict=strict):
        return PartResult(Verdict.REPRODUCED)
    return PartResult(Verdict.NOT_REPRODUCED, opposite=_is_above(-high, strict=not strict))


def verdict_of_all(part_results: Sequence[PartResult]) -> Verdict:
    """Return the verdict on a number that is printed for several conditions: the worst verdict of all
    conditions."""
    order = (Verdict.NOT_TESTABLE, Verdict.NOT_REPRODUCED, Verdict.SAME_DIRECTION)
    given = {result.verdict for result in part_results}
    return next((verdict for verdict in order if verdict in given or not given), Verdict.REPRODUCED)


def verdict_in_words(part_results: Sequence[PartResult]) -> Verdict:
    """Return the verdict on a claim in words, from the results of its comparisons."""
    if verdict_of_all(part_results) is not Verdict.NOT_REPRODUCED:
        return verdict_of_all(part_results)
    held = sum(result.verdict is Verdict.REPRODUCED for result in part_results)
    fails = any(result.opposite for result in part_results)
    return Verdict.SAME_DIRECTION if 2 * held > len(part_results) and not fails else Verdict.NOT_REPRODUCED


def is_above_zero(differences: Sequence[float], *, strict: bool = True) -> bool:
    """Whether the 95 % interval of the mean is above zero. Unless `strict`, its lower end can also be zero.

    For a single run, and for runs in which an event never happened, every value must be above zero.
    """
    return _is_above(_ends(differences)[0], strict=strict)


def differences(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Return the difference in every run as a share of the mean of all values. The difference is 0 if the
    events of both quantities never happened."""
    pairs = list(zip(above, below, strict=True))
    known = [abs(value) for pair in pairs for value in pair if not isinf(value)]
    scale = sum(known) / len(known) if any(known) else 1.0
    return [0.0 if a == b else (a - b) / scale for a, b in pairs]


def prediction_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return the prediction interval of one more run: mean ± t(n - 1) sd sqrt(1 + 1/n).

    Raises ValueError for a single run.
    """
    found = summarise(values)
    if found.n < 2:
        raise ValueError("values: a prediction interval needs the values of at least two runs")
    half = prediction_limit(found.n, (1 - level) / 2) * found.sd
    return found.mean - half, found.mean + half


def _ends(differences: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the 95 % interval of the mean.

    For a single run, and for runs in which an event never happened, return the smallest and largest value.
    """
    if len(differences) > 1 and not any(map(isinf, differences)):
        interval = t_interval(differences, LEVEL)
        return interval.low, interval.high
    return min(differences), max(differences)


def _is_above(low: float, *, strict: bool) -> bool:
    return low > 0 or (low == 0 and not strict)


def _measured(values: Sequence[float]) -> bool:
    """Whether every run has a value. An interval over only some of the runs would be misleading."""
    return bool(values) and not any(map(isnan, values))


def _reproduced(printed: Expectation, ours: Sequence[float]) -> bool:
    mean = summarise(ours).mean
    near, far = TOLERANCE * abs(mean), REACH * abs(mean)
    if mean in printed or abs(mean - printed.middle) <= near:
        return True
    if len(ours) < ENOUGH_RUNS:
        return False
    low, high = prediction_interval(ours)
    return printed.low <= min(high, mean + far) and printed.high >= max(low, mean - far)


def _leaves_out(printed: Expectation, ours: Sequence[float]) -> bool:
    if len(ours) < 2:
        return ours[0] not in printed
    interval = t_interval(ours, LEVEL)
    return interval.high < printed.low or interval.low > printed.high


def _comparable(ours: Sequence[float], reference: Sequence[float]) -> bool:
    known = _measured(reference) and not any(map(isinf, reference))
    return known and min(len(ours), len(reference)) > 1


def _by_direction(printed: Expectation, ours: Sequence[float], direction: Direction) -> PartResult:
    here, there = t_interval(ours, LEVEL), t_interval(direction.ours, LEVEL)
    moved = summarise(ours).mean - summarise(direction.ours).mean
    factor = moved / (printed.middle - direction.printed)
    apart = here.low > there.high or here.high < there.low
    same = apart and 1 / FACTOR <= factor <= FACTOR
    return PartResult(Verdict.SAME_DIRECTION if same else Verdict.NOT_REPRODUCED, factor)
