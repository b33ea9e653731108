"""Sides of comparisons: a scenario, and its values measured with several seeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from fullpipe.analysis.limits import with_counts
from fullpipe.analysis.metrics import connections, flow_groups
from fullpipe.analysis.metrics.groups import ALL, TOTALS, flow_directions, is_bulk
from fullpipe.analysis.values import values_of
from fullpipe.errors import NoRunError, UnknownNameError, brief, suggestion
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.validation.compare.finding import Subject

Key = tuple[str, int | str]
"""Kind, and the index of an entry in the reference, or the name of a total or a link."""
COLUMNS = ("kind", "entry", "of", "metric", "value")
_SMALLEST, _LARGEST = 1e-30, 1e30
"""Bounds of the size of a nonzero value in base units: within these bounds, squares of differences and ratios
are finite."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison."""

    name: str
    scenario: Scenario
    values: pl.DataFrame
    """The values of one point, as `values_of` returns them."""
    runs: Sequence[Run] = field(default=(), repr=False)
    """Runs of the side, if available."""

    @classmethod
    def of_runs(
        cls, name: str, runs: Sequence[Run], metrics: Sequence[str], links: Collection[str] | None = None
    ) -> Side:
        """The side of finished runs; see `values_of`. If the requested metrics are equal with every seed, all
        metrics are measured, to find out whether seeds change any metric."""
        values = values_of((({}, run) for run in runs), with_counts(metrics), links)
        if are_alike(values):
            values = values_of((({}, run) for run in runs), links=links)
        return cls(name, runs[0].scenario, values, runs)

    @property
    def seeds(self) -> list[int]:
        """The seeds, in ascending order."""
        return sorted(set(self.values["seed"].to_list()))

    @property
    def engine(self) -> str:
        """Name of the engine of the runs or values; empty if it is not known."""
        if self.runs:
            return self.runs[0].engine.name
        return str(self.values["engine"][0]) if "engine" in self.values.columns and len(self.values) else ""

    @property
    def is_one_run(self) -> bool:
        """Whether every metric is equal with all seeds."""
        return are_alike(self.values)

    def groups(self, places: Sequence[int]) -> dict[Key, tuple[str, frozenset[str]]]:
        """Name and flows of every entry and total, and the names of links.

        Args:
            places: For every entry of `flows`, the index of its counterpart in the reference.
        """
        first = self.runs[0]
        entries: dict[Key, tuple[str, frozenset[str]]] = {
            ("flows", places[n] if n < len(places) else name): (name, frozenset(flows))
            for n, (name, flows) in enumerate(flow_groups(first).items())
        }
        totals = {ALL: first.flows["flow"].to_list(), **flow_directions(first)}
        entries |= {("flows", name): (name, frozenset(flows)) for name, flows in totals.items()}
        return entries | {
            ("link", str(name)): (str(name), frozenset()) for name in first.links_summary["link"]
        }

    @cached_property
    def connected(self) -> frozenset[str]:
        """Names of the flows that are connections."""
        return frozenset(connections(self.runs[0].flows)["flow"])


def are_alike(values: pl.DataFrame) -> bool:
    """Whether the values are equal with all seeds. A loop over these small tables is faster than a query."""
    firsts: dict[tuple[Any, ...], float | None] = {}
    for *key, value in zip(*(values[name].to_list() for name in COLUMNS), strict=True):
        first = firsts.setdefault(tuple(key), value)
        if first != value and not (first != first and value != value):  # NaN equals NaN
            return False
    return bool(firsts)


def check_value(value: float) -> float:
    """Return a value that was read from a file. Raises ValueError if its size is out of bounds."""
    if value and not _SMALLEST <= abs(value) <= _LARGEST:
        raise ValueError(
            f"{value:g} is not a measured value; sizes are 0 or from {_SMALLEST:g} to {_LARGEST:g}"
        )
    return value


def bulk_entries(scenario: Scenario) -> frozenset[int]:
    """Indices of the entries of `flows` that are bulk flows."""
    return frozenset(place for place, flow in enumerate(scenario.flows) if is_bulk(flow))


def changed_entries(reference: Side, other: Side) -> frozenset[int]:
    """Indices of the entries of `flows` in the reference that the other side sets differently.

    Raises:
        ValueError: In the same cases as `places`.
    """
    found = places(reference, other)
    theirs, ours = reference.scenario.flows, other.scenario.flows
    return frozenset(place for flow, place in zip(ours, found, strict=True) if flow != theirs[place])


def is_total(key: Key) -> bool:
    """Whether a key belongs to a total over several entries, such as all flows."""
    return key[0] == "flows" and key[1] in TOTALS


BETWEEN = " -> "
"""Text between the names that a group of flows has on either side."""


def joint(labels: Mapping[str, str]) -> str:
    """One label for a group of flows, also if the name of the group differs between sides.

    >>> joint({"baseline": "cubic-1", "variant": "vegas-1"})
    'cubic-1 -> vegas-1'
    """
    return BETWEEN.join(dict.fromkeys(labels.values()))


def places(reference: Side, other: Side) -> list[int]:
    """For every entry of the other side's `flows`, the index of its counterpart in the reference.

    Raises:
        ValueError: If the sides differ in the number of entries, the duration or the warm-up, or if not all
            entries are named and a name has a different index on each side.
    """
    first, theirs, side, ours = reference.name, reference.scenario, other.name, other.scenario
    for what, there, here in (
        ("duration", theirs.duration_s, ours.duration_s),
        ("warmup", theirs.warmup_s, ours.warmup_s),
    ):
        if here != there:
            raise ValueError(f'{what}: {here:g} s in "{side}" and {there:g} s in "{first}"; make them equal')
    if len(ours.flows) != len(theirs.flows):
        how_many = f'{len(ours.flows)} entries in "{side}" and {len(theirs.flows)} in "{first}"'
        raise ValueError(f"flows: {how_many}; give both sides the same number of entries")
    names, known = [flow.name for flow in ours.flows], [flow.name for flow in theirs.flows]
    there_at = {name: place for place, name in reversed(list(enumerate(known)))}
    if None not in names and len(set(names)) == len(names) and set(names) == there_at.keys():
        return [there_at[name] for name in names]
    for place, name in enumerate(names):
        if name is not None and name in there_at and known[place] != name:
            where = f'entry {place} in "{side}" and entry {there_at[name]} in "{first}"'
            raise ValueError(f'flows: "{name}" is {where}; name all entries, or put them into the same order')
    return list(range(len(names)))


# Requested groups of flows and links.


Groups = Collection[str] | Mapping[str, Collection[str]]
"""Requested groups of flows and links: one list for all metrics, or a list for each metric by its name."""


def is_asked(groups: Groups, subject: Subject, labels: Collection[str] = ()) -> bool:
    """Whether the subject belongs to a requested group. If no groups are requested, or none for its metric,
    every subject counts as requested."""
    asked = groups.get(subject.metric, ()) if isinstance(groups, Mapping) else groups
    return not asked or subject.is_of(asked, labels)


def check_groups(groups: Groups, known: Iterable[tuple[Subject, Sequence[str]]]) -> None:
    """Check that every group matches a subject.

    Args:
        groups: The groups, or the groups of each metric.
        known: The subjects with their labels.

    Raises:
        UnknownNameError: If there is no such group.
        NoRunError: If no such group has the metric.
    """
    subjects = list(known)
    if isinstance(groups, Mapping):
        _check_by_metric(groups, subjects)
        return
    for name in groups:
        if not any(subject.is_of([name], labels) for subject, labels in subjects):
            raise UnknownNameError(
                "group of flows or link", name, dict.fromkeys(subject.of for subject, _ in subjects)
            )


def _check_by_metric(
    groups: Mapping[str, Collection[str]], known: Sequence[tuple[Subject, Sequence[str]]]
) -> None:
    for metric, names in groups.items():
        of_metric = [each for each in known if each[0].metric == metric]
        for name in names:
            if not any(subject.is_of([name], labels) for subject, labels in of_metric):
                having = dict.fromkeys(subject.of for subject, _ in of_metric)
                raise NoRunError(f'no run has {metric} of "{brief(name)}"{suggestion(name, having)}')
