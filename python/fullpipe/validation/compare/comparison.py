"""Comparisons: findings of one or more sides against a reference, of two variants, and of engines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.groups import TOTALS
from fullpipe.analysis.metrics.measure import Margin
from fullpipe.analysis.points import of_parts
from fullpipe.analysis.statistics.stationarity import EVERY_MEAN, Mean
from fullpipe.validation.compare.contrast import Contrast, distinct, matched
from fullpipe.validation.compare.finding import (
    NOT_SETTLED,
    TOO_SHORT,
    Finding,
    Note,
    interval_dict,
)
from fullpipe.validation.compare.rules import EQUIVALENCE_LEVEL, Equivalence, Judgement, paired
from fullpipe.validation.compare.side import (
    Groups,
    Side,
    bulk_entries,
    changed_entries,
    check_groups,
    is_asked,
    joint,
    places,
)

if TYPE_CHECKING:
    from fullpipe.analysis.length import Doubts
    from fullpipe.scenario import Scenario


_OF_VARIANTS = (
    *("verdict", "kind", "of", "entry", "metric", "unit", "reference", "variant", "difference"),
    *("interval", "p", "cliffs_delta", "correlation", "margin", "seeds_that_would_decide"),
    *("unfinished", "reason"),
)
"""JSON keys of a row that compares two variants."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A scenario as one side ran it at one point."""

    side: str
    scenario: Scenario | Mapping[str, Any]
    """The scenario, or its content as a table of TOML."""
    point: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    """Name of the scenario in a suite."""
    engine: str = ""
    """Name of the engine, if it is known."""
    doubts: Collection[Mean] = ()
    """Doubtful means that the source of the values names: see `analysis.length`."""

    def to_dict(self) -> dict[str, Any]:
        """The scenario with its side, case and point, as JSON."""
        of = self.scenario
        tree = dict(of if isinstance(of, Mapping) else of.to_dict())
        return {"side": self.side, "case": self.case, "point": dict(self.point), "scenario": tree}

    @property
    def key(self) -> str:
        """Key that is distinct for every side, case and point."""
        return key_of(self.side, self.case, self.point)

    @property
    def name(self) -> str:
        """Name of the scenario."""
        of = self.scenario
        return str(of.get("name", "")) if isinstance(of, Mapping) else of.name

    @property
    def digest(self) -> str:
        """Digest of the scenario."""
        from fullpipe.scenario import Scenario  # imported here, as comparisons in files need no model
        from fullpipe.scenario.model.base import stored

        with stored():
            tree = self.scenario
            return (tree if isinstance(tree, Scenario) else Scenario(**tree)).digest


def key_of(side: str, case: str, point: Mapping[str, Any]) -> str:
    """Key of a side at a point of a case."""
    return repr((side, case, dict(point)))


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of `flows`, by their index in the reference."""

    changed: frozenset[int] = frozenset()
    """Entries that the other side sets differently."""
    bulk: frozenset[int] = frozenset()
    """Entries that are bulk flows on the reference: see `metrics.bulk_flows`."""

    def __or__(self, other: Entries) -> Entries:
        """The union of both sets of entries."""
        return Entries(self.changed | other.changed, self.bulk | other.bulk)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Findings on every other side against the reference, which is the first side."""

    scenario: str
    """Name of the scenario or suite."""
    sides: Mapping[str, Sequence[int]]
    """Seeds of every side by its name; the reference comes first."""
    findings: Sequence[Finding]
    notes: Sequence[Note] = ()
    """Metrics that are not compared, and why."""
    remarks: tuple[str, ...] = ()
    """Sentences on further differences between the sides."""
    point: Mapping[str, Any] = field(default_factory=dict)
    """The point of the scenario's own sweep; empty without a sweep."""
    measured: frozenset[str] = frozenset()
    """Metrics with a value on at least one side."""
    by_case: Mapping[str, Entries] = field(default_factory=dict)
    """Changed and bulk entries of each case of a suite; without a suite, the only key is ""."""
    ran: Sequence[Ran] = ()
    """Scenarios of all sides, if they are known."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Values that each side sets, by path, if the sides are variants of a scenario."""
    is_of_versions: bool = False
    """Whether the sides are two versions of one scenario, or one scenario at two times."""

    @property
    def reference(self) -> str:
        """Name of the reference."""
        return next(iter(self.sides))

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the sides compared with the reference."""
        return tuple(self.sides)[1:]

    @property
    def other(self) -> str:
        """Name of the variant or change: the first of `others`."""
        return self.others[0]

    @property
    def changed(self) -> frozenset[int]:
        """Entries of `flows`, by their index in the reference, that sides set differently in at least one
        case."""
        return self._entries.changed

    @property
    def bulk(self) -> frozenset[int]:
        """Entries of `flows` that are bulk flows on the reference in any case: see `metrics.bulk_flows`."""
        return self._entries.bulk

    @property
    def _entries(self) -> Entries:
        return reduce(or_, self.by_case.values(), Entries())

    def entries(self, case: str) -> Entries:
        """Changed entries and bulk flows in a case; the case is "" if the comparison is not of a suite."""
        return self.by_case.get(case) or self._entries

    def only(self, findings: Sequence[Finding]) -> Self:
        """Return the comparison with only these findings."""
        return replace(self, findings=findings)

    def noted(self, notes: Sequence[Note]) -> Self:
        """Return the comparison with other notes."""
        return replace(self, notes=notes)

    @property
    def is_worse(self) -> bool:
        """Whether any finding is worse."""
        return any(finding.verdict == "worse" for finding in self.findings)


@dataclass(frozen=True, kw_only=True)
class VariantComparison(Comparison):
    """Two variants with the same seeds."""

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds of either side."""
        return self.sides[self.reference]

    @property
    def rows(self) -> Sequence[Finding]:
        """The findings."""
        return self.findings

    def to_dict(self) -> dict[str, Any]:
        """The comparison as one JSON object, in base units."""
        return {
            "scenario": self.scenario,
            "point": dict(self.point),
            "reference": self.reference,
            "variant": self.other,
            "seeds": list(self.seeds),
            "intervals": {"method": "Student, paired by seed", "level": 0.95},
            "rows": [_variant_row(finding) for finding in self.findings],
            "notes": list(self.notes),
        }


def _variant_row(row: Finding) -> dict[str, Any]:
    told = row.to_dict() | {"reference": row.reference, "variant": row.other, "p": row.p_corrected}
    return {key: told[key] for key in _OF_VARIANTS}


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
        """Index of the entry in the reference's `flows`; None for all flows together and for links."""
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
        """Largest difference that does not matter."""
        return self._first.margin

    @property
    def values(self) -> dict[str, Sequence[float]]:
        """Values by side, one per seed, in the unit of the metric; sides without the metric are left out."""
        first = self._first
        return {first.sides[0]: first.values[0]} | {
            name: each.values[1] for name, each in self.findings.items()
        }

    @property
    def judgements(self) -> dict[str, Judgement]:
        """Judgement of the difference of each side from the reference, by side."""
        return {
            name: Judgement(cast("Equivalence", each.decision), each.difference, each.interval, each.reason)
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
        """The name of the group; both names if the side and the reference name the group differently."""
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
            "margin": asdict(self.margin),
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
    """Comparison of engines, or of settings of one engine; seeds are not paired."""

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of all sides in the order given."""
        return tuple(self.given)

    given: tuple[str, ...] = ()
    """Names of all sides in the order given."""

    @property
    def seeds(self) -> Mapping[str, Sequence[int]]:
        """The seeds by side."""
        return {name: self.sides[name] for name in self.given}

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row per metric and group, with the findings on all sides."""
        found: dict[tuple[str, object, str], dict[str, Finding]] = {}
        for each in self.findings:
            place = each.labels[0] if each.entry is None else each.entry
            found.setdefault((each.kind, place, each.metric), {})[each.sides[1]] = each
        return tuple(Row(of_sides) for of_sides in found.values())

    @property
    def undecided(self) -> list[str]:
        """Sentence on sides with a single run, which have no verdict; empty if all sides have several
        runs."""
        single = [side for side, seeds in self.seeds.items() if len(seeds) == 1]
        if not single:
            return []
        return [f"one run of {' and of '.join(single)}: no interval, so no verdict; run more seeds"]

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


def compare_variants(
    reference: Side,
    other: Side,
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    point: Mapping[str, Any] | None = None,
) -> VariantComparison:
    """Compare two variants by pairs of runs with the same seed.

    Groups of flows are matched as in `matched`. All findings are one family of tests: see `rules.paired`.

    Raises:
        ValueError: In the same cases as `compare_all`.
    """
    return compare_all([(point or {}, reference, other)], metrics, margins)[0]


def compare_all(
    sides: Iterable[tuple[Mapping[str, Any], Side, Side]],
    metrics: Sequence[str],
    margins: Mapping[str, Margin] | None = None,
    of: Groups = (),
) -> list[VariantComparison]:
    """Compare many pairs of variants, whose tests form one family.

    The family-wise error rate is 5 % at most: see `rules.paired`. Subjects that repeat others are left out:
    see `contrast.distinct`.

    Args:
        sides: Point, reference and other side of every pair.
        metrics: Names of metrics.
        margins: Margins by metric that replace the default margins.
        of: Groups of flows and links to compare: one list for all metrics, or a list by metric; default: all.

    Raises:
        ValueError: In the same cases as `matched`, or if no metric is measured on both sides of any pair.
        UnknownNameError: If a group in `of` has no contrast.
    """
    found = [(*each, *matched(*each[1:], metrics, margins, each[0])) for each in sides]
    if of:
        check_groups(of, ((each.subject, each.labels) for *_, contrasts, _ in found for each in contrasts))
        found = [
            (point, reference, other, [c for c in contrasts if is_asked(of, c.subject, c.labels)], notes)
            for point, reference, other, contrasts, notes in found
        ]
    kept = distinct([contrasts for *_, contrasts, _ in found])
    found = [(*each[:3], contrasts, each[4]) for each, contrasts in zip(found, kept, strict=True)]
    if not any(kept):
        notes = [note for *_, of_pair in found for note in of_pair]
        raise ValueError(notes[0] if notes else f"no run has {' or '.join(metrics)}; choose other metrics")
    findings = iter(paired([contrast for *_, contrasts, _ in found for contrast in contrasts]))
    return [
        VariantComparison(
            scenario=reference.scenario.name,
            point=point,
            sides={reference.name: reference.seeds, other.name: other.seeds},
            findings=[next(findings) for _ in contrasts],
            notes=[
                *notes,
                *map(Note, _leaves_out(reference, other, contrasts)),
                *unequal_flows(reference, other, contrasts),
            ],
            measured=_measured(reference) | _measured(other),
            by_case={"": Entries(changed_entries(reference, other), bulk_entries(reference.scenario))},
            ran=[Ran(side.name, side.scenario, point, engine=side.engine) for side in (reference, other)],
        )
        for point, reference, other, contrasts, notes in found
    ]


C = TypeVar("C", bound=Comparison)


def doubted(made: Sequence[C], doubts: Doubts | None = None) -> list[C]:
    """Return the comparisons with the reasons to doubt their findings: those of `doubts`, and those that
    `Ran.doubts` has."""
    return [_doubted(one, doubts.means if doubts else {}) for one in made]


def _doubted(one: C, means: Mapping[tuple[str, str], Collection[Mean]]) -> C:
    found = {ran.key: (*ran.doubts, *_means_of(ran, means)) for ran in one.ran}
    if not any(found.values()):
        return one
    findings = []
    for each in one.findings:
        doubts = dict[str, None]()
        for side, group in zip(each.sides, each.labels, strict=True):
            of_side = found.get(key_of(side, each.case, each.point), ())
            of_flows = [mean for mean in of_side if mean != EVERY_MEAN and each.kind == "flows"]
            is_open = any(rests_on(each.metric, group or each.of, mean) for mean in of_flows)
            doubts |= dict.fromkeys([TOO_SHORT] if EVERY_MEAN in of_side else [])
            doubts |= dict.fromkeys([NOT_SETTLED] if is_open else [])
        findings.append(replace(each, doubts=tuple(doubts)))
    return one.only(findings)


def _means_of(ran: Ran, means: Mapping[tuple[str, str], Collection[Mean]]) -> Collection[Mean]:
    return means.get((ran.digest, ran.engine), ()) if means else ()


def rests_on(metric: str, group: str, mean: Mean) -> bool:
    """Whether a metric of a group of flows depends on a mean that has not settled. A total other than the sum
    of all groups depends on the means of all groups."""
    measure = BY_NAME[metric]
    quantity = "RTT" if "rtt" in measure.column else "goodput"
    has_quantity = quantity == "RTT" or measure.column.endswith("goodput_bps")
    is_of_all = group in TOTALS and measure.combined != "sum"
    is_it = has_quantity and mean.quantity == quantity and (is_of_all or mean.group == group)
    return is_it or mean == EVERY_MEAN


def unequal_flows(reference: Side, other: Side, contrasts: Sequence[Contrast]) -> Iterator[Note]:
    """Yield notes on entries of `flows` whose number of flows differs from that of the reference."""
    named = {each.subject.entry: each.subject.of for each in contrasts}
    for flow, place in zip(other.scenario.flows, places(reference, other), strict=True):
        before = reference.scenario.flows[place].count
        if flow.count != before and place in named:
            counts = f"{flow.count:,} flow{'s' if flow.count > 1 else ''} against {before:,} of the reference"
            told = f": {counts}; sums such as goodput are of all of them"
            yield Note("", groups=[named[place]], end=told)


def _measured(side: Side) -> frozenset[str]:
    return frozenset(side.values.drop_nulls("value")["metric"].to_list())


def _leaves_out(reference: Side, other: Side, contrasts: Sequence[Contrast]) -> list[str]:
    """The note that rows of connections leave out other flows, if there are such rows."""
    return of_parts(
        (reference.scenario, other.scenario), ((each.subject.metric, each.subject.of) for each in contrasts)
    )
