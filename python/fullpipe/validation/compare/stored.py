"""Files of findings, format 2: what `compare -o` and `check -o` write, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from fullpipe.analysis.limits import Counts
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.measure import Better, Combined, Margin
from fullpipe.analysis.statistics import Interval
from fullpipe.validation.compare.comparison import Comparison, Entries
from fullpipe.validation.compare.finding import LeftOut, Rule, Subject, Verdict
from fullpipe.validation.compare.side import check_value

# Parts that files of findings and of tests share.


def _known(name: str) -> str:
    if name not in BY_NAME:
        raise ValueError("unknown metric")
    return name


Probability = Annotated[float, Field(strict=True, ge=0, le=1)]
Count = Annotated[int, Field(strict=True, ge=0)]
Metric = Annotated[str, AfterValidator(_known)]
"""Name of a metric."""


class Part(BaseModel):
    """A part of a file. A later version may add keys."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredScenario(Part):
    """A scenario as one side ran it, without its sweep."""

    side: str
    case: str = ""
    point: dict[str, Any] = {}
    scenario: dict[str, Any]


class StoredBasis(Part):
    """Runs that the results are computed from."""

    store: str = Field(description="Name of the folder of the runs, without its parents.")
    runs: list[tuple[str, str]] = Field(description="Path of each run in this folder, and its time.")


class ResultFile(Part):
    """A file with a conclusion, which `fullpipe report` reads."""

    title: str
    question: str
    conclusion: list[str] = Field(description="One to five sentences.")
    scenarios: list[StoredScenario] = []
    notes: list[str] = []
    warnings: list[str] = Field([], description="Reasons to doubt the conclusion, such as short runs.")
    command: str = ""
    versions: dict[str, str] = {}
    basis: StoredBasis | None = None


def schema_of(file: type[ResultFile]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **file.model_json_schema()}


FORMAT = 2
"""Version of the format of files. Files without a version have only `rows`."""

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(check_value)]


class StoredInterval(Part):
    """Confidence interval of a difference, in the unit of the metric."""

    low: _Number
    high: _Number
    level: _Number = 0.95


class StoredMargin(Part):
    """Largest difference that does not matter: a share of the reference or an amount, whichever is larger."""

    relative: _Number = 0.0
    absolute: _Number = 0.0

    @property
    def stated(self) -> Margin:
        """The margin as it was stated."""
        return Margin(self.relative, self.absolute)


class StoredCounts(Part):
    """Transfers or pages of a side."""

    unfinished: Count
    began: Count


class StoredUnfinished(Part):
    """Transfers or pages that each side left unfinished, over all seeds."""

    reference: StoredCounts
    variant: StoredCounts


class StoredFinding(Part):
    """One metric of one group of flows or link on two sides. Numbers are in `unit`, which is a base unit."""

    kind: Literal["flows", "link"] = "flows"
    entry: Count | None = Field(None, description="Index in the `flows` of the reference.")
    of: str = Field(description="Group of flows, or link.")
    metric: Metric
    unit: str
    point: dict[str, Any] = Field({}, description="Values of the swept paths.")
    case: str = Field("", description="Scenario of a suite.")
    rule: Rule = "paired"
    sides: tuple[str, str] = Field(("reference", "other"), description="Reference, and other side.")
    labels: tuple[str, str] = Field(("", ""), description="Names of the group or link on either side.")
    flows: tuple[Count, Count] | None = Field(None, description="Number of flows of the group, by side.")
    doubts: list[str] = Field([], description="Reasons to doubt the means, such as runs that are too short.")
    combined: Combined = Field(
        "", description="Value of several flows: their sum or mean; empty if it is neither."
    )
    values: tuple[list[_Number], list[_Number]] | None = Field(
        None, description="Values of each side, one per seed."
    )
    means: tuple[_Number, _Number | None]
    n: tuple[Count, Count] = Field((1, 1), description="Number of values of each side.")
    difference: _Number | None = Field(description="Mean of the other side minus that of the reference.")
    interval: StoredInterval | None = None
    relative_interval: StoredInterval | None = Field(
        None, description="Fieller's interval of the difference as a share of the reference."
    )
    p: Probability | None = Field(None, description="P value of the hypothesis that the difference is 0.")
    p_corrected: Probability | None = Field(None, description="`p` after Holm's correction.")
    margin: StoredMargin = StoredMargin()
    allowed: _Number | None = Field(None, description="The margin in the unit of the metric.")
    better: Better | None = Field(None, description="Direction that is better; empty if neither is.")
    verdict: Verdict
    decision: str = Field("", description="Word of the command's own scale, such as `regressed`.")
    reason: str = ""
    seeds_that_would_decide: Count | None = None
    cliffs_delta: _Number | None = None
    correlation: _Number | None = None
    unfinished: StoredUnfinished | None = None

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
        margin = self.margin.stated
        values = self.values or ([reference], [] if other is None else [other])
        return {
            "subject": Subject(self.kind, self.entry, self.of, self.metric, self.unit, self.point, self.case),
            "rule": self.rule,
            "sides": self.sides,
            "labels": self.labels,
            "flows": self.flows,
            "doubts": tuple(self.doubts),
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


class StoredEntries(Part):
    """Indices of `flows` of one side in one case."""

    side: str = Field(description="The side that is compared with the reference.")
    case: str = ""
    changed: list[Count] = Field(description="Entries that the side sets differently than the reference.")
    bulk: list[Count] = Field(description="Entries that are bulk flows.")


class FindingsFile(ResultFile):
    """File of `fullpipe compare -o` and `fullpipe check -o`, and input of `fullpipe report`."""

    format: Literal[2]
    kind: Literal["compare", "check"]
    sides: dict[str, list[int]] = Field(description="Seeds of every side; the reference comes first.")
    changed: list[Count] = Field([], description="Indices of the `flows` that the sides set differently.")
    bulk: list[Count] | None = Field(None, description="Indices of the `flows` that are bulk flows.")
    entries: list[StoredEntries] = Field([], description="`changed` and `bulk` for every side and case.")
    findings: list[StoredFinding]
    settings: dict[str, dict[str, Any]] = Field({}, description="Values that each side sets, by path.")
    rows: list[dict[str, Any]] = Field([], description="The findings as format 1 had them.")


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the file."""
    return schema_of(FindingsFile)


def told(made: Sequence[Comparison], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The part of a `FindingsFile` that describes comparisons with one reference.

    Args:
        made: The comparisons.
        labels: Further words for paths and values, which are added to the labels of the scenarios.
    """
    ran = {one.key: one for each in made for one in each.ran}
    return {
        "format": FORMAT,
        "sides": {name: list(seeds) for each in made for name, seeds in each.sides.items()},
        "changed": sorted(frozenset[int]().union(*(each.changed for each in made))),
        "bulk": sorted(frozenset[int]().union(*(each.bulk for each in made))),
        "entries": _entries(made),
        "findings": [finding.to_dict() for each in made for finding in each.findings],
        "scenarios": [_labelled(one.to_dict(), labels or {}) for one in ran.values()],
        "settings": {side: dict(values) for each in made for side, values in each.settings.items() if values},
    }


def _entries(made: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Changed entries and bulk flows of every side and case, over all points of the case."""
    found: dict[tuple[str, str], Entries] = {}
    for each in made:
        for key in dict.fromkeys((of.sides[1], of.case) for of in each.findings):
            found[key] = found.get(key, Entries()) | each.entries(key[1])
    return [
        {"side": side, "case": case, "changed": sorted(of.changed), "bulk": sorted(of.bulk)}
        for (side, case), of in found.items()
    ]


def _labelled(ran: dict[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """The side, with further labels added to its scenario."""
    if labels:
        ran["scenario"]["labels"] = {**ran["scenario"].get("labels", {}), **labels}
    return ran
