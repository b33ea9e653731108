"""Files of tests, format 2: what `test -o` writes, and its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fullpipe.validation.compare.stored import (
    Count,
    Metric,
    Part,
    Probability,
    ResultFile,
    StoredMargin,
    schema_of,
)
from fullpipe.validation.test.factor import Status

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e30, le=1e30)]


class Ends(Part):
    """The ends of an interval, in the unit of the metric or without a unit."""

    low: _Number
    high: _Number


class Effect(Part):
    """An effect size by its name."""

    name: str
    value: _Number
    interval: Ends | None = None


class Pair(Part):
    """The difference of two levels, in the unit of the metric."""

    levels: tuple[str, str] = Field(description="The reference, and the level compared with it.")
    difference: _Number
    interval: Ends | None = Field(
        None, description="95 % interval of the difference; paired by seed if the runs are."
    )
    relative_interval: Ends | None = Field(
        None, description="95 % interval of the difference as a share of the reference."
    )
    margin: _Number = 0.0


class _Subject(Part):
    """A metric of a group of flows or of a link at a point."""

    kind: Literal["flows", "link"] = "flows"
    entry: int | None = Field(None, description="Index in the `flows` of the scenario.")
    of: str = Field(description="Group of flows, or link.")
    metric: str
    unit: str
    point: dict[str, Any] = Field({}, description="Values of swept paths that are not factors.")


class Factor(_Subject):
    """A factor, and whether it matters for one metric of one group of flows or link at one point."""

    metric: Metric
    factor: str = Field(description="Path of the factor.")
    status: Status
    levels: list[str] = Field(min_length=2)
    means: list[_Number] = Field(description="Mean of every level, in `unit`.")
    effect: Effect | None = None
    p_corrected: _Number | None = Field(None, description="P value of the factor within its family.")
    margin: StoredMargin | None = Field(None, description="The margin as stated.")
    widest: Pair = Field(description="The pair of levels with the weakest evidence of equivalence.")
    largest: Pair | None = Field(None, description="The pair with the largest difference of means.")
    seeds_that_would_decide: int | None = None

    @model_validator(mode="after")
    def _has_a_mean_per_level(self) -> Self:
        if len(self.levels) != len(self.means):
            raise ValueError("a level has no mean")
        return self


class _OpenEnds(Part):
    """The ends of an interval; null if one is infinite."""

    low: _Number | None
    high: _Number | None


class _EffectOfRow(Part):
    """An effect size of a test; null if it is infinite."""

    name: str
    value: _Number | None
    interval: _OpenEnds | None = None


class Row(_Subject):
    """A test. Numbers are in `unit`, which is a base unit."""

    test: str = Field(description="Name of the test, such as `Welch ANOVA`.")
    verdict: str = Field(description="Empty for a check, which has no verdict.")
    effect: str = Field(description="Factor, factors of an interaction, or two levels.")
    levels: list[str] = Field([], description="The two compared levels, the reference first.")
    means: list[_Number] = Field([])
    n: Count = Field(description="Number of runs.")
    difference: _Number | None = Field(None, description="Difference of the means of both levels.")
    interval: _OpenEnds | None = Field(None, description="95 % interval of the difference.")
    relative_interval: _OpenEnds | None = Field(
        None, description="95 % interval of the difference as a share of the reference."
    )
    effects: list[_EffectOfRow] = Field([])
    statistic: str = ""
    p: Probability | None = None
    p_raw: Probability | None = Field(None, description="P value without any correction.")
    primary: bool = Field(description="Whether the answer is based on this test.")
    corrected: bool = Field(description="Whether the test itself corrects p for all pairs of levels.")
    p_corrected: Probability | None = Field(None, description="P value within the family.")
    q: Probability | None = Field(None, description="P value after Benjamini's and Hochberg's procedure.")
    margin: _Number | None = None
    p_equivalent: Probability | None = Field(None, description="P value of the test of equivalence.")
    seeds_that_would_decide: Count | None = None
    family: str = ""
    planned: bool = Field(False, description="Whether the family was declared beforehand.")
    assumptions: list[str] = Field([])


class FileOfTests(ResultFile):
    """File of `fullpipe test -o`, and input of `fullpipe report`."""

    format: Literal[2]
    kind: Literal["test"]
    rows: list[Row]
    factors: list[Factor]
    seeds: list[Count] = Field([])


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of the file."""
    return schema_of(FileOfTests)
