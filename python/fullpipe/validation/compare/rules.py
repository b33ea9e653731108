"""Rules that turn contrasts into findings: paired, one-sided, independent; and rules that decide by single
runs: demanded, lacking."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from fullpipe.analysis.metrics.measure import Better, Margin
from fullpipe.analysis.shown import scale_and_digits, unit_shown
from fullpipe.analysis.statistics import (
    Interval,
    Paired,
    cliffs_delta,
    holm,
    pairs_that_decide,
    welch_interval,
    welch_t,
)
from fullpipe.validation.compare.contrast import Contrast
from fullpipe.validation.compare.finding import Finding, LeftOut, Rule, Subject, Verdict, word

LEVEL = 0.95
"""Confidence level of printed intervals of paired differences."""
ERROR = 0.05
"""Error rate of each test: a false difference, and a false equivalence at the margin."""
OPEN = "neither 0 nor more than the margin is ruled out"
_BEYOND = "the interval reaches beyond the margin"
ONE_SEED = "one seed has no interval"
ALIKE = "all seeds gave the same run, which is one"
_SAME = "every seed gives the same on both sides"
_WITHIN, _NOT_0 = "within the margin", "the interval leaves out 0"

Equivalence = Literal["equivalent", "different", "overlapping ranges", "not decided"]
"""Decisions of `equivalence`."""
EQUIVALENCE_LEVEL = 0.90
"""A 90 % interval within the margin is equivalent to two one-sided tests at 5 % each."""


@dataclass(frozen=True, slots=True)
class _Tested:
    """The paired t-test of a contrast, corrected over all contrasts of the family."""

    contrast: Contrast
    pairs: Paired | None
    p: float
    """P value after Holm's correction; NaN without a test."""
    tests: int
    """Number of tests of the family with the same or a larger p value: the factor of Holm's correction."""

    def rejects(self, level: float) -> bool:
        """Whether a difference of 0 is rejected at an error rate of `level`; also true if there is no test,
        because the differences do not vary."""
        return self.p < level or math.isnan(self.p)

    def seeds(self, level: float) -> int | None:
        """Number of seeds with which a verdict at an error rate of `level` is expected, if mean and spread
        stay the same."""
        if self.pairs is None:
            return None
        return pairs_that_decide(self.pairs, self.contrast.margin, 1 - level, self.tests)

    def within(self, level: float) -> Interval | None:
        """The interval of two one-sided tests, each at an error rate of `level`."""
        return None if self.pairs is None else self.pairs.interval(1 - 2 * level)

    @property
    def undecidable(self) -> str:
        """Reason why no verdict is possible; empty if a verdict is possible."""
        if self.pairs is None:
            return ONE_SEED
        return ALIKE if self.contrast.seeds_change_nothing and self.contrast.difference else ""


def _tested(contrasts: Sequence[Contrast]) -> list[_Tested]:
    """Paired t-tests of the contrasts of one family, with the correction of Holm 1979."""
    found = [contrast.pairs for contrast in contrasts]
    p = [math.nan if pairs is None else pairs.p for pairs in found]
    ranked = sorted(value for value in p if not math.isnan(value))
    tests = [max(1, len(ranked) - bisect_left(ranked, value)) for value in p]
    return [_Tested(*each) for each in zip(contrasts, found, holm(p), tests, strict=True)]


class _Said(NamedTuple):
    """A verdict with its reason, and the decision of `check` ("regressed" or "not worse") if `check` made a
    decision."""

    verdict: Verdict
    reason: str
    decision: str = ""


def paired(contrasts: Sequence[Contrast]) -> list[Finding]:
    """Findings of the contrasts of one family, by pairs of runs with the same seed.

    - equivalent: the 90 % interval of the difference lies within the margin;
    - better, worse (higher, lower if the metric has no better direction): not equivalent, and the paired
      t-test rejects a difference of 0 at 5 % after Holm's correction over the family;
    - undecided: otherwise; or if all seeds gave the same run; or if the faster side left more transfers
      unfinished: see `Contrast.is_biased`.

    Sources: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability"; Holm 1979, "A simple sequentially rejective
    multiple test procedure".
    """
    return [_of_pairs("paired", test, _paired(test), ERROR) for test in _tested(contrasts)]


def _paired(test: _Tested) -> _Said:
    contrast, within = test.contrast, test.within(ERROR)
    if test.undecidable:
        return _Said("undecided", test.undecidable)
    if within and -contrast.margin <= within.low and within.high <= contrast.margin:
        if contrast.is_biased(is_alike=True):
            return _Said("undecided", unlike(contrast.left_out))
        return _Said("equivalent", _SAME if contrast.reference == contrast.other else _WITHIN)
    if test.rejects(ERROR):
        if contrast.is_biased(is_alike=False):
            return _Said("undecided", unlike(contrast.left_out))
        return _Said(word(contrast.better, contrast.difference), _NOT_0)
    return _Said("undecided", OPEN)


def one_sided(contrasts: Sequence[Contrast], looks: int) -> list[Finding]:
    """Findings of all metrics of a suite at one of several looks: whether the other side is worse.

    The decision is

    - not worse: the one-sided interval of the difference lies on the good side of the margin;
    - regressed: otherwise, if the paired t-test rejects a difference of 0, after Holm's correction over the
      suite, and the difference is for the worse;
    - undecided: otherwise; or if all seeds gave the same run on each side and the two runs differ; or, for
      completion times, if the faster side left more transfers unfinished: see `LeftOut`.

    A regressed finding has the verdict "worse" (higher, lower if the metric has no better direction). A
    finding that is not worse has the verdict "better" if a difference of 0 is rejected and the interval
    reaches beyond the margin on the good side. Otherwise its verdict is "equivalent" if the interval lies
    within the margin on both sides, or "undecided".

    Both tests are at 5 % divided by the number of looks, which keeps the error rate over all looks below 5 %
    (Bonferroni). Sources: Schuirmann 1987 (one of the two one-sided tests); Holm 1979.
    """
    level = ERROR / looks
    return [_of_pairs("one-sided", test, _one_sided(test, level), level) for test in _tested(contrasts)]


def _one_sided(test: _Tested, level: float) -> _Said:
    contrast, within = test.contrast, test.within(level)
    if test.undecidable or within is None:
        return _Said("undecided", test.undecidable)
    difference, better = contrast.difference, contrast.better
    is_within = not _is_beyond(better, within.low, within.high, contrast.margin)
    is_bad = _is_beyond(better, difference, difference, 0.0)
    is_regressed = not is_within and is_bad and test.rejects(level)
    more = contrast.left_out.more if contrast.left_out else 0.0
    if (is_within and more > 0) or (is_regressed and more < 0):
        return _Said("undecided", unlike(contrast.left_out))
    if is_within:
        reason = _SAME if contrast.reference == contrast.other else _WITHIN
        return _Said(_not_worse(test, within, level), reason, "not worse")
    if is_regressed:
        return _Said(word(better, difference), _NOT_0, "regressed")
    return _Said("undecided", _BEYOND)


def _not_worse(test: _Tested, within: Interval, level: float) -> Verdict:
    if not _is_beyond("", within.low, within.high, test.contrast.margin):
        return "equivalent"
    return word(test.contrast.better, test.contrast.difference) if test.rejects(level) else "undecided"


def _is_beyond(better: Better, low: float, high: float, margin: float) -> bool:
    """Whether a difference between `low` and `high` may be worse than the margin."""
    is_less, is_more = low < -margin, high > margin
    return {"higher": is_less, "lower": is_more}.get(better, is_less or is_more)


def _of_pairs(rule: Rule, test: _Tested, said: _Said, level: float) -> Finding:
    """The finding of a paired test. If more seeds can give a verdict, the finding has the number of seeds
    that would do so."""
    contrast = test.contrast
    pairs = None if test.undecidable else test.pairs
    is_open = pairs is not None and said.reason in (OPEN, _BEYOND)
    return Finding(
        **_about(contrast),
        rule=rule,
        verdict=said.verdict,
        decision=said.decision or said.verdict,
        reason=said.reason,
        difference=contrast.difference,
        interval=None if pairs is None else pairs.interval(LEVEL),
        p_raw=None if pairs is None or math.isnan(pairs.p) else pairs.p,
        p_corrected=None if pairs is None or math.isnan(test.p) else test.p,
        delta=cliffs_delta(contrast.other, contrast.reference),
        correlation=None if pairs is None else pairs.correlation,
        seeds=test.seeds(level) if is_open else None,
    )


def unlike(left_out: LeftOut | None) -> str:
    """Reason why completion times have no verdict if the unfinished shares differ."""
    return f"{left_out}: the faster side has left more of its slow ones out; make runs longer"


# Rules of `check` on single runs of the change, whatever the difference of the means.


_MOST_DIGITS = 17


def demanded(finding: Finding, least: float | None, most: float | None) -> Finding:
    """The finding; it is regressed if the value of any run of the change is below `least` or above `most`."""
    values, reason = finding.values[1], ""
    if least is not None and min(values) < least:
        below = sum(value < least for value in values)
        reason = _broken(finding, min(values), below, ("down to", "below"), least)
    elif most is not None and max(values) > most:
        above = sum(value > most for value in values)
        reason = _broken(finding, max(values), above, ("up to", "above"), most)
    if not reason:
        return finding
    return replace(finding, rule="demanded", verdict="worse", decision="regressed", reason=reason)


def _broken(finding: Finding, value: float, runs: int, words: tuple[str, str], bound: float) -> str:
    """The most extreme value of the runs beyond a bound, and the bound, in the displayed unit.

    Both numbers have enough digits to differ.
    """
    up_to, beyond = words
    scale, _ = scale_and_digits(finding.unit, finding.metric)
    unit = f" {unit_shown(finding.unit, finding.metric)}".rstrip()
    texts = ((f"{value * scale:.{n}g}", f"{bound * scale:.{n}g}") for n in range(3, _MOST_DIGITS))
    shown, demanded = next((pair for pair in texts if pair[0] != pair[1]), (str(value), str(bound)))
    where = "in one run" if runs == 1 else f"in {runs:,} of {len(finding.values[1]):,} runs"
    start = "" if runs == 1 else f"{up_to} "
    return f"{start}{shown}{unit} {where}, {beyond} the {demanded}{unit} demanded"


def lacking(
    subject: Subject, sides: tuple[str, str], base: Sequence[float], change: Sequence[float]
) -> Finding:
    """The finding on a metric that all runs of the base have, but not all runs of the change.

    The finding is regressed if no run of the change has the metric, and undecided if some runs have it.

    Args:
        subject: The metric and its group.
        sides: Names of base and change.
        base: Values of the base, one per run.
        change: Values of the runs of the change that have the metric.
    """
    runs = len(change)
    who = f"{runs or 'no'} run{'s' if runs > 1 else ''} of the change"
    return Finding(
        subject=subject,
        rule="lacking",
        sides=sides,
        values=(base, change),
        margin=Margin(),
        allowed=0.0,
        better="",
        verdict="undecided" if runs else "worse",
        decision="undecided" if runs else "regressed",
        reason=f"{who} {'have' if runs > 1 else 'has'} it",
        difference=math.nan,
    )


class Judgement(NamedTuple):
    """The decision of `equivalence`."""

    verdict: Equivalence
    difference: float
    """The difference of the means, in the unit of the values."""
    interval: Interval | None
    """The interval of the difference; None with a single run on either side."""
    reason: str


def equivalence(reference: Sequence[float], other: Sequence[float], margin: float) -> Judgement:
    """Compare the difference between two engines, one value per seed, with a margin in the values' unit.

    - equivalent: the 90 % interval of the difference lies within ± margin;
    - different: the interval lies beyond the margin;
    - overlapping ranges: neither equivalent nor different; the values of one side span more than the margin,
    as in chaotic runs, and the ranges of both sides overlap;
    - not decided: otherwise, or if a side has a single run, which has no interval.

    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability"; the interval is Welch's.

    Raises:
        ValueError: If a side has no value.
    """
    difference = sum(other) / len(other) - sum(reference) / len(reference)
    if min(len(reference), len(other)) < 2:
        inside = "within" if abs(difference) <= margin else "beyond"
        reason = f"one run has no interval; the difference is {inside} the margin"
        return Judgement("not decided", difference, None, reason)
    interval = welch_interval(other, reference, EQUIVALENCE_LEVEL)
    if -margin <= interval.low and interval.high <= margin:
        return Judgement("equivalent", difference, interval, "the interval lies within the margin")
    if interval.low > margin or interval.high < -margin:
        return Judgement("different", difference, interval, "the interval lies beyond the margin")
    if max(map(_spread, (reference, other))) > margin and _overlap(reference, other):
        reason = "seeds differ by more than the margin, and the ranges overlap"
        return Judgement("overlapping ranges", difference, interval, reason)
    return Judgement("not decided", difference, interval, "the interval crosses the margin; take more seeds")


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _overlap(first: Sequence[float], second: Sequence[float]) -> bool:
    return min(first) <= max(second) and min(second) <= max(first)


def independent(contrast: Contrast) -> Finding:
    """The finding of two engines, or of sides whose seeds are not paired: see `equivalence`.

    A finding with the decision "different" has the verdict "higher" or "lower", as no engine is better. The p
    value is from Welch's t-test.
    """
    found = equivalence(contrast.reference, contrast.other, contrast.margin)
    verdict: Verdict = "undecided"
    if found.verdict == "equivalent":
        verdict = "equivalent"
    elif found.verdict == "different":
        verdict = word("", found.difference)
    p = welch_t(contrast.reference, contrast.other).p if found.interval else math.nan
    return Finding(
        **_about(contrast),
        rule="independent",
        verdict=verdict,
        decision=found.verdict,
        reason=found.reason,
        difference=found.difference,
        interval=found.interval,
        p_raw=p if math.isfinite(p) else None,
    )


def _about(contrast: Contrast) -> dict[str, Any]:
    """The fields that a finding takes from its contrast."""
    return {
        "subject": contrast.subject,
        "sides": contrast.sides,
        "labels": contrast.labels,
        "flows": contrast.flows,
        "values": (contrast.reference, contrast.other),
        "margin": contrast.stated,
        "allowed": contrast.margin,
        "better": contrast.better,
        "left_out": contrast.left_out,
    }
