"""What was measured of a suite on one side, kept in a file or handed from one process to another."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import polars as pl
from pydantic import BaseModel, ConfigDict, FailFast, Field, model_validator

from fullpipe.runs import Run
from fullpipe.sweeps import Job, by_point, jobs
from fullpipe.validation.baseline import Kept, Text, kept_of
from fullpipe.validation.gate.suite import Suite

_DIGITS = 32
Runner = Callable[[Sequence[Job]], Sequence[Run]]
"""Runs jobs, and gives the runs in their order."""


class Point(Kept):
    """A point of a scenario of the suite."""

    case: Text
    sums: dict[int, str]
    """By seed: a checksum of every number of the run."""

    @model_validator(mode="after")
    def _of_the_same_seeds(self) -> Self:
        if self.sums.keys() != {row[0] for row in self.rows}:
            raise ValueError("sums are of other seeds than rows")
        return self


class Measured(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    format: Literal[1] = 1
    suite: Text
    fullpipe: Text
    """The version that measured."""
    engine: Text
    version: Text
    """Of the engine."""
    points: Annotated[list[Point], FailFast(), Field(min_length=1)]

    @property
    def name(self) -> str:
        """What a comparison calls it."""
        return f"fullpipe {self.fullpipe}, {self.engine} {self.version}"


def measure(suite: Suite, seeds: int, engine: str, runner: Runner, after: int = 0) -> Measured:
    """Run every point of every case of a suite with the seeds 1 to `seeds`, or those `after` a seed only."""
    from fullpipe import __version__

    several = range(after + 1, seeds + 1)
    todo = {case.name: jobs(case.scenario, several, engine) for case in suite.cases}
    runs = runner([job for of_case in todo.values() for job in of_case])
    made = iter(runs)
    points = [
        _point(name, point, at_point)
        for name, of_case in todo.items()
        for point, at_point in by_point(zip(of_case, made, strict=False))
    ]
    used = runs[0].meta.engine
    return Measured(
        suite=suite.name,
        fullpipe=__version__,
        engine=used.name,
        version=used.version,
        points=points,
    )


def _point(name: str, point: Mapping[str, Any], runs: Sequence[Run]) -> Point:
    kept = kept_of(point, runs)
    return Point(**dict(kept), case=name, sums={run.meta.seed: checksum(run) for run in runs})


def checksum(run: Run) -> str:
    """Of every number in every table of a run; names, such as those of algorithms, have no part in it."""
    digest = hashlib.sha256()
    for name in sorted(run.tables):
        for column in run.tables[name]:
            if column.dtype == pl.String:
                continue
            digest.update(f"{name}.{column.name} {column.dtype}".encode())
            digest.update(_nulls(column))
            has = column.drop_nulls() if column.null_count() else column
            digest.update(has.to_numpy().tobytes())
    return digest.hexdigest()[:_DIGITS]


def _nulls(column: pl.Series) -> bytes:
    """1 for each null, else 0, without a query of columns that have all or none: most are such."""
    nulls, rows = column.null_count(), len(column)
    if nulls in (0, rows):
        return (b"\x01" if nulls else b"\x00") * rows
    return column.is_null().to_numpy().tobytes()
