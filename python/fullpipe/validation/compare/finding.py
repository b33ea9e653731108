"""A finding: one metric of one group of flows or link on two sides, and the verdict on its difference."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from fullpipe.analysis.limits import Counts
from fullpipe.analysis.metrics.measure import Better, Combined, Margin
from fullpipe.analysis.metrics.table import BY_NAME, RANKED
from fullpipe.analysis.points import flows_of, with_flows
from fullpipe.analysis.shown import interval_shown, is_relative
from fullpipe.analysis.statistics import Interval, relative_interval

Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "undecided"]
"""Verdicts of every comparison; "higher" and "lower" are used if neither direction is better."""
DIFFERENT = ("regressed", "worse", "better", "lower", "higher")
"""Verdicts and decisions that claim a difference."""
WORSE = ("regressed", "worse")
"""Verdicts and decisions that claim a change for the worse."""
Rule = Literal["paired", "independent", "one-sided", "lacking", "demanded"]
"""The rule behind a verdict: see `fullpipe.validation.compare.rules`."""
Cell = tuple[str, int | str, str]
"""Kind of the subject; its index in the reference's `flows`, or its name; and the metric."""


TOO_SHORT, NOT_SETTLED = "runs too short for means", "means not settled"


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a finding: a metric of a group of flows or link, at a point."""

    kind: str
    """"flows" or "link"."""
    entry: int | None
    """Index in the `flows` of the reference; None for all flows together and for links."""
    of: str
    """Name of the group of flows or link; both names if the sides differ."""
    metric: str
    unit: str
    point: Mapping[str, Any] = field(default_factory=dict)
    """Values of the scenario's own sweep, or of swept paths that are not factors."""
    case: str = ""
    """Scenario of a suite."""
    has_both: bool = False
    """Whether the scenario has both connections and datagrams."""

    @property
    def flows(self) -> str:
        """Name of the group or link. If the metric covers only connections, or only datagrams, of all flows,
        the name says so: see `points.flows_of`."""
        return flows_of(self.metric, self.of, has_both=self.has_both)

    @property
    def name(self) -> str:
        """Metric and group in words."""
        return f"{self.metric} of {self.of}"

    @property
    def key(self) -> tuple[str, int | None, str, str, str]:
        """Key that is distinct for every subject of a table of values."""
        return self.kind, self.entry, self.of, self.metric, repr(self.point)

    @property
    def cell(self) -> Cell:
        """Kind; index in `flows`, or name; and metric. All three are equal at every point of a sweep."""
        return self.kind, self.of if self.entry is None else self.entry, self.metric

    def is_of(self, groups: Collection[str], labels: Collection[str] = ()) -> bool:
        """Whether the subject belongs to one of these groups. A group is given by its name on either side or
        as `flows.0`."""
        names = {self.of, *labels, *([] if self.entry is None else [f"flows.{self.entry}"])}
        return not names.isdisjoint(groups)

    def to_dict(self) -> dict[str, Any]:
        """The subject as JSON, without its case."""
        return {
            "kind": self.kind,
            "entry": self.entry,
            "of": self.of,
            "metric": self.metric,
            "unit": self.unit,
            "point": dict(self.point),
        }


NO_SUBJECT = Subject("flows", None, "", "", "")
"""Placeholder for an unnamed subject, as in a test of plain numbers."""


class Note(str):
    """A sentence on a metric that is not compared. A note without a metric is always shown.

    The text is `start`, the names of `groups`, and `end`.
    """

    metric: str
    lacking: Mapping[str, tuple[int, int]]
    """Runs with the metric, and all runs, for each side where some runs lack the metric."""
    start: str
    groups: Sequence[str]
    """Groups of flows that the sentence names."""
    end: str

    def __new__(
        cls,
        start: str,
        metric: str = "",
        lacking: Mapping[str, tuple[int, int]] | None = None,
        groups: Sequence[str] = (),
        end: str = "",
    ) -> Note:
        """Make a note."""
        made = super().__new__(cls, f"{start}{', '.join(groups)}{end}")
        made.metric, made.lacking = metric, lacking or {}
        made.start, made.groups, made.end = start, groups, end
        return made

    def with_groups(self, groups: Sequence[str]) -> Note:
        """Return the note with other names of its groups."""
        return Note(self.start, self.metric, self.lacking, groups, self.end)

    def of_case(self, case: str) -> Note:
        """Return the note with the name of a case in front."""
        return Note(f"{case}: {self.start}", self.metric, self.lacking, self.groups, self.end)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Transfers or pages that each side left unfinished, counted over all seeds."""

    reference: Counts
    other: Counts
    margin: float
    """Largest difference between both unfinished shares that does not matter."""

    @property
    def more(self) -> float:
        """Unfinished share of the other side minus unfinished share of the reference; 0 if within the
        margin."""
        more = self.other.share - self.reference.share
        return more if abs(more) > self.margin else 0.0

    def __str__(self) -> str:
        return f"{self.other} against {self.reference}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The difference between two sides in one metric, and its verdict. Numbers are in the metric's unit."""

    subject: Subject
    rule: Rule
    sides: tuple[str, str]
    """The reference, and the side compared with it."""
    values: tuple[Sequence[float], Sequence[float]]
    """Values of each side, one per seed."""
    margin: Margin
    """Largest difference that does not matter, as stated."""
    allowed: float
    """The margin in the unit of the metric."""
    better: Better
    verdict: Verdict
    decision: str
    """Decision of the command, such as "regressed" of `check`; the verdict if the command makes no
    decisions."""
    reason: str
    difference: float
    """Mean of the other side minus mean of the reference; NaN if the other side lacks the metric."""
    interval: Interval | None = None
    """Confidence interval of the difference."""
    p_raw: float | None = None
    """P value of the hypothesis that the difference is 0."""
    p_corrected: float | None = None
    """`p_raw` after Holm's correction over the family."""
    delta: float | None = None
    """Cliff's delta, -1 to 1: positive if the other side is higher."""
    correlation: float | None = None
    """Correlation of the two sides over seeds."""
    seeds: int | None = None
    """Number of seeds with which a verdict is expected, if mean and spread stay the same; None if there is a
    verdict already, or if the number is not known."""
    left_out: LeftOut | None = None
    """Unfinished transfers, for completion times."""
    labels: tuple[str, str] = ("", "")
    """Names of the group or link on either side, if known."""
    flows: tuple[int, int] | None = None
    """Number of flows of the group on either side; None for links, for totals, and if it is not known."""

    relative_of_cells: Interval | None = None
    """Interval of the relative change, if it does not follow from `values`."""

    doubts: Sequence[str] = ()
    """Reasons to doubt the means: `TOO_SHORT` and `NOT_SETTLED`."""

    @property
    def group(self) -> str:
        """Group of flows or link; a group of several flows has their number, and whether its value is their
        sum or mean."""
        return with_flows(self.subject.flows, self.flows or (), self.combined)

    @property
    def combined(self) -> Combined:
        """Whether the value of a group of several flows is their sum or mean: see `Measure.combined`."""
        return BY_NAME[self.metric].combined if self.metric in BY_NAME else ""

    @property
    def outcome(self) -> str:
        """The word that reports show: the decision of `check`, or the verdict of other commands."""
        return self.verdict if self.rule in ("paired", "independent") else self.decision

    @property
    def is_by_runs(self) -> bool:
        """Whether the values of single runs decide, not the difference of the means; `reason` gives the
        number of these runs."""
        return self.rule in ("lacking", "demanded")

    @property
    def is_zero(self) -> bool:
        """Whether all values of both sides are 0, such as the retransmissions of pings."""
        return not any(value for of_side in self.values for value in of_side)

    @property
    def kind(self) -> str:
        """ "flows" or "link": kind of the subject."""
        return self.subject.kind

    @property
    def entry(self) -> int | None:
        """Index of the subject in the `flows` of the reference; None for totals and links."""
        return self.subject.entry

    @property
    def of(self) -> str:
        """Group of flows or link of the subject."""
        return self.subject.of

    @property
    def metric(self) -> str:
        """Metric of the subject."""
        return self.subject.metric

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return self.subject.unit

    @property
    def point(self) -> Mapping[str, Any]:
        """Point of the subject in a sweep."""
        return self.subject.point

    @property
    def case(self) -> str:
        """Scenario of a suite; empty without a suite."""
        return self.subject.case

    @property
    def reference(self) -> float:
        """Mean of the reference over its seeds."""
        return sum(self.values[0]) / len(self.values[0])

    @property
    def other(self) -> float:
        """Mean of the other side; NaN if some runs of this side lack the metric."""
        return self.reference + self.difference

    @property
    def runs(self) -> int:
        """Seeds of the reference that were compared."""
        return len(self.values[0])

    @property
    def relative(self) -> Interval | None:
        """Interval of the difference as a share of the reference: see `statistics.relative_interval`.
        None without `interval`, or without the values of the seeds."""
        if self.relative_of_cells or not self.interval:
            return self.relative_of_cells
        has_pairs = self.rule != "independent" and len(self.values[0]) == len(self.values[1])
        return relative_interval(*self.values, self.interval.level, pairs=has_pairs)

    @property
    def is_relative(self) -> bool:
        """Whether the difference is shown in per cent of the reference. A difference whose relative change
        has no interval is shown in the unit of the metric."""
        has_share = is_relative(self.unit, self.metric, self.reference, self.margin)
        return has_share and (self.interval is None or self.relative is not None)

    @property
    def interval_shown(self) -> Interval | None:
        """Interval of the difference in the unit of the metric, truncated at its bounds. If `is_relative`,
        the interval is `relative` times the size of the reference."""
        of = self.metric, self.reference
        return interval_shown(self.interval, self.relative, *of, is_share=self.is_relative)

    @property
    def p(self) -> float | None:
        """P value after correction: `p_corrected`."""
        return self.p_corrected

    @property
    def assessment(self) -> Finding:
        """The finding itself, for callers written for versions in which verdict, difference and interval were
        a separate object."""
        return self

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Read the output of `to_dict`.

        Without `values`, as in files before format 2, the only value of each side is its mean.

        Raises:
            ValueError: If a key is missing or its value has the wrong type.
        """
        from fullpipe.validation.compare.stored import (
            StoredFinding,
        )  # imported here, as most comparisons read no file

        return cls(**StoredFinding.model_validate(found).fields())

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON, in base units; see `fullpipe schema findings`."""
        return {
            **self.subject.to_dict(),
            "case": self.case,
            "rule": self.rule,
            "sides": list(self.sides),
            "labels": list(self.labels),
            "flows": self.flows and list(self.flows),
            "combined": self.combined,
            "doubts": list(self.doubts),
            "values": [list(of_side) for of_side in self.values],
            "means": [self.reference, known(self.other)],
            "n": [len(of_side) for of_side in self.values],
            "difference": known(self.difference),
            "interval": interval_dict(self.interval),
            "relative_interval": interval_dict(self.relative),
            "p": self.p_raw,
            "p_corrected": self.p_corrected,
            "margin": asdict(self.margin),
            "allowed": self.allowed,
            "better": self.better,
            "verdict": self.verdict,
            "decision": self.decision,
            "reason": self.reason,
            "seeds_that_would_decide": self.seeds,
            "cliffs_delta": self.delta,
            "correlation": self.correlation,
            "unfinished": self.left_out
            and {"reference": self.left_out.reference._asdict(), "variant": self.left_out.other._asdict()},
        }


def claims(found: Iterable[Finding]) -> list[Finding]:
    """Findings that claim a difference."""
    return [each for each in found if each.outcome in DIFFERENT]


def word(better: Better, difference: float) -> Verdict:
    """Name a difference that is not 0 by its direction."""
    direction: Literal["higher", "lower"] = "higher" if difference > 0 else "lower"
    if not better:
        return direction
    return "better" if direction == better else "worse"


def known(value: float) -> float | None:
    """The value if it is finite, or None."""
    return value if math.isfinite(value) else None


def interval_dict(found: Interval | None) -> dict[str, Any] | None:
    """An interval as JSON; None without an interval, or if an end is infinite."""
    if found is None or not (math.isfinite(found.low) and math.isfinite(found.high)):
        return None
    return {"low": found.low, "high": found.high, "level": found.level}


def weight(found: Finding) -> tuple[int, int, float]:
    """Sorting key of findings in a short table: by verdict, then by the rank of their metric, then by size.

    Findings with the decision "regressed" come first, then differences, then undecided findings.
    """
    standing = next(
        place
        for place, holds in enumerate(
            (
                found.decision == "regressed",
                found.verdict not in ("equivalent", "undecided"),
                found.outcome == "undecided",
                True,
            )
        )
        if holds
    )
    rank = RANKED.index(found.metric) if found.metric in RANKED else len(RANKED)
    return standing, rank, -_change(found)


def _change(found: Finding) -> float:
    """Return the size of a difference, as a share of the reference unless the reference is 0."""
    return abs(found.difference / found.reference) if found.reference else abs(found.difference)


MOST_LEADS = 10
"""Maximum number of findings on leading subjects that a short table shows before all others."""


def clearness(found: Finding) -> tuple[int, float]:
    """Sorting key of findings in one aspect: worse, other differences, equivalent, undecided; then by p."""
    order = (WORSE, DIFFERENT, ("equivalent", "not worse"))
    standing = next((place for place, words in enumerate(order) if found.outcome in words), len(order))
    return standing, 2.0 if found.p_raw is None else found.p_raw


def of_queues(findings: Sequence[Finding]) -> set[int]:
    """Identities (`id`) of findings that measure the delay of queues: one-way delays, and RTTs of groups
    without a goodput, such as pings. RTTs of bulk flows also have the delay of ACKs."""
    with_rate = {(each.case, each.of) for each in findings if each.metric == "goodput"}
    delays = (each for each in findings if BY_NAME[each.metric].aspect == "delay" and each.entry is not None)
    return {id(each) for each in delays if "rtt" not in each.metric or (each.case, each.of) not in with_rate}


def repeats_drops(findings: Sequence[Finding]) -> set[int]:
    """Identities (`id`) of findings on packets marked lost whose group has the same outcomes in dropped
    packets, so that one metric of loss is enough."""
    by_group: dict[tuple[str, str, str], dict[tuple[object, str], Finding]] = {}
    for each in findings:
        place = each.sides, repr(each.point)
        by_group.setdefault((each.case, each.of, each.metric), {})[place] = each
    found: set[int] = set()
    for (case, of, metric), lost in by_group.items():
        dropped = by_group.get((case, of, "dropped_share"), {}) if metric == "loss_rate" else {}
        if all(place in dropped and dropped[place].outcome == each.outcome for place, each in lost.items()):
            found |= {id(each) for each in lost.values()}
    return found


def leads(order: Sequence[Finding], quoted: Sequence[Finding] = ()) -> list[Finding]:
    """Findings that a short table shows whatever their verdicts.

    Findings that the conclusion quotes come first. Findings on the leading subject of each side at all points
    follow, unless there are too many. Each side adds its clearest difference in delay, in loss and in
    fairness (see `Measure.aspect`), worse ones first. In delay, findings of `of_queues` come first, and of
    their groups the metric that `order` has first. In fairness, the goodput of a worse group beside the
    leading one comes before Jain's index.

    Args:
        order: See `conclusion.ranked`.
        quoted: See `conclusion.quoted`.
    """
    firsts: dict[tuple[str, str], tuple[str, Cell]] = {}
    aspects: dict[tuple[tuple[str, str], str], Finding] = {}
    metrics: dict[tuple[str, str], list[str]] = {}
    for each in order:
        firsts.setdefault(each.sides, (each.case, each.subject.cell))
        metrics.setdefault((each.case, each.of), []).append(each.metric)
    found = [each for each in order if firsts[each.sides] == (each.case, each.subject.cell)]

    queues, repeated = of_queues(order), repeats_drops(order)

    def is_beside(each: Finding) -> bool:
        is_own = firsts[each.sides] == (each.case, each.subject.cell)
        return each.metric == "goodput" and each.entry is not None and not is_own and each.outcome in WORSE

    def clearest(each: Finding) -> tuple[bool, bool, int, bool, int, float]:
        standing, p = clearness(each)
        own = metrics[each.case, each.of]
        is_bulk = "goodput" in own or each.entry is None
        place = own.index(each.metric) if id(each) in queues else 0
        return not is_beside(each), id(each) not in queues, standing, is_bulk, place, p

    for each in [*quoted, *sorted(order, key=clearest)]:
        aspect = "fairness" if is_beside(each) else BY_NAME[each.metric].aspect
        if aspect and not each.is_zero and id(each) not in repeated:
            aspects.setdefault((each.sides, aspect), each)
    clear = sorted(aspects.values(), key=lambda each: clearness(each)[0])
    shown = {id(each): each for each in (*quoted, *(found if len(found) <= MOST_LEADS else ()), *clear)}
    return list(shown.values())[: MOST_LEADS + 2]


# Tests that are corrected together.


_LEVEL = 0.05


def is_open_by_correction(found: Finding) -> bool:
    """Whether Holm's correction makes a finding undecided."""
    p, corrected = found.p_raw, found.p_corrected
    return p is not None and corrected is not None and p < _LEVEL <= corrected


def family_size(family: Iterable[Finding], metric: str = "") -> int:
    """Number of tests that are corrected together; with `metric`, only the tests of this metric."""
    return sum(each.p_corrected is not None and metric in ("", each.metric) for each in family)
