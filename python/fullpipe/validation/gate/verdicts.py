"""What is said of a change: regressed, not worse, or undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fullpipe.analysis.metrics.measure import Better
from fullpipe.analysis.statistics import Interval
from fullpipe.validation.compare.judge import Contrast, Tested, tested, unlike

Verdict = Literal["regressed", "not worse", "undecided"]
LEVEL = 0.05
"""Of both errors: a regression where there is none, and "not worse" where there is one beyond the margin."""


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict and what it rests on."""

    verdict: Verdict
    difference: float | None
    """Of the means, change - base; None if not all runs of the change have a value."""
    interval: Interval | None
    """Of the difference, 95 %; None if there is none."""
    p: float | None
    """That the difference is 0, after Holm's correction over the suite."""
    seeds: int | None
    """How many seeds in all would decide, if nothing else changes; None if that is decided or not known."""
    reason: str


def verdicts(contrasts: Sequence[Contrast], looks: int, are_one: Sequence[bool]) -> list[Found]:
    """What is said of all metrics of a suite at one of several looks.

    - not worse: the one-sided interval of the difference lies on the good side of the margin;
    - regressed: otherwise, if the paired t-test rejects a difference of 0, after Holm's correction over the
      suite, and the difference is for the worse;
    - undecided: otherwise; or if all seeds gave the same run on both sides (`are_one`) and those differ; or,
      of completion times, if the side that is faster has left more unfinished: see `LeftOut`.

    Both tests are at 5 % divided by the number of looks, which keeps the errors of all looks together below
    5 % (Bonferroni). Sources: Schuirmann 1987, of which this is one side; Holm 1979.
    """
    level = LEVEL / looks
    return [_found(test, level, is_one) for test, is_one in zip(tested(contrasts), are_one, strict=True)]


def _found(test: Tested, level: float, is_one: bool) -> Found:
    contrast, difference = test.contrast, test.contrast.difference
    why, within = test.untold(is_one), test.within(level)
    if why or test.pairs is None or within is None:
        return Found("undecided", difference, None, None, None, why)
    interval = test.pairs.interval(0.95)
    is_within = not _is_beyond(contrast.better, within.low, within.high, contrast.margin)
    is_bad = _is_beyond(contrast.better, difference, difference, 0.0)
    is_regressed = not is_within and is_bad and test.rejects(level)
    more = contrast.left_out.more if contrast.left_out else 0.0
    if (is_within and more > 0) or (is_regressed and more < 0):
        return Found("undecided", difference, interval, test.known_p, None, unlike(contrast.left_out))
    if is_within:
        alike = contrast.reference == contrast.other
        reason = "every seed gives the same on both sides" if alike else "within the margin"
        return Found("not worse", difference, interval, test.known_p, None, reason)
    if is_regressed:
        return Found("regressed", difference, interval, test.known_p, None, "the interval leaves out 0")
    reason = "the interval reaches beyond the margin"
    return Found("undecided", difference, interval, test.known_p, test.seeds(level), reason)


def _is_beyond(better: Better, low: float, high: float, margin: float) -> bool:
    """Whether a difference between `low` and `high` may be worse than the margin."""
    is_less, is_more = low < -margin, high > margin
    return {"higher": is_less, "lower": is_more}.get(better, is_less or is_more)
