"""Holds a change against its base: one suite, the same seeds on both sides, more where few say nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullpipe.analysis.points import differences
from fullpipe.analysis.unanswered import unanswered
from fullpipe.errors import ScenarioError
from fullpipe.scenario.read import dotted
from fullpipe.validation.compare.judge import ALIKE
from fullpipe.validation.compare.matching import Match, matched
from fullpipe.validation.gate.lacking import lacking
from fullpipe.validation.gate.measured import Measured, Point
from fullpipe.validation.gate.sides import Side
from fullpipe.validation.gate.suite import Demand, Suite
from fullpipe.validation.gate.verdicts import Found, Verdict, verdicts

_ALWAYS_FREE = ("flows.*.cca", "flows.*.name", "name", "sweep", "record")
"""What may differ between the sides of a check: what is checked, and what nothing depends on."""
_Key = tuple[str, str]
"""Case and point."""


@dataclass(frozen=True)
class Row:
    """A metric of an entry of `flows`, of all flows or of a link, in a case."""

    case: str
    point: Mapping[str, Any]
    match: Match
    found: Found
    seeds: int
    """With how many it was decided, or not."""

    @property
    def base(self) -> float:
        """The mean over the runs of the base."""
        return sum(self.match.contrast.reference) / len(self.match.contrast.reference)

    @property
    def change(self) -> float | None:
        """The mean over the runs of the change; None if not all of them have it."""
        return None if self.found.difference is None else self.base + self.found.difference

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, in base units."""
        match, found = self.match, self.found
        return {
            "verdict": found.verdict,
            "case": self.case,
            "point": dict(self.point),
            "kind": match.kind,
            "of": match.of,
            "metric": match.metric,
            "unit": match.unit,
            "base": self.base,
            "change": self.change,
            "difference": found.difference,
            "interval": found.interval
            and {"low": found.interval.low, "high": found.interval.high, "level": 0.95},
            "p": found.p,
            "margin": match.contrast.margin,
            "seeds": self.seeds,
            "seeds_that_would_decide": found.seeds,
            "reason": found.reason,
        }


@dataclass(frozen=True)
class Checked:
    """What is said of a change."""

    suite: str
    base: str
    change: str
    rows: list[Row]
    runs: int
    """Of each side."""
    is_identical: bool
    """Whether every number of every run is the same on both sides, to the bit."""
    notes: list[str]

    @property
    def verdict(self) -> Verdict:
        """Regressed if anything is; else undecided if anything is."""
        said = {row.found.verdict for row in self.rows}
        return "regressed" if "regressed" in said else "undecided" if "undecided" in said else "not worse"

    def count(self, verdict: Verdict) -> int:
        """How many rows are said to be so."""
        return sum(row.found.verdict == verdict for row in self.rows)


def check(
    suite: Suite,
    base: Side,
    change: Side,
    names: tuple[str, str] = ("base", "change"),
    told: Callable[[str], None] = lambda _: None,
) -> Checked:
    """Hold a change against its base.

    Every metric of the suite is judged at each look of `Suite.looks`, on cases that were not decided before.

    Args:
        suite: What counts.
        base: Where the numbers of the base come from.
        change: Where those of the change come from.
        names: What the two are called.
        told: Gets a line after each look that decides too little.

    Raises:
        ScenarioError: If the two sides cannot be compared.
    """
    rows: dict[_Key, list[Row]] = {}
    open_cases, notes, runs = [case.name for case in suite.cases], dict[str, None](), 0
    looks = _looks(suite, base, change)
    first: tuple[Measured, Measured] | None = None
    for seeds in looks:
        sides = base.measured(open_cases, seeds), change.measured(open_cases, seeds)
        first = first or sides
        runs += sum(len(point.sums) for point in sides[1].points) - _known(rows, open_cases)
        identical = seeds == looks[0] and _sums(sides[0]) == _sums(sides[1])
        found, said = _matches(suite, *sides)
        notes.update(dict.fromkeys(said))
        rows = _judged(suite, rows, found, seeds, len(looks), _alike(*sides))
        for key, row in _lacking(suite, *sides, seeds):
            rows.setdefault(key, []).append(row)
        if identical:
            break
        open_cases = [name for name in open_cases if _is_open(rows, name)]
        if not open_cases or _is_regressed(rows):
            break
        told(f"{seeds} seeds: {len(open_cases)} of {len(suite.cases)} cases undecided")
    assert first is not None
    every = [row for of_point in rows.values() for row in of_point]
    if not every:
        raise ScenarioError([f"{suite.file}: no run has any of its metrics: {', '.join(suite.demands)}"])
    notes.update(dict.fromkeys(unanswered(suite.named, {row.match.metric for row in every})))
    base_name, change_name = (f"{name} ({side.name})" for name, side in zip(names, first, strict=True))
    return Checked(suite.name, base_name, change_name, every, runs, identical, list(notes))


def _looks(suite: Suite, base: Side, change: Side) -> list[int]:
    """The looks that both sides can take."""
    most = min(side.most_seeds or suite.most_seeds for side in (base, change))
    return [seeds for seeds in suite.looks if seeds <= most] or [most]


def _known(rows: Mapping[_Key, list[Row]], cases: list[str]) -> int:
    """Runs that an earlier look had of these cases."""
    return sum(of_point[0].seeds for (case, _), of_point in rows.items() if case in cases and of_point)


def _sums(measured: Measured) -> list[tuple[str, str, dict[int, str]]]:
    return sorted((point.case, str(point.point), point.sums) for point in measured.points)


def _alike(base: Measured, change: Measured) -> set[_Key]:
    """Points of which all seeds gave the same run, on either side."""
    one = [
        {(point.case, str(point.point)) for point in side.points if len(set(point.sums.values())) == 1}
        for side in (base, change)
    ]
    return one[0] & one[1]


def _is_open(rows: Mapping[_Key, list[Row]], case: str) -> bool:
    """Whether more seeds could decide something of a case."""
    return any(
        row.found.verdict == "undecided" and row.found.reason != ALIKE
        for (of, _), found in rows.items()
        if of == case
        for row in found
    )


def _is_regressed(rows: Mapping[_Key, list[Row]]) -> bool:
    return any(row.found.verdict == "regressed" for found in rows.values() for row in found)


def _lacking(suite: Suite, base: Measured, change: Measured, seeds: int) -> Iterator[tuple[_Key, Row]]:
    """What all runs of the base have, and not all of the change."""
    ours = {(point.case, str(point.point)): point for point in change.points}
    for theirs in base.points:
        key = (theirs.case, str(theirs.point))
        if key in ours:
            for match, found in lacking(theirs, ours[key], suite.demands):
                yield key, Row(theirs.case, theirs.point, match, found, seeds)


def _matches(
    suite: Suite, base: Measured, change: Measured
) -> tuple[dict[_Key, tuple[Point, list[Match]]], list[str]]:
    """What is measured on both sides, point by point, and what is not."""
    theirs = {(point.case, str(point.point)): point for point in base.points}
    found: dict[_Key, tuple[Point, list[Match]]] = {}
    notes: list[str] = []
    for ours in change.points:
        key = (ours.case, str(ours.point))
        if key not in theirs:
            raise ScenarioError([f"{ours.case}: the base has no point {key[1]}; keep it anew"])
        _check_scenarios(suite, theirs[key], ours)
        sides = theirs[key].variant("base"), ours.variant("change")
        try:
            matches, said = matched(*sides, list(suite.demands), suite.margins)
        except ValueError as error:
            raise ScenarioError([f"{ours.case}: {error}"]) from None
        found[key] = ours, [_demanded(match, suite.demands[match.metric]) for match in matches]
        notes += [f"{ours.case}: {line}" for line in said]
    return found, notes


def _check_scenarios(suite: Suite, base: Point, change: Point) -> None:
    """Raise ScenarioError if the two sides were run in other scenarios, apart from what a suite may set."""
    differ = [
        path
        for path in differences(base.scenario, change.scenario)
        if not any(dotted.covers(free, path) for free in (*suite.free, *_ALWAYS_FREE))
    ]
    if differ:
        names = ", ".join(differ[:5])
        raise ScenarioError([f"{change.case}: the base has another scenario, in {names}; measure it anew"])


def _demanded(match: Match, demand: Demand) -> Match:
    if demand.better is None:
        return match
    return replace(match, contrast=replace(match.contrast, better=demand.better))


def _judged(
    suite: Suite,
    before: Mapping[_Key, list[Row]],
    found: Mapping[_Key, tuple[Point, list[Match]]],
    seeds: int,
    looks: int,
    alike: Collection[_Key],
) -> dict[_Key, list[Row]]:
    """All rows with the verdicts of this look; what was decided before stays so, and counts in the family."""
    flat = [(key, point, match) for key, (point, matches) in found.items() for match in matches]
    earlier = [row for key, rows in before.items() if key not in found for row in rows]
    contrasts = [match.contrast for *_, match in flat] + [row.match.contrast for row in earlier]
    are_one = [key in alike for key, *_ in flat] + [False for _ in earlier]
    said = verdicts(contrasts, looks, are_one)[: len(flat)]
    made: dict[_Key, list[Row]] = {key: rows for key, rows in before.items() if key not in found}
    for (key, point, match), verdict in zip(flat, said, strict=True):
        bound = _beyond_bounds(match, suite.demands[match.metric])
        verdict = replace(verdict, verdict="regressed", reason=bound) if bound else verdict
        made.setdefault(key, []).append(Row(point.case, point.point, match, verdict, seeds))
    return made


def _beyond_bounds(match: Match, demand: Demand) -> str:
    """What a run of the change is beyond, if any; nothing if none is."""
    worst = {"least": min(match.contrast.other), "most": max(match.contrast.other)}
    if demand.least is not None and worst["least"] < demand.least:
        return f"a run has {worst['least']:g}, and {demand.least:g} is the least"
    if demand.most is not None and worst["most"] > demand.most:
        return f"a run has {worst['most']:g}, and {demand.most:g} is the most"
    return ""
