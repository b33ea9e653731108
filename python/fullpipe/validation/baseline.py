"""Baselines: measured values of a scenario, stored in a file for comparison with later runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import polars as pl
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, ValidationError

from fullpipe import files
from fullpipe.analysis.values import values_of
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.base import stored
from fullpipe.scenario.model.flows import MAX_GROUPS
from fullpipe.scenario.quantities import MAX_SEED
from fullpipe.validation.compare.side import Side, check_value

MAX_FILE_BYTES = 200_000_000
COLUMNS = {
    "seed": pl.Int64,
    "engine": pl.String,
    "kind": pl.String,
    "entry": pl.Int64,
    "of": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
}

_Value = Annotated[float, Field(strict=True), AfterValidator(check_value)]
"""A measured value in base units."""
_Seed = Annotated[int, Field(strict=True, ge=0, le=MAX_SEED)]
_Entry = Annotated[int, Field(strict=True, ge=0, lt=MAX_GROUPS)]
Text = Annotated[str, Field(max_length=1_000)]
_Kind = Literal["flows", "link"]
_Row = tuple[_Seed, Text, _Kind, _Entry | None, Text, Text, _Value | None, Text]


class Strict(BaseModel):
    """Base class of the parts of a file; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Kept(Strict):
    """A point of the scenario's sweep, and the values measured there."""

    point: dict[str, Any]
    scenario: dict[str, Any]
    """The scenario without its sweep, as a table of TOML."""
    rows: Annotated[list[_Row], FailFast(), Field(min_length=1)]
    """Seed, engine, kind, entry, of, metric, value and unit of every value."""

    def side(self, name: str) -> Side:
        """The point as a side of a comparison.

        Raises:
            ScenarioError: If the stored scenario is not valid in this version.
        """
        try:
            with stored():
                scenario = Scenario(**self.scenario)
        except ScenarioError as error:
            why = f"{name}: the scenario is not valid: {error.problems[0]}"
            raise ScenarioError([f"{why}; measure and store the baseline again"]) from None
        return Side(name, scenario, pl.DataFrame(self.rows, schema=COLUMNS, orient="row"))


class Baseline(Strict):
    """The content of a file with a baseline."""

    format: Literal[1] = 1
    engine: Text
    version: Text
    """Version of the engine."""
    points: Annotated[list[Kept], FailFast(), Field(min_length=1)]

    @property
    def name(self) -> str:
        """Name of the baseline in comparisons."""
        return f"{self.engine} {self.version}"

    @property
    def seeds(self) -> list[int]:
        """Seeds of the stored runs, in ascending order."""
        return sorted({row[0] for row in self.points[0].rows})

    def sides(self) -> list[tuple[dict[str, Any], Side]]:
        """The sides of a comparison, point by point.

        Raises:
            ScenarioError: If a stored scenario is not valid in this version.
        """
        return [(kept.point, kept.side(self.name)) for kept in self.points]


def baseline_of(points: Sequence[tuple[Mapping[str, Any], Sequence[Run]]]) -> Baseline:
    """Return the baseline of runs: every metric of every group of flows and link at every point."""
    first = points[0][1][0].meta.engine
    return Baseline(engine=first.name, version=first.version, points=[kept_of(*each) for each in points])


def kept_of(point: Mapping[str, Any], runs: Sequence[Run]) -> Kept:
    """The stored values of the runs of a point."""
    links = [str(name) for name in runs[0].links_summary["link"]]
    values = values_of((({}, run) for run in runs), links=links)
    return Kept(point=dict(point), scenario=runs[0].scenario.to_dict(), rows=values.select(*COLUMNS).rows())


def write(path: Path, baseline: Baseline) -> None:
    """Write a baseline.

    Raises:
        ResultError: If the file cannot be written.
    """
    files.write(path, baseline.model_dump_json().encode())


def read(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        ScenarioError: If the file cannot be read or is not a baseline.
    """
    return read_as(Baseline, path, "a baseline")


_File = TypeVar("_File", bound=BaseModel)


def read_as(kind: type[_File], path: Path, what: str) -> _File:
    """Read a file of measured values in the format of `kind`. The errors are the same as in `read`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ScenarioError([f"{path}: larger than {MAX_FILE_BYTES // 10**6} MB; not {what}"])
        return kind.model_validate_json(data)
    except OSError as error:
        raise ScenarioError([f"{path}: cannot be read: {error.strerror or error}"]) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"][:5])) or "the file"
        why = first["msg"].removeprefix("Value error, ")
        raise ScenarioError([f"{path}: not {what}: {where}: {why[:1].lower()}{why[1:]}"]) from None
