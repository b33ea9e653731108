"""Engines, or settings of one engine, side by side: comparisons of values, and series over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME, busy_links
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.metrics.samples import means_over
from fullpipe.analysis.points import are_both, of_parts
from fullpipe.analysis.values import values_of
from fullpipe.runs import Run
from fullpipe.runs.meta import READERS
from fullpipe.runs.population import content_of, files_of
from fullpipe.validation.compare.comparison import EngineComparison, Entries, Ran
from fullpipe.validation.compare.contrast import Series, contrast_of, measure_of, overridden, series_of
from fullpipe.validation.compare.finding import Cell, Finding, Note
from fullpipe.validation.compare.rules import independent
from fullpipe.validation.compare.side import (
    Groups,
    Key,
    Side,
    bulk_entries,
    check_groups,
    is_asked,
    is_total,
    joint,
    places,
)

Runs = Mapping[str, Sequence[Run]]
"""Runs by side, such as an engine or a setting: one run per seed."""
STEPS = 200
"""Number of intervals into which `overlay` divides a run. Samples of an interval are averaged to reduce
noise."""
_Aggregate = Callable[[pl.Expr], pl.Expr]
_QUANTITIES: Mapping[str, tuple[str, _Aggregate]] = {
    "goodput": ("goodput_bps", pl.Expr.sum),
    "rtt": ("srtt_s", pl.Expr.mean),
}
"""Column of the samples, and the aggregate that combines the flows of a group, by quantity."""
CLOSEST_TO_THE_WORLD = (*READERS, "linux")
"""Default references, in order of preference: measurements, then Linux itself."""


def by_engine(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs by the name of their engine."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.meta.engine.name, []).append(run)
    return found


def closest_to_the_world(sides: Iterable[str]) -> str:
    """Return the default reference among the sides. Raises ValueError if there is no side.

    >>> closest_to_the_world(["native", "flent"])
    'flent'
    """
    names = list(sides)
    if not names:
        raise ValueError("sides: is empty; give one name or more")
    return next((name for name in CLOSEST_TO_THE_WORLD if name in names), names[0])


@dataclass(frozen=True)
class Matched:
    """Sides whose entries of `flows` are matched with those of the reference."""

    sides: Mapping[str, Side]
    """The reference comes first."""
    places: Mapping[str, Sequence[int]]
    groups: Mapping[str, Mapping[Key, tuple[str, frozenset[str]]]]
    """The groups of every side: see `Side.groups`."""
    remarks: tuple[str, ...] = ()
    """Differences between the sides that do not prevent a comparison."""

    def labels(self, key: Key) -> dict[str, str]:
        """Names of a group or link on the sides that have this group or link."""
        return {name: groups[key][0] for name, groups in self.groups.items() if key in groups}

    def flows(self, name: str, cell: Cell) -> frozenset[str]:
        """Names of the flows that a cell of a side covers."""
        return self.groups[name].get(cell[:2], ("", frozenset()))[1]


def matched_sides(runs: Runs, reference: str) -> Matched:
    """Match the entries of `flows` of all sides with those of the reference.

    Entries are matched by name if all entries are named and both sides have the same names. Otherwise entries
    are matched by index. The number of flows, the algorithm and other keys of matched entries may differ.

    Raises:
        ValueError: If the runs of a side are not of one scenario and one engine with distinct seeds, or if
            sides differ in the number of entries, the duration or the warm-up.
    """
    names = [reference, *(name for name in runs if name != reference)]
    for name in names:
        _check(name, runs[name])
    empty = pl.DataFrame()
    sides = {name: Side(name, runs[name][0].scenario, empty, runs[name]) for name in names}
    found = {name: places(sides[reference], side) for name, side in sides.items()}
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
                f'runs of "{side}": they have {len(found)} {what} ({listed}); give runs with one'
            )
    seeds = [run.meta.seed for run in runs]
    for seed in seeds:
        if seeds.count(seed) > 1:
            raise ValueError(
                f'runs of "{side}": seed {seed} occurs {seeds.count(seed)} times; give each seed once'
            )


def _remarks(found: Matched, first: str, name: str) -> Iterator[str]:
    """Remarks on differences between two sides that do not prevent their comparison."""
    theirs, ours = found.groups[first], found.groups[name]
    for has, lacks, side in ((theirs, ours, name), (ours, theirs, first)):
        if lacking := sorted(has[key][0] for key in has.keys() - lacks.keys() if key[0] == "link"):
            yield f"{', '.join(lacking)}: not compared, as {side} has no link of this name"
    for key, (label, flows) in theirs.items():
        other, its_flows = ours.get(key, ("", frozenset()))
        if len(flows) != len(its_flows) and not is_total(key):
            counts = f"{first} has {len(flows)} of these flows and {name} {len(its_flows)}"
            both = joint({first: label, name: other})
            yield Note("", groups=[both], end=f": {counts}; sums are of all of them")


def compare(
    runs: Runs,
    reference: str,
    margins: Mapping[str, Margin] | None = None,
    of: Groups = (),
    point: Mapping[str, Any] | None = None,
) -> EngineComparison:
    """Compare the values of several sides: engines that ran one scenario, or settings of one engine.

    Entries of `flows` are matched by name if all entries are named and both sides have the same names.
    Otherwise entries are matched by index, even if their algorithms differ. Links are matched by name.
    Intervals are Welch's: seeds are not paired.

    Args:
        runs: By side, one run per seed.
        reference: The side that all other sides are compared with.
        margins: Margins by metric that replace the margins of `MARGINS`.
        of: Groups of flows and links to compare; default: all.
        point: Point of a sweep at which all sides ran.

    Raises:
        UnknownNameError: If `of` contains a name that no group has.
        ValueError: If there are fewer than two sides, a side has no runs, or the reference is not a side; if
            the runs of a side are not of one scenario and one engine with distinct seeds; if sides differ in
            the number of entries of `flows`, the duration or the warm-up; or if a margin is invalid or its
            metric is unknown.
    """
    if len(runs) < 2 or reference not in runs or not all(runs.values()):
        raise ValueError(f"runs: give runs of two engines or more, one of them {reference!r}")
    allowed, found = overridden(margins), matched_sides(runs, reference)
    links = list(
        dict.fromkeys(link for of_side in runs.values() for run in of_side for link in busy_links(run))
    )
    series = {name: _series(found, name, links) for name in found.sides}
    has_both = are_both(side.scenario for side in found.sides.values())
    findings, gaps = [], dict[tuple[str, str, str], dict[str, None]]()
    for cell in dict.fromkeys(cell for name in found.sides for cell in series[name]):
        known = {
            name: series[name].get(cell, Series(of, [], 0, None))
            for name, of in found.labels(cell[:2]).items()
        }
        if not any(each.values for each in known.values()) or reference not in known or len(known) < 2:
            continue  # the metric is undefined for this cell, or a remark already names the cell
        why = _reasons(cell, known, found, reference)
        for name, reason in why.items():
            label = joint({side: known[side].label for side in (reference, name)})
            gaps.setdefault((name, cell[2], reason), {})[label] = None
        if reference not in why:
            findings += [
                independent(
                    contrast_of(
                        *(cell, (reference, name), known[reference], known[name], allowed, point),
                        has_both=has_both,
                    )
                )
                for name in known
                if name != reference and name not in why
            ]
    if of:
        check_groups(of, ((each.subject, each.labels) for each in findings))
        findings = [each for each in findings if is_asked(of, each.subject, each.labels)]
    return EngineComparison(
        scenario=runs[reference][0].name,
        point=point or {},
        sides={name: [run.meta.seed for run in side.runs] for name, side in found.sides.items()},
        given=tuple(runs),
        findings=tuple(findings),
        by_case={"": Entries(bulk=bulk_entries(found.sides[reference].scenario))},
        notes=tuple(
            Note(f"{name}: {metric} of ", metric, groups=[*of], end=f" is left out, {why}")
            for (name, metric, why), of in gaps.items()
        ),
        remarks=(*found.remarks, *_leaves_out(runs, findings)),
        ran=[Ran(name, side.scenario, point or {}, engine=side.engine) for name, side in found.sides.items()],
    )


def _leaves_out(runs: Runs, findings: Sequence[Finding]) -> list[str]:
    """Return the note that metrics of connections leave out other flows, if a finding is on such a metric."""
    scenarios = (run.scenario for of_side in runs.values() for run in of_side[:1])
    return of_parts(scenarios, ((each.metric, each.labels[0]) for each in findings))


def _series(found: Matched, name: str, links: Sequence[str]) -> dict[Cell, Series]:
    side = found.sides[name]
    values = values_of((({}, run) for run in side.runs), links=links)
    return series_of(replace(side, values=values), tuple(BY_NAME), found.places[name])


def _reasons(cell: Cell, known: Mapping[str, Series], found: Matched, reference: str) -> dict[str, str]:
    """Reasons why the values of a side are not compared, by side; comparable sides have no key."""
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
    """Reason why some runs have no value; empty if every run has a value."""
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
    """Reason why the metric has another meaning on this side; empty if it has its usual meaning, and for
    datagrams."""
    side, flows = found.sides[name], found.flows(name, cell)
    is_of_datagrams = bool(flows) and flows.isdisjoint(side.connected)
    return "" if is_of_datagrams else side.runs[0].meta.otherwise.get(measure_of(cell).column, "")


def overlay(runs: Mapping[str, Sequence[Run]]) -> pl.DataFrame:
    """Goodput and RTT of every group of flows over time: the columns engine, of, quantity, time_s (end of the
    interval), mean, low, high.

    `low` and `high` are the extremes over seeds. Units are the units of the samples. A run without samples
    gives no rows. Matched groups have one name, which shows both names if the sides name the groups
    differently.

    Raises:
        ValueError: If the runs cannot be compared; see `compare`.
    """
    found = matched_sides(runs, next(iter(runs)))
    frames = [frame for engine in runs for frame in _of_engine(engine, found)]
    schema = {"engine": pl.String, "of": pl.String, "quantity": pl.String, "time_s": pl.Float64}
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.concat(frames) if frames else pl.DataFrame(schema={**schema, **numbers})


def _of_engine(engine: str, found: Matched) -> Iterator[pl.DataFrame]:
    side = found.sides[engine]
    groups = {
        joint(found.labels(key)): flows
        for key, (_, flows) in found.groups[engine].items()
        if key[0] == "flows" and not is_total(key)
    }
    for quantity, (column, together) in _QUANTITIES.items():
        value = pl.col(column)
        lines = [line for run in side.runs for line in _lines(run, groups, column, together)]
        if not lines:
            continue
        over_seeds = pl.concat(lines).group_by("of", "time_s", maintain_order=True)
        numbers = over_seeds.agg(mean=value.mean(), low=value.min(), high=value.max()).sort("time_s")
        of_what = [pl.lit(engine).alias("engine"), pl.col("of"), pl.lit(quantity).alias("quantity")]
        yield numbers.select(*of_what, pl.col("time_s", "mean", "low", "high"))


def _lines(
    run: Run, groups: Mapping[str, frozenset[str]], column: str, together: _Aggregate
) -> Iterator[pl.DataFrame]:
    """A line per group of flows of a run."""
    value = pl.col(column)
    for name, flows in groups.items():
        own = run.series.filter(pl.col("flow").is_in(flows) & value.is_not_null())
        if own.is_empty():
            continue
        at_once = own.group_by("time_s").agg(together(value), of=pl.lit(name)).sort("time_s")
        yield means_over(at_once, "of", column, run.meta.duration_s / STEPS)
