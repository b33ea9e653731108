"""Measured sides of a check: from this process, a file, another version of fullpipe, or a folder of code."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import not_
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self

import polars as pl
from pydantic import FailFast, Field, model_validator

from fullpipe.analysis.length import doubts_at
from fullpipe.analysis.points import points_of
from fullpipe.analysis.statistics.stationarity import Mean
from fullpipe.errors import FullpipeError, ScenarioError, brief
from fullpipe.runs import Run
from fullpipe.sweeps import Job, by_point, jobs
from fullpipe.validation.baseline import Kept, Strict, Text, kept_of, read_as
from fullpipe.validation.check.suite import Suite

_DIGITS = 32
_LONGEST = 900
Runner = Callable[[Sequence[Job]], Sequence[Run]]
"""Function that runs jobs, and returns the runs in the order of the jobs."""


class Point(Kept):
    """A point of a scenario of the suite."""

    case: Text
    sums: dict[int, str]
    """A checksum of every number of the run, by seed."""
    doubts: list[tuple[Text, Text]] = Field(default_factory=list, exclude_if=not_)
    """Quantity and group of every doubtful mean: see `stationarity.Mean`."""

    @property
    def key(self) -> tuple[str, str]:
        """Case and point."""
        return self.case, str(self.point)

    @model_validator(mode="after")
    def _of_the_same_seeds(self) -> Self:
        if self.sums.keys() != {row[0] for row in self.rows}:
            raise ValueError("sums: have other seeds than rows")
        return self


class Measured(Strict):
    """The content of a file with measured values of a suite."""

    format: Literal[1, 2] = 1
    """2 if the file has warnings or doubts, which older versions refuse."""
    suite: Text
    fullpipe: Text
    """Version of fullpipe that measured the values."""
    engine: Text
    version: Text
    """The version of the engine."""
    points: Annotated[list[Point], FailFast(), Field(min_length=1)]
    warnings: dict[Text, list[Text]] = Field(default_factory=dict, exclude_if=not_)
    """Reasons to doubt the means, by case: runs that are too short, and means that have not settled."""

    @property
    def name(self) -> str:
        """Versions of fullpipe and of the engine, as comparisons name the side."""
        return f"fullpipe {self.fullpipe}, {self.engine} {self.version}"


def measure(
    suite: Suite, seeds: int, engine: str, runner: Runner, after: int = 0, *, has_warnings: bool = False
) -> Measured:
    """Run every point of every case of a suite with the seeds `after` + 1 to `seeds`.

    `has_warnings`: whether the means of these runs are examined; means over more seeds need an examination of
    all their runs.
    """
    from fullpipe import __version__

    several = range(after + 1, seeds + 1)
    todo = {case.name: jobs(case.scenario, several, engine) for case in suite.cases}
    runs = runner([job for of_case in todo.values() for job in of_case])
    made = iter(runs)
    by_case = {
        name: list(zip(of_case, islice(made, len(of_case)), strict=True)) for name, of_case in todo.items()
    }
    told = {name: _doubts([run for _, run in own]) for name, own in by_case.items() if has_warnings}
    warnings = {name: lines for name, (lines, _) in told.items() if lines}
    points = [
        _point(name, point, at_point, told[name][1] if name in told else {})
        for name, own in by_case.items()
        for point, at_point in by_point(own)
    ]
    used = runs[0].meta.engine
    return Measured(
        format=2 if warnings else 1,
        suite=suite.name,
        fullpipe=__version__,
        engine=used.name,
        version=used.version,
        points=points,
        warnings=warnings,
    )


def _doubts(runs: Sequence[Run]) -> tuple[list[str], dict[str, list[Mean]]]:
    """The reasons to doubt the means of a case, and the doubtful means by digest of the scenario."""
    reasons, means = doubts_at(points_of(runs), runs)
    of_digests = {runs[place].meta.digest: found for place, found in means.items()}
    return [brief(told, _LONGEST) for told in reasons], of_digests


def _point(
    name: str, point: Mapping[str, Any], runs: Sequence[Run], doubts: Mapping[str, Sequence[Mean]]
) -> Point:
    kept, sums = kept_of(point, runs), {run.meta.seed: checksum(run) for run in runs}
    means = [tuple(mean) for mean in doubts.get(runs[0].meta.digest, ())]
    return Point(**dict(kept), case=name, sums=sums, doubts=means)


def checksum(run: Run) -> str:
    """Return the checksum of every number in every table of a run. Text, such as names of algorithms, is left
    out."""
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
    """Return a byte per row: 1 for null, else 0. Most columns have no nulls or only nulls, and need no
    query."""
    nulls, rows = column.null_count(), len(column)
    if nulls in (0, rows):
        return (b"\x01" if nulls else b"\x00") * rows
    return column.is_null().to_numpy().tobytes()


class Source(Protocol):
    """The source of the numbers of one side of a check."""

    @property
    def most_seeds(self) -> int:
        """Largest number of seeds that the source can provide; 0 means no limit."""

    def measured(self, cases: Collection[str], seeds: int) -> Measured:
        """Measure some cases with the seeds 1 to `seeds`."""


@dataclass(frozen=True)
class Here:
    """Source that runs the suite in this process."""

    suite: Suite
    engine: str
    runner: Runner
    most_seeds: int = 0
    _seen: dict[str, Measured] = field(init=False, repr=False, compare=False, default_factory=dict)
    """Values of all seeds so far, by case. A look runs and measures only seeds without values."""

    def measured(self, cases: Collection[str], seeds: int) -> Measured:
        """Measure some cases with the seeds 1 to `seeds`: see `Source`."""
        names = [case.name for case in self.suite.only(cases).cases]
        by_seeds: dict[int, list[str]] = {}
        for name in names:
            seen = self._seen.get(name)
            by_seeds.setdefault(len(seen.points[0].sums) if seen else 0, []).append(name)
        for before, some in by_seeds.items():
            if before < seeds:
                self._add(measure(self.suite.only(some), seeds, self.engine, self.runner, before), some)
        points = [point for name in names for point in self._seen[name].points]
        return Stored(self._seen[names[0]].model_copy(update={"points": points})).measured(names, seeds)

    def _add(self, made: Measured, names: Collection[str]) -> None:
        """Add the values of new seeds to those of earlier looks."""
        for name in names:
            points = [point for point in made.points if point.case == name]
            if name in self._seen:
                pairs = zip(self._seen[name].points, points, strict=True)
                points = [_joined(first, second) for first, second in pairs]
            self._seen[name] = made.model_copy(update={"points": points})


def _joined(first: Point, second: Point) -> Point:
    """A point with the seeds of both measurements."""
    return first.model_copy(update={"rows": first.rows + second.rows, "sums": first.sums | second.sums})


@dataclass(frozen=True)
class Stored:
    """Source of measured values in a file."""

    content: Measured

    @property
    def most_seeds(self) -> int:
        """The number of seeds that the file has."""
        return min(len(point.sums) for point in self.content.points)

    def measured(self, cases: Collection[str], seeds: int) -> Measured:
        """Measure some cases with the seeds 1 to `seeds`: see `Source`."""
        points = [
            point.model_copy(
                update={
                    "rows": [row for row in point.rows if row[0] <= seeds],
                    "sums": {seed: found for seed, found in point.sums.items() if seed <= seeds},
                }
            )
            for point in self.content.points
            if point.case in cases
        ]
        told = {case: lines for case, lines in self.content.warnings.items() if case in cases}
        return self.content.model_copy(update={"points": points, "warnings": told})


@dataclass(frozen=True)
class Elsewhere:
    """Source that runs the suite by a command: another version of fullpipe, or this version with code from
    another folder."""

    command: Sequence[str]
    """`fullpipe check SUITE` and its options, without seeds, cases and the output file."""
    folder: Path | None = None
    """Folder in which the command runs, and the only folder from which it imports code; default: the current
    folder.
    """
    most_seeds: int = 0

    def measured(self, cases: Collection[str], seeds: int) -> Measured:
        """Measure some cases with the seeds 1 to `seeds`: see `Source`.

        Raises:
            FullpipeError: If the command fails; the message has the last line of its output.
        """
        with tempfile.TemporaryDirectory(prefix="fullpipe-check-") as folder:
            file = Path(folder) / "measured.json"
            more = [part for case in cases for part in ("--case", case)]
            command = [*self.command, *more, "--seeds", str(seeds), "--keep", str(file)]
            try:
                done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            except OSError as error:
                raise FullpipeError(f"{self.command[0]}: cannot be run: {error.strerror}") from None
            if done.returncode or not file.exists():
                said = done.stderr.strip().splitlines() or ["no error text"]
                raise FullpipeError(f"{self.command[0]}: status {done.returncode}: {brief(said[-1], 300)}")
            return read_as(Measured, file, "what --keep writes")


def stored(path: Path, suite: Suite) -> Stored:
    """The measured values of a suite in a file.

    Raises:
        ScenarioError: If the file does not have measured values, or belongs to another suite.
    """
    found = read_as(Measured, path, "what --keep writes")
    missing = [case.name for case in suite.cases if case.name not in {point.case for point in found.points}]
    if missing:
        raise ScenarioError(
            [f"{path}: has no case {missing[0]}; measure the file again with the current suite"]
        )
    return Stored(found)
