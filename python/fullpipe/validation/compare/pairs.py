"""Pairs of what is compared on two sides: entries of `flows` by place or name, links by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fullpipe.analysis.metrics import connections, flow_groups
from fullpipe.analysis.metrics.groups import ALL, TOTALS, flow_directions
from fullpipe.runs import Run
from fullpipe.runs.population import content_of, files_of
from fullpipe.scenario import Scenario

Runs = Mapping[str, Sequence[Run]]
"""By side, such as an engine or a setting: one run per seed."""
Key = tuple[str, int | str]
"""Kind, and what is the same on all sides: the place of an entry among the reference's, or a name."""
_TOTALS = frozenset(("flows", name) for name in TOTALS)


def is_total(key: Key) -> bool:
    """Whether it is of the flows of several entries together."""
    return key in _TOTALS


@dataclass(frozen=True)
class Side:
    """What a side has, by what it is set beside."""

    runs: Sequence[Run]
    labels: Mapping[Key, str]
    """What it calls an entry of `flows`, all flows, or a link."""
    flows: Mapping[Key, frozenset[str]]
    """The names of the flows of an entry, and of all flows."""

    @cached_property
    def keys(self) -> Mapping[tuple[str, str], Key]:
        """By kind and label."""
        return {(key[0], label): key for key, label in self.labels.items()}

    @cached_property
    def connected(self) -> frozenset[str]:
        """The names of the flows that are connections."""
        return frozenset(connections(self.runs[0].flows)["flow"])


@dataclass(frozen=True)
class Pairs:
    """What is compared of several sides."""

    sides: Mapping[str, Side]
    """The reference comes first."""
    remarks: tuple[str, ...]
    """What differs between the sides and does not keep them from being compared."""

    def labels(self, key: Key) -> dict[str, str]:
        """What the sides that have it call it."""
        return {name: side.labels[key] for name, side in self.sides.items() if key in side.labels}


def joint(labels: Mapping[str, str]) -> str:
    """One label for what sides call by several.

    >>> joint({"baseline": "cubic-1", "variant": "vegas-1"})
    'cubic-1 -> vegas-1'
    """
    return " -> ".join(dict.fromkeys(labels.values()))


def paired(runs: Runs, reference: str) -> Pairs:
    """Set the entries of `flows` and the links of all sides beside those of the reference.

    Entries are matched by their names if all of them have one and both sides have the same, and else by their
    places. How many flows an entry stands for, its algorithm and all else may differ.

    Raises:
        ValueError: If the runs of a side are not of one scenario and engine with a seed each, or if sides
            differ in what is measured: in the number of entries, the duration or the warm-up.
    """
    names = [reference, *(name for name in runs if name != reference)]
    for name in names:
        _check(name, runs[name])
    scenarios = {name: runs[name][0].scenario for name in names}
    against = (reference, scenarios[reference])
    sides = {name: _side(runs[name], places(against, (name, scenarios[name]))) for name in names}
    remarks = [
        remark
        for name in names[1:]
        for remark in _remarks((reference, sides[reference]), (name, sides[name]))
    ]
    remarks += [f"{name}: {remark}" for name in names for remark in runs[name][0].meta.remarks]
    return Pairs(sides, tuple(remarks))


def _side(runs: Sequence[Run], places: Sequence[int]) -> Side:
    groups: dict[Key, tuple[str, frozenset[str]]] = {
        ("flows", places[n] if n < len(places) else name): (name, frozenset(flows))
        for n, (name, flows) in enumerate(flow_groups(runs[0]).items())
    }
    several = {ALL: runs[0].flows["flow"].to_list(), **flow_directions(runs[0])}
    groups |= {("flows", name): (name, frozenset(flows)) for name, flows in several.items()}
    links: dict[Key, str] = {("link", str(name)): str(name) for name in runs[0].links_summary["link"]}
    labels: dict[Key, str] = {key: label for key, (label, _) in groups.items()}
    return Side(runs, {**labels, **links}, {key: flows for key, (_, flows) in groups.items()})


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


def places(reference: tuple[str, Scenario], other: tuple[str, Scenario]) -> list[int]:
    """For every entry of the other's `flows` its place among those of the reference.

    Raises:
        ValueError: If sides differ in the number of entries, the duration or the warm-up, or if names are at
            other places.
    """
    (first, theirs), (side, ours) = reference, other
    for what, there, here in (
        ("duration", theirs.duration_s, ours.duration_s),
        ("warmup", theirs.warmup_s, ours.warmup_s),
    ):
        if here != there:
            raise ValueError(f'{what}: {here:g} s in "{side}" and {there:g} s in "{first}"; make them alike')
    if len(ours.flows) != len(theirs.flows):
        how_many = f'{len(ours.flows)} entries in "{side}" and {len(theirs.flows)} in "{first}"'
        raise ValueError(f"flows: {how_many}; give both as many, so that each has its counterpart")
    names, known = [flow.name for flow in ours.flows], [flow.name for flow in theirs.flows]
    there_at = {name: place for place, name in reversed(list(enumerate(known)))}
    if None not in names and len(set(names)) == len(names) and set(names) == there_at.keys():
        return [there_at[name] for name in names]
    for place, name in enumerate(names):
        if name is not None and name in there_at and known[place] != name:
            where = f'entry {place} in "{side}" and entry {there_at[name]} in "{first}"'
            raise ValueError(f'flows: "{name}" is {where}; name all entries, or put them into the same order')
    return list(range(len(names)))


def _remarks(reference: tuple[str, Side], other: tuple[str, Side]) -> Iterator[str]:
    """What is to be said of two sides that are not quite alike."""
    (first, theirs), (name, ours) = reference, other
    for has, lacks, lacking in ((theirs, name, ours), (ours, first, theirs)):
        if links := [
            has.labels[key] for key in has.labels.keys() - lacking.labels.keys() if key[0] == "link"
        ]:
            yield f"{', '.join(sorted(links))}: not compared, as {lacks} has no link of this name"
    for key in theirs.flows:
        there, here = len(theirs.flows[key]), len(ours.flows.get(key, ()))
        if there != here and not is_total(key):
            label = joint({first: theirs.labels[key], name: ours.labels.get(key, "")})
            yield f"{label}: {first} has {there} of these flows and {name} {here}; sums are of all of them"
