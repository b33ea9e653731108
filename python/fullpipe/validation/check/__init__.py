"""Checks of a change against its base."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, get_args

import polars as pl

from fullpipe.analysis.limits import unanswered
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.points import differences
from fullpipe.analysis.statistics.stationarity import Mean
from fullpipe.errors import ScenarioError
from fullpipe.scenario.read import dotted
from fullpipe.validation.check.measured import Measured, Point, Source
from fullpipe.validation.check.suite import Demand, Suite
from fullpipe.validation.compare.comparison import Comparison, Entries, Ran, unequal_flows
from fullpipe.validation.compare.contrast import Contrast, matched
from fullpipe.validation.compare.finding import Finding, Note, Subject
from fullpipe.validation.compare.rules import ALIKE, ERROR, demanded, lacking, one_sided
from fullpipe.validation.compare.side import Side, bulk_entries, changed_entries

# The check of a code change against its base: both run the same suite with the same seeds, and more seeds
# while findings are undecided.


_ALWAYS_FREE = ("flows.*.cca", "flows.*.name", "name", "sweep", "labels", "record")
"""Keys that may differ between base and change: the checked algorithm, and keys without effect on results."""
_SIDES = ("base", "change")
_Key = tuple[str, str]
"""Key of a point of a suite: case and point."""


Decision = Literal["regressed", "not worse", "undecided"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One point of a suite on base and change, measured with the same number of seeds."""

    theirs: Point
    ours: Point
    base: Side
    change: Side


@dataclass(frozen=True, kw_only=True)
class Checked(Comparison):
    """A change compared with its base over a suite: a finding per case, point, group and metric."""

    runs: int
    """The number of runs of each side."""
    is_identical: bool
    """Whether all numbers of all runs are bit-identical on both sides."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Source of the numbers of each side: its name, and the versions of fullpipe and the engine."""
    looks: Sequence[int] = ()
    """Planned numbers of seeds, one per look."""
    doubts: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Reasons to doubt the means, by side and case, if the source of a side names them."""
    left: int = 0
    """Number of undecided findings that further seeds could decide, but that get none because another value
    regressed."""

    @property
    def level(self) -> float:
        """Error rate of each test: 5 % shared by the planned looks."""
        return ERROR / max(len(self.looks), 1)

    @property
    def seeds(self) -> int:
        """Number of seeds at the last look."""
        return len(self.sides[self.reference])

    @property
    def decision(self) -> Decision:
        """Regressed if any finding is regressed; else undecided if any finding is undecided."""
        found = {finding.decision for finding in self.findings}
        return "regressed" if "regressed" in found else "undecided" if "undecided" in found else "not worse"

    def warnings_besides(self, known: Mapping[str, Collection[str]]) -> list[str]:
        """The doubts as warnings below a conclusion, without the known sentences, by name of the scenario."""
        names = {ran.case: ran.name for ran in self.ran}
        cases = {finding.case for finding in self.findings}
        return [
            f"Warning of {f'{case}, ' if len(cases) > 1 else ''}the {side}: {told}."
            for side, by_case in self.doubts.items()
            for case, lines in by_case.items()
            for told in lines
            if told not in known.get(names.get(case, ""), ())
        ]

    def count(self, decision: str) -> int:
        """Number of findings with a decision."""
        return sum(finding.decision == decision for finding in self.findings)


def check(
    suite: Suite,
    base: Source,
    change: Source,
    names: tuple[str, str] = ("base", "change"),
    told: Callable[[str], None] = lambda _: None,
) -> Checked:
    """Compare a change with its base.

    Every metric of the suite is judged at each look of `Suite.looks`, in the cases that are still undecided.

    Args:
        suite: The suite with its cases and demands.
        base: Source of the numbers of the base.
        change: Source of the numbers of the change.
        names: Names of base and change.
        told: Called with a line of text after each look that leaves cases undecided.

    Raises:
        ScenarioError: If the two sides cannot be compared.
    """
    rows: dict[_Key, list[Finding]] = {}
    open_cases, notes, runs = [case.name for case in suite.cases], dict[Note, None](), 0
    looks = _looks(suite, base, change)
    first: tuple[Measured, Measured] | None = None
    by_case: dict[str, Entries] = {}
    doubts: dict[str, dict[str, list[str]]] = {side: {} for side in _SIDES}
    ran: dict[str, Ran] = {}
    for seeds in looks:
        sides = base.measured(open_cases, seeds), change.measured(open_cases, seeds)
        first = first or sides
        for side, measured in zip(_SIDES, sides, strict=True):
            doubts[side] |= {case: measured.warnings.get(case, []) for case in open_cases}
            ran |= {each.key: each for each in map(partial(_ran, side, measured.engine), measured.points)}
        runs += sum(len(point.sums) for point in sides[1].points) - _known(rows, open_cases)
        identical = seeds == looks[0] and _sums(sides[0]) == _sums(sides[1])
        pairs = _pairs(suite, *sides)
        found, said = _contrasts(suite, pairs)
        by_case = by_case or _entries(pairs)
        notes.update(dict.fromkeys(said))
        rows = _judged(suite, rows, found, len(looks))
        for pair in pairs:
            rows.setdefault(pair.ours.key, []).extend(_lacking(pair, suite.demands))
        if identical:
            break
        open_cases = [name for name in open_cases if _is_open(rows, name)]
        if not open_cases or _is_regressed(rows):
            break
        told(f"{seeds} seeds: {len(open_cases)} of {len(suite.cases)} cases undecided")
    assert first is not None
    every = [finding for of_point in rows.values() for finding in of_point]
    if not every:
        raise ScenarioError([f"{suite.file}: no run has any of its metrics: {', '.join(suite.demands)}"])
    notes.update(dict.fromkeys(map(Note, unanswered(suite.named, {finding.metric for finding in every}))))
    is_stopped = _is_regressed(rows) and not identical and seeds < looks[-1]
    return Checked(
        looks=looks,
        left=sum(_is_open_finding(each) for each in every) if is_stopped else 0,
        scenario=suite.name,
        sides=dict.fromkeys(_SIDES, range(1, seeds + 1)),
        findings=every,
        notes=list(notes),
        runs=runs,
        is_identical=identical,
        ran=sorted(ran.values(), key=lambda each: _SIDES.index(each.side)),
        by_case=by_case,
        versions={
            side: f"{name} ({measured.name})"
            for side, name, measured in zip(_SIDES, names, first, strict=True)
        },
        doubts=doubts,
        is_of_versions=True,
    )


def _ran(side: str, engine: str, point: Point) -> Ran:
    doubts = [Mean(*each) for each in point.doubts]
    return Ran(side, point.scenario, point.point, point.case, engine, doubts)


def _entries(pairs: Sequence[_Pair]) -> dict[str, Entries]:
    """Entries of `flows` that the change sets differently, and bulk flows, by case."""
    found: dict[str, Entries] = {}
    for pair in pairs:
        entries = Entries(changed_entries(pair.base, pair.change), bulk_entries(pair.base.scenario))
        found[pair.ours.case] = found.get(pair.ours.case, Entries()) | entries
    return found


def _looks(suite: Suite, base: Source, change: Source) -> list[int]:
    """Return the looks (numbers of seeds) for which both sides can have enough seeds."""
    most = min(side.most_seeds or suite.most_seeds for side in (base, change))
    return [seeds for seeds in suite.looks if seeds <= most] or [most]


def _known(rows: Mapping[_Key, list[Finding]], cases: list[str]) -> int:
    """Return the number of runs of these cases at an earlier look."""
    return sum(of_point[0].runs for (case, _), of_point in rows.items() if case in cases and of_point)


def _sums(measured: Measured) -> dict[_Key, dict[int, str]]:
    return {point.key: point.sums for point in measured.points}


def _pairs(suite: Suite, base: Measured, change: Measured) -> list[_Pair]:
    """Every point of the change, with the corresponding point of the base.

    Raises:
        ScenarioError: If the base lacks a point, or its scenarios differ.
    """
    known, found = {point.key: point for point in base.points}, list[_Pair]()
    for ours in change.points:
        if ours.key not in known:
            raise ScenarioError([f"{ours.case}: the base has no point {ours.key[1]}; measure the base again"])
    for ours in change.points:
        theirs = known[ours.key]
        _check_scenarios(suite, theirs, ours)
        found.append(_Pair(theirs, ours, theirs.side("base"), ours.side("change")))
    return found


def _is_open(rows: Mapping[_Key, list[Finding]], case: str) -> bool:
    """Whether more seeds could decide an undecided finding of a case."""
    return any(_is_open_finding(row) for (of, _), found in rows.items() if of == case for row in found)


def _is_open_finding(finding: Finding) -> bool:
    """Whether more seeds could decide a finding."""
    return finding.decision == "undecided" and finding.reason != ALIKE


def _is_regressed(rows: Mapping[_Key, list[Finding]]) -> bool:
    return any(row.decision == "regressed" for found in rows.values() for row in found)


def _contrasts(suite: Suite, pairs: Sequence[_Pair]) -> tuple[dict[_Key, list[Contrast]], list[Note]]:
    """The contrasts of both sides, point by point, and notes on metrics that only some runs have."""
    found: dict[_Key, list[Contrast]] = {}
    notes: list[Note] = []
    for pair in pairs:
        ours, sides = pair.ours, (pair.base, pair.change)
        try:
            made, said = matched(*sides, list(suite.demands), suite.margins, ours.point, ours.case)
        except ValueError as error:
            raise ScenarioError([f"{ours.case}: {error}"]) from None
        are_alike = all(len(set(point.sums.values())) == 1 for point in (pair.theirs, ours))
        found[ours.key] = []
        for contrast in made:
            wanted = suite.demands[contrast.subject.metric].better
            better = contrast.better if wanted is None else wanted
            found[ours.key].append(replace(contrast, better=better, seeds_change_nothing=are_alike))
        notes += [line.of_case(ours.case) for line in (*said, *unequal_flows(*sides, made))]
    return found, notes


def _check_scenarios(suite: Suite, base: Point, change: Point) -> None:
    """Raise ScenarioError if the scenarios of both sides differ in a key that must be equal."""
    differ = [
        path
        for path in differences(base.scenario, change.scenario)
        if not any(dotted.covers(free, path) for free in (*suite.free, *_ALWAYS_FREE))
    ]
    if differ:
        names = ", ".join(differ[:5])
        raise ScenarioError(
            [f"{change.case}: the base has a different scenario, in {names}; measure the base again"]
        )


def _judged(
    suite: Suite, before: Mapping[_Key, list[Finding]], found: Mapping[_Key, list[Contrast]], looks: int
) -> dict[_Key, list[Finding]]:
    """Return all findings after this look. Earlier decisions do not change, and their tests count in the
    family of tests."""
    made = {key: findings for key, findings in before.items() if key not in found}
    earlier = [
        _contrast_of(each) for findings in made.values() for each in findings if each.rule != "lacking"
    ]
    flat = [contrast for contrasts in found.values() for contrast in contrasts]
    findings = iter(one_sided([*flat, *earlier], looks))
    for key, contrasts in found.items():
        of_point = [_demanded(next(findings), suite.demands) for _ in contrasts]
        if of_point:
            made[key] = of_point
    return made


def _contrast_of(finding: Finding) -> Contrast:
    """Return the contrast of a finding from an earlier look."""
    return Contrast(*finding.values, finding.allowed, finding.better, left_out=finding.left_out)


def _demanded(finding: Finding, demands: Mapping[str, Demand]) -> Finding:
    demand = demands[finding.metric]
    return demanded(finding, demand.least, demand.most)


def _lacking(pair: _Pair, metrics: Collection[str]) -> Iterator[Finding]:
    """Findings on metrics that all runs of the base have, but not all runs of the change: see `lacking`."""
    base, change, ours = pair.theirs, pair.ours, _values(pair.change)
    for key, (of, values) in _values(pair.base).items():
        kind, entry, metric = key[0], key[1], key[2]
        had = ours.get(key, (of, []))[1]
        if metric not in metrics or len(values) < len(base.sums) or len(had) == len(change.sums):
            continue
        subject = Subject(kind, entry, of, metric, BY_NAME[metric].unit, base.point, base.case)
        yield lacking(subject, _SIDES, values, had)


def _values(side: Side) -> dict[tuple[str, int | None, str, str], tuple[str, Sequence[float]]]:
    """Name and known values of every metric of every group. Entries are identified by index."""
    place = pl.when(pl.col("entry").is_null()).then("of").otherwise(pl.lit(""))
    found = side.values.group_by("kind", "entry", "metric", place.alias("place"), maintain_order=True).agg(
        of=pl.col("of").first(), values=pl.col("value").drop_nulls()
    )
    return {
        (row["kind"], row["entry"], row["metric"], row["place"]): (row["of"], row["values"])
        for row in found.iter_rows(named=True)
    }
