"""Files of findings, format 2: what `compare -o` and `check -o` write, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.margins import Margin
from fullpipe.analysis.metrics.measure import Better
from fullpipe.analysis.statistics import Interval
from fullpipe.analysis.unfinished import Counts
from fullpipe.validation.compare.comparison import Comparison, Ran
from fullpipe.validation.compare.finding import Finding, LeftOut, Rule, Subject, Verdict
from fullpipe.validation.compare.names import names_of
from fullpipe.validation.compare.side import check_value

FORMAT = 2
"""Version of the file. Files without one have `rows` only."""

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(check_value)]
_Probability = Annotated[float, Field(strict=True, ge=0, le=1)]
_Count = Annotated[int, Field(strict=True, ge=0)]
_OF_ROWS = (
    *("verdict", "case", "point", "kind", "of", "entry", "metric", "unit", "reference", "variant", "base"),
    *("change", "difference", "interval", "p", "cliffs_delta", "correlation", "margin", "seeds", "side"),
    *("seeds_that_would_decide", "unfinished", "reason", "against"),
)
"""Keys of rows of format 1; others are paths of their points."""
_OF_USERS = frozenset({"call_score", "page_p50", "fct_p50", "stall_ratio", "video_startup", "owd_mean"})
"""Metrics that bulk flows alone do not have."""
_OF_TESTS = ("test", "effect", "factor")
"""Keys of rows of `fullpipe test`, which are no findings."""


class _Part(BaseModel):
    """A part of the file. A later version may add keys."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredInterval(_Part):
    """Confidence interval of a difference, in the unit of the metric."""

    low: _Number
    high: _Number
    level: _Number = 0.95


class StoredMargin(_Part):
    """Difference that does not matter: a share of the reference, or an amount, whichever is larger."""

    relative: _Number = 0.0
    absolute: _Number = 0.0


class StoredCounts(_Part):
    """Transfers or pages of a side."""

    unfinished: _Count
    began: _Count


class StoredUnfinished(_Part):
    """Transfers or pages that either side left unfinished, over all seeds."""

    reference: StoredCounts
    variant: StoredCounts


class StoredFinding(_Part):
    """One metric of one group of flows or link on two sides. Numbers are in `unit`, which is a base unit."""

    kind: Literal["flows", "link"] = "flows"
    entry: _Count | None = Field(None, description="Place among the `flows` of the reference.")
    of: str = Field(description="Group of flows, or link.")
    metric: str
    unit: str
    point: dict[str, Any] = Field({}, description="Values of the swept paths.")
    case: str = Field("", description="Scenario of a suite.")
    rule: Rule = "paired"
    sides: tuple[str, str] = Field(("reference", "other"), description="Reference, and other side.")
    labels: tuple[str, str] = Field(("", ""), description="Names of the group or link on either side.")
    values: tuple[list[_Number], list[_Number]] | None = Field(
        None, description="One value per seed, of either side."
    )
    means: tuple[_Number, _Number | None]
    n: tuple[_Count, _Count] = Field((1, 1), description="Number of values of either side.")
    difference: _Number | None = Field(description="Mean of the other side minus that of the reference.")
    interval: StoredInterval | None = None
    p: _Probability | None = Field(None, description="P value of a difference of 0.")
    p_corrected: _Probability | None = Field(None, description="The same after Holm's correction.")
    margin: StoredMargin = StoredMargin()
    allowed: _Number | None = Field(None, description="The margin in the unit of the metric.")
    better: Better | None = Field(None, description="Direction that is better; empty if neither is.")
    verdict: Verdict
    decision: str = Field("", description="Word of the command's own scale, such as `regressed`.")
    reason: str = ""
    seeds_that_would_decide: _Count | None = None
    cliffs_delta: _Number | None = None
    correlation: _Number | None = None
    unfinished: StoredUnfinished | None = None

    @field_validator("metric")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in BY_NAME:
            raise ValueError("unknown metric")
        return name

    @field_validator("values")
    @classmethod
    def _has_a_reference(
        cls, values: tuple[list[float], list[float]] | None
    ) -> tuple[list[float], list[float]] | None:
        if values is not None and not values[0]:
            raise ValueError("the reference has no value")
        return values

    def fields(self) -> dict[str, Any]:
        """The fields of the `Finding`."""
        reference, other = self.means
        margin = Margin(self.margin.relative, self.margin.absolute)
        values = self.values or ([reference], [] if other is None else [other])
        return {
            "subject": Subject(self.kind, self.entry, self.of, self.metric, self.unit, self.point, self.case),
            "rule": self.rule,
            "sides": self.sides,
            "labels": self.labels,
            "values": values,
            "margin": margin,
            "allowed": margin.allowed(reference) if self.allowed is None else self.allowed,
            "better": BY_NAME[self.metric].better if self.better is None else self.better,
            "verdict": self.verdict,
            "decision": self.decision or self.verdict,
            "reason": self.reason,
            "difference": nan if self.difference is None else self.difference,
            "interval": self.interval
            and Interval(self.interval.low, self.interval.high, self.interval.level, "t"),
            "p_raw": self.p,
            "p_corrected": self.p_corrected,
            "delta": self.cliffs_delta,
            "correlation": self.correlation,
            "seeds": self.seeds_that_would_decide,
            "left_out": self.unfinished
            and LeftOut(
                Counts(self.unfinished.reference.unfinished, self.unfinished.reference.began),
                Counts(self.unfinished.variant.unfinished, self.unfinished.variant.began),
                0.0,
            ),
        }


class StoredScenario(_Part):
    """A scenario as one side ran it, without its sweep."""

    side: str
    case: str = ""
    point: dict[str, Any] = {}
    scenario: dict[str, Any]


class StoredBasis(_Part):
    """Runs that the findings rest on."""

    store: str = Field(description="Last name of the folder of the runs.")
    runs: list[tuple[str, str]] = Field(description="Place of each run below it, and when it was made.")


class FindingsFile(_Part):
    """File of `fullpipe compare -o` and `fullpipe check -o`, and input of `fullpipe report`."""

    format: Literal[2]
    kind: Literal["compare", "check"]
    title: str
    question: str
    conclusion: list[str] = Field(description="One to five sentences.")
    sides: dict[str, list[int]] = Field(description="Seeds of every side; the reference comes first.")
    changed: list[_Count] = Field([], description="Places of the `flows` that the sides set differently.")
    bulk: list[_Count] | None = Field(None, description="Places of the `flows` that are bulk flows.")
    findings: list[StoredFinding]
    scenarios: list[StoredScenario] = []
    settings: dict[str, dict[str, Any]] = Field({}, description="Values that each side sets, by path.")
    notes: list[str] = []
    warnings: list[str] = Field([], description="Reasons to doubt the conclusion, such as short runs.")
    command: str = ""
    versions: dict[str, str] = {}
    basis: StoredBasis | None = None
    rows: list[dict[str, Any]] = Field([], description="The findings as format 1 had them.")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the file."""
    found = FindingsFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def told(made: Sequence[Comparison], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The part of the file that comparisons with one reference give: see `FindingsFile`.

    Args:
        made: The comparisons.
        labels: Words for paths and values besides those of the scenarios, which become labels of these.
    """
    ran = {repr((one.side, one.case, dict(one.point))): one for each in made for one in each.ran}
    return {
        "format": FORMAT,
        "sides": {name: list(seeds) for each in made for name, seeds in each.sides.items()},
        "changed": sorted(frozenset[int]().union(*(each.changed for each in made))),
        "bulk": sorted(frozenset[int]().union(*(each.bulk for each in made))),
        "findings": [finding.to_dict() for each in made for finding in each.findings],
        "scenarios": [_labelled(one.to_dict(), labels or {}) for one in ran.values()],
        "settings": {side: dict(values) for each in made for side, values in each.settings.items() if values},
    }


def _labelled(ran: dict[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """A side with more labels in its scenario."""
    if labels:
        ran["scenario"]["labels"] = {**ran["scenario"].get("labels", {}), **labels}
    return ran


def comparisons_in(found: Mapping[str, Any], findings: Sequence[Finding]) -> list[Comparison]:
    """The comparisons of findings that were read from a file: one per pair of sides, case and point.

    Flows are bulk flows of a case if the file calls entries of their place so, and their metrics agree.
    """
    sides, bulk = found.get("sides"), _places(found.get("bulk"))
    seeds = sides if isinstance(sides, Mapping) else {}
    ran = list(_ran(found.get("scenarios")))
    parts: dict[str, list[Finding]] = {}
    cases: dict[str, list[Finding]] = {}
    for each in findings:
        cases.setdefault(each.case, []).append(each)
    likely = {case: _likely_bulk(of) for case, of in cases.items()}
    is_suite = len(cases) > 1
    for each in findings:
        parts.setdefault(repr((each.sides, each.case, dict(each.point))), []).append(each)
    return [
        Comparison(
            scenario=str(found.get("scenario") or found.get("title") or ""),
            sides={name: _seeds(seeds.get(name), of[0].runs) for name in of[0].sides},
            findings=of,
            point=of[0].point,
            changed=_places(found.get("changed")) or frozenset(),
            bulk=likely[of[0].case] if bulk is None else bulk & likely[of[0].case] if is_suite else bulk,
            ran=ran,
            settings=_tables(found.get("settings")),
        )
        for of in parts.values()
    ]


def _ran(found: Any) -> Iterator[Ran]:
    """The sides with what names them in their scenarios, as far as it is readable."""
    for each in found if isinstance(found, list) else ():
        if isinstance(each, Mapping) and isinstance(each.get("scenario"), Mapping):
            tree = each["scenario"]
            topology = tree.get("topology")
            links = topology.get("links") if isinstance(topology, Mapping) else None
            given = tree.get("labels")
            words = given.items() if isinstance(given, Mapping) else ()
            naming = {
                "labels": {key: text for key, text in words if isinstance(text, str)},
                "flows": _mappings(tree.get("flows")),
                "topology": {"links": _mappings(links)},
            }
            yield Ran(str(each.get("side", "")), naming)


def _mappings(found: Any) -> list[Mapping[str, Any]]:
    """A list whose entries are tables; nothing if one is not, since places count."""
    is_whole = isinstance(found, list) and all(isinstance(each, Mapping) for each in found)
    return found if is_whole else []


def _tables(found: Any) -> dict[str, Mapping[str, Any]]:
    """The tables among the values of a table."""
    tables = found if isinstance(found, Mapping) else {}
    return {str(key): value for key, value in tables.items() if isinstance(value, Mapping)}


def with_names(found: Mapping[str, Any], findings: Sequence[Finding]) -> tuple[dict[str, Any], list[Finding]]:
    """The file and its findings with the names of sides that are shown: see `Names.side`."""
    names, sides = names_of(comparisons_in(found, findings)), found.get("sides")
    seeds = {names.side(str(side)): of for side, of in sides.items()} if isinstance(sides, Mapping) else {}
    named = [replace(each, sides=(names.side(each.sides[0]), names.side(each.sides[1]))) for each in findings]
    return {**found, "sides": seeds}, named


def _places(found: Any) -> frozenset[int] | None:
    return frozenset(n for n in found if isinstance(n, int)) if isinstance(found, list) else None


def _likely_bulk(findings: Sequence[Finding]) -> frozenset[int]:
    """Entries of which goodput is known and nothing of calls, pages, transfers, videos or pings."""
    of_entry: dict[int, set[str]] = {}
    for each in findings:
        if each.entry is not None:
            of_entry.setdefault(each.entry, set()).add(each.metric)
    return frozenset(entry for entry, of in of_entry.items() if "goodput" in of and _OF_USERS.isdisjoint(of))


def _seeds(told: Any, count: int) -> Sequence[int]:
    """The seeds of a side; of one that is not named, as many as it has values."""
    is_list = isinstance(told, list) and all(isinstance(seed, int) for seed in told)
    return told if is_list else range(1, count + 1)


def findings_in(found: Mapping[str, Any]) -> tuple[list[Finding], list[Mapping[str, Any]]]:
    """The findings of a file, and the rows that are none, such as those of `fullpipe test`.

    Rows of format 1 become findings as far as they have what a finding needs.
    """
    stored = found.get("findings")
    is_stored = isinstance(stored, list) and all(isinstance(each, Mapping) for each in stored)
    rows: list[Mapping[str, Any]] = stored if is_stored and stored else found.get("rows") or []
    findings, others = list[Finding](), list[Mapping[str, Any]]()
    for row in rows:
        try:
            findings.append(Finding.from_dict(row if is_stored and stored else _of_format_1(row)))
        except (ArithmeticError, LookupError, TypeError, ValueError):
            others.append(row)
    return findings, others


def _of_format_1(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of format 1 with the keys of a finding."""
    if any(key in row for key in _OF_TESTS):
        raise ValueError("no finding")
    is_check = "base" in row
    reference, other = (row["base"], row["change"]) if is_check else (row["reference"], row.get("variant"))
    margin = row.get("margin")
    told = {
        **{key: row[key] for key in ("unfinished", "cliffs_delta", "correlation") if key in row},
        **{key: row[key] for key in ("kind", "of", "entry", "metric", "unit", "interval") if key in row},
        "case": row.get("case") or "",
        "point": {**(row.get("point") or {}), **{k: v for k, v in row.items() if k not in _OF_ROWS}},
        "rule": "one-sided" if is_check else "paired",
        "sides": ["base", "change"]
        if is_check
        else [row.get("against", "reference"), row.get("side", "other")],
        "means": [reference, other],
        "difference": row["difference"],
        "p_corrected": row.get("p"),
        "margin": margin if isinstance(margin, Mapping) else {},
        "allowed": None if isinstance(margin, Mapping) else margin,
        "verdict": row["verdict"],
        "decision": row["verdict"],
        "reason": row.get("reason") or "",
        "seeds_that_would_decide": row.get("seeds_that_would_decide"),
    }
    if is_check:
        told |= {"verdict": _verdict(row), "n": [row.get("seeds", 1)] * 2}
    return told


def _verdict(row: Mapping[str, Any]) -> Verdict:
    """The verdict of a row of a check, which had its decision only."""
    match row["verdict"]:
        case "regressed":
            return "worse"
        case "not worse":
            return "equivalent"
        case _:
            return "undecided"
