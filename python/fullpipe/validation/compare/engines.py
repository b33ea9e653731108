"""Engines side by side, or settings of one: values, differences, and whether they are equivalent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.of_parts import of_parts
from fullpipe.analysis.values import values_of
from fullpipe.runs import Run
from fullpipe.runs.population import content_of, files_of
from fullpipe.validation.compare.comparison import Comparison
from fullpipe.validation.compare.contrast import Cell, Contrast, Series, contrast_of, measure_of, series_of
from fullpipe.validation.compare.finding import Finding, Note, check_groups, interval_dict
from fullpipe.validation.compare.margins import MARGINS, check_margin
from fullpipe.validation.compare.rules import EQUIVALENCE_LEVEL, Judgement, independent
from fullpipe.validation.compare.side import Key, Side, bulk_entries, is_total, joint, places

Runs = Mapping[str, Sequence[Run]]
"""Runs by side, such as an engine or a setting: one run per seed."""
CLOSEST_TO_THE_WORLD = ("pcap", "flent", "linux")
"""The reference unless another is named: measurements, and Linux itself."""


@dataclass(frozen=True, slots=True)
class Row:
    """A metric of an entry of `flows`, of all flows or of a link, on every side."""

    findings: Mapping[str, Finding]
    """The findings by side."""

    @property
    def _first(self) -> Finding:
        return next(iter(self.findings.values()))

    @property
    def kind(self) -> str:
        """ "flows" or "link"."""
        return self._first.kind

    @property
    def of(self) -> str:
        """Name of the group or link on the reference."""
        return self._first.labels[0]

    @property
    def entry(self) -> int | None:
        """Place of the entry among the reference's `flows`; None of all flows and of links."""
        return self._first.entry

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self._first.metric

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return self._first.unit

    @property
    def margin(self) -> Margin:
        """The difference that does not matter."""
        return self._first.margin

    @property
    def values(self) -> dict[str, Sequence[float]]:
        """Values by side, one per seed, in the unit of the metric; without the sides that lack it."""
        first = self._first
        return {first.sides[0]: first.values[0]} | {
            name: each.values[1] for name, each in self.findings.items()
        }

    @property
    def judgements(self) -> dict[str, Judgement]:
        """Differences from the reference by side."""
        return {
            name: Judgement(each.decision, each.difference, each.interval, each.reason)  # type: ignore[arg-type]
            for name, each in self.findings.items()
        }

    @property
    def labels(self) -> dict[str, str]:
        """Names of the group or link by side; the reference comes first."""
        first = self._first
        return {first.sides[0]: first.labels[0]} | {
            name: each.labels[1] for name, each in self.findings.items()
        }

    def mean(self, side: str) -> float:
        """The mean over seeds."""
        values = self.values[side]
        return sum(values) / len(values)

    def label(self, side: str) -> str:
        """The name of the group, by both names if the reference has another than a side."""
        return joint({"": self.of, side: self.labels[side]})

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON, in base units."""
        return {
            "kind": self.kind,
            "of": self.of,
            "entry": self.entry,
            "labels": self.labels,
            "metric": self.metric,
            "unit": self.unit,
            "margin": {"relative": self.margin.relative, "absolute": self.margin.absolute},
            "values": {side: list(values) for side, values in self.values.items()},
            "against_reference": {name: _judged(each) for name, each in self.findings.items()},
        }


def _judged(found: Finding) -> dict[str, Any]:
    return {
        "verdict": found.decision,
        "difference": found.difference,
        "interval": interval_dict(found.interval),
        "reason": found.reason,
    }


@dataclass(frozen=True, kw_only=True)
class EngineComparison(Comparison):
    """Engines, or settings of one, whose seeds are not paired."""

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of all sides, as they were given."""
        return tuple(self.given)

    given: tuple[str, ...] = ()
    """Names of all sides in the order given."""

    @property
    def seeds(self) -> Mapping[str, Sequence[int]]:
        """The seeds by side."""
        return {name: self.sides[name] for name in self.given}

    @property
    def rows(self) -> tuple[Row, ...]:
        """The findings by metric and group, those of all sides together."""
        found: dict[tuple[str, object, str], dict[str, Finding]] = {}
        for each in self.findings:
            place = each.labels[0] if each.entry is None else each.entry
            found.setdefault((each.kind, place, each.metric), {})[each.sides[1]] = each
        return tuple(Row(of_sides) for of_sides in found.values())

    @property
    def undecided(self) -> list[str]:
        """Why sides of one run decide nothing."""
        single = [side for side, seeds in self.seeds.items() if len(seeds) == 1]
        if not single:
            return []
        return [f"one run of {' and of '.join(single)}: no interval, so nothing is decided; repeat it"]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "reference": self.reference,
            "engines": list(self.engines),
            "seeds": {engine: list(seeds) for engine, seeds in self.seeds.items()},
            "intervals": {"method": "Welch", "paired": False, "level": EQUIVALENCE_LEVEL},
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
            "remarks": list(self.remarks),
        }


def by_engine(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs by the name of their engine."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.meta.engine.name, []).append(run)
    return found


def closest_to_the_world(sides: Iterable[str]) -> str:
    """The default reference. Raises ValueError if there is no side.

    >>> closest_to_the_world(["native", "flent"])
    'flent'
    """
    names = list(sides)
    if not names:
        raise ValueError("sides: there is none")
    return next((name for name in CLOSEST_TO_THE_WORLD if name in names), names[0])


@dataclass(frozen=True)
class Matched:
    """Sides, with the places of their entries among those of the reference."""

    sides: Mapping[str, Side]
    """The reference comes first."""
    places: Mapping[str, Sequence[int]]
    groups: Mapping[str, Mapping[Key, tuple[str, frozenset[str]]]]
    """The groups of every side: see `Side.groups`."""
    remarks: tuple[str, ...] = ()
    """Differences between the sides that do not keep them from being compared."""

    def labels(self, key: Key) -> dict[str, str]:
        """Names of a group or link on the sides that have it."""
        return {name: groups[key][0] for name, groups in self.groups.items() if key in groups}

    def flows(self, name: str, cell: Cell) -> frozenset[str]:
        """Names of the flows that a cell of a side is of."""
        return self.groups[name].get(cell[:2], ("", frozenset()))[1]


def matched_sides(runs: Runs, reference: str) -> Matched:
    """Match the entries of `flows` of all sides with those of the reference.

    Entries are matched by their names if all of them have one and both sides have the same, and else by their
    places. The number of flows of an entry, its algorithm and all else may differ.

    Raises:
        ValueError: If the runs of a side are not of one scenario and engine with a seed each, or if sides
            differ in the number of entries, the duration or the warm-up.
    """
    names = [reference, *(name for name in runs if name != reference)]
    for name in names:
        _check(name, runs[name])
    empty = pl.DataFrame()
    sides = {name: Side(name, runs[name][0].scenario, empty, runs[name]) for name in names}
    first = (reference, sides[reference].scenario)
    found = {name: places(first, (name, side.scenario)) for name, side in sides.items()}
    made = Matched(sides, found, {name: side.groups(found[name]) for name, side in sides.items()})
    remarks = [remark for name in names[1:] for remark in _remarks(made, reference, name)]
    remarks += [f"{name}: {remark}" for name in names for remark in runs[name][0].meta.remarks]
    return replace(made, remarks=tuple(remarks))


def _check(side: str, runs: Sequence[Run]) -> None:
    for what, found in (
        ("scenarios", {run.meta.digest for run in runs}),
        ("engines", {run.meta.engine.name for run in runs}),
        ("contents", {content_of(files_of(run.meta)) for run in runs}),
    ):
        if len(found) > 1:
            listed = ", ".join(sorted(found))
            raise ValueError(
                f'runs of "{side}": they are of {len(found)} {what} ({listed}); give those of one'
            )
    seeds = [run.meta.seed for run in runs]
    for seed in seeds:
        if seeds.count(seed) > 1:
            raise ValueError(
                f'runs of "{side}": seed {seed} is there {seeds.count(seed)} times; give it once'
            )


def _remarks(found: Matched, first: str, name: str) -> Iterator[str]:
    """Differences of two sides that a reader should know."""
    theirs, ours = found.groups[first], found.groups[name]
    for has, lacks, side in ((theirs, ours, name), (ours, theirs, first)):
        if lacking := sorted(has[key][0] for key in has.keys() - lacks.keys() if key[0] == "link"):
            yield f"{', '.join(lacking)}: not compared, as {side} has no link of this name"
    for key, (label, flows) in theirs.items():
        other, its_flows = ours.get(key, ("", frozenset()))
        if len(flows) != len(its_flows) and not is_total(key):
            counts = f"{first} has {len(flows)} of these flows and {name} {len(its_flows)}"
            yield f"{joint({first: label, name: other})}: {counts}; sums are of all of them"


def compare(
    runs: Runs, reference: str, margins: Mapping[str, Margin] | None = None, of: Collection[str] = ()
) -> EngineComparison:
    """Compare the values of several sides: engines that ran one scenario, or settings of one engine.

    Every entry of `flows` is compared with its counterpart, by name if all entries of both sides are named
    alike, and else by its place, whatever algorithms they have; links are compared by name. Intervals are
    Welch's: seeds are not paired.

    Args:
        runs: By side, one run per seed.
        reference: The side that the others are compared with.
        margins: Other margins than `MARGINS` has, by metric.
        of: Groups of flows and links that are compared; all unless named.

    Raises:
        UnknownNameError: If there is no group of a name in `of`.
        ValueError: If there are fewer than two sides, one without runs, or no such reference; if the runs of
            a side are not of one scenario and engine with a seed each; or if sides differ in the number of
            entries of `flows`, the duration or the warm-up; or if a margin is none, or of no metric.
    """
    if len(runs) < 2 or reference not in runs or not all(runs.values()):
        raise ValueError(f"runs: need two engines or more with runs, one of them {reference!r}")
    for metric, margin in (margins or {}).items():
        check_margin(metric, margin)
    allowed, found = {**MARGINS, **(margins or {})}, matched_sides(runs, reference)
    links = list(
        dict.fromkeys(link for of_side in runs.values() for run in of_side for link in busy_links(run))
    )
    series = {name: _series(found, name, links) for name in found.sides}
    findings, gaps = [], dict[tuple[str, str, str], dict[str, None]]()
    for cell in dict.fromkeys(cell for name in found.sides for cell in series[name]):
        known = {
            name: series[name].get(cell, Series(of, [], 0, None))
            for name, of in found.labels(cell[:2]).items()
        }
        if not any(each.values for each in known.values()) or reference not in known or len(known) < 2:
            continue  # it makes no sense here, or is remarked on
        why = _reasons(cell, known, found, reference)
        for name, reason in why.items():
            label = joint({side: known[side].label for side in (reference, name)})
            gaps.setdefault((name, cell[2], reason), {})[label] = None
        if reference not in why:
            others = (name for name in known if name != reference and name not in why)
            findings += [independent(_contrast(cell, known, reference, name, allowed)) for name in others]
    if of:
        check_groups(of, ((each.subject, each.labels) for each in findings))
        findings = [each for each in findings if each.subject.is_of(of, each.labels)]
    return EngineComparison(
        scenario=runs[reference][0].name,
        sides={name: [run.meta.seed for run in side.runs] for name, side in found.sides.items()},
        given=tuple(runs),
        findings=tuple(findings),
        bulk=bulk_entries(found.sides[reference].scenario),
        notes=tuple(
            Note(f"{name}: {metric} of {', '.join(of)} is left out, {why}", metric)
            for (name, metric, why), of in gaps.items()
        ),
        remarks=(*found.remarks, *_leaves_out(runs, findings)),
    )


def _leaves_out(runs: Runs, findings: Sequence[Finding]) -> list[str]:
    """The condition for rows of connections."""
    scenarios = (run.scenario for of_side in runs.values() for run in of_side[:1])
    return of_parts(scenarios, ((each.metric, each.labels[0]) for each in findings))


def _series(found: Matched, name: str, links: Sequence[str]) -> dict[Cell, Series]:
    side = found.sides[name]
    values = values_of((({}, run) for run in side.runs), links=links)
    return series_of(replace(side, values=values), tuple(BY_NAME), found.places[name])


def _contrast(
    cell: Cell, known: Mapping[str, Series], reference: str, name: str, margins: Mapping[str, Margin]
) -> Contrast:
    made = contrast_of(cell, known[reference], known[name], margins)
    return replace(made, sides=(reference, name))


def _reasons(cell: Cell, known: Mapping[str, Series], found: Matched, reference: str) -> dict[str, str]:
    """Reasons by side why its values are not compared; no key for a side that can be compared."""
    lacking = {name: _lacks(cell, found, name, len(of.values)) for name, of in known.items()}
    otherwise = {name: _otherwise(cell, found, name) for name in known}
    expected, why = otherwise[reference], {}
    for name in known:
        if lacking[name]:
            why[name] = lacking[name]
        elif otherwise[name] != expected:
            why[name] = f"as {otherwise[name]}" if otherwise[name] else f"because of {reference}: {expected}"
    return why


def _lacks(cell: Cell, found: Matched, name: str, known: int) -> str:
    """Why there is no value of some runs; empty if there is one of each."""
    runs = found.sides[name].runs
    if known == len(runs):
        return ""
    measure, how_many = measure_of(cell), f"{known} of {len(runs)} runs"
    table = measure.column.partition(".")[0]
    if {measure.column, table} & {column for run in runs for column in run.meta.not_measured}:
        return "as it is not measured"
    flows = pl.col("flow").is_in(found.flows(name, cell))
    if measure.event and any(not run.tables[table].filter(flows).is_empty() for run in runs):
        return f"as {measure.event} in {how_many}"
    return f"as only {how_many} have it" if known else "as it has no value there"


def _otherwise(cell: Cell, found: Matched, name: str) -> str:
    """Why the column has another meaning, which it has for connections."""
    side, flows = found.sides[name], found.flows(name, cell)
    is_of_datagrams = bool(flows) and flows.isdisjoint(side.connected)
    return "" if is_of_datagrams else side.runs[0].meta.otherwise.get(measure_of(cell).column, "")
