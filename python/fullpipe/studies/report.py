"""The settings for a rerun of a study, and the report of the study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fullpipe import sweeps
from fullpipe.runs import Run, Store
from fullpipe.scenario.remembered import Remembered
from fullpipe.studies.text import Aligned, fitted, written
from fullpipe.sweeps import Job, Progress

# The contents of a study's report, from which the text for a terminal and the page are made.


@dataclass(frozen=True, slots=True)
class Told:
    """The contents of the report of a study."""

    parts: Sequence[str | Aligned]
    """All parts of the report for a terminal, in order."""
    title: str
    how: str
    """Sentence that defines which of our numbers are compared with printed numbers."""
    verdicts: Sequence[Sequence[str]]
    """The column heads, followed by a row for every printed number or claim."""
    tally: Mapping[str, int]
    """Number of claims with each verdict. The best verdict is first."""
    causes: Sequence[tuple[str, int]]
    """Causes of the verdict "not reproduced", and the number of claims with each. The most frequent cause is
    first."""
    counts: Sequence[str]
    """Sentences with the numbers of verdicts and of causes, and with the numbers of verdicts under other
    readings."""
    sections: Sequence[str | Aligned]
    """Sections that only this study has, such as tables of results without claims."""
    rules: str
    setup: Sequence[tuple[str, str, str]]
    """The column heads, followed by rows with the printed set-up and the set-up of our runs."""
    seeds: int

    @property
    def text(self) -> str:
        """The whole report as text, with tables at their full width."""
        return written(self.parts)

    def fitted(self, columns: int) -> str:
        """Return the whole report for a terminal with this number of columns."""
        return fitted(self.parts, columns)


digest_of = Remembered[str](lambda scenario: scenario.digest)
"""Digest of a scenario. It is cached because jobs share scenarios, and a digest takes as long as a
validation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a rerun of a study."""

    folder: Path
    store: Store
    seeds: tuple[int, ...] | None = None
    workers: int = 1
    quick: bool = False
    progress: Progress | None = None
    engine: str = "native"
    refused: frozenset[str] = frozenset()
    """Digests of the scenarios that the engine cannot run."""
    data: object = None
    """The paper's published data as returned by `PublishedStudy.published_in`; None if no data are given."""

    def seeds_or(self, count: int, quick: int) -> tuple[int, ...]:
        """Return the chosen seeds, or by default the seeds from 1 to `count` (in the quick form, to
        `quick`)."""
        if self.seeds is not None:
            return self.seeds
        return tuple(range(1, (quick if self.quick else count) + 1))

    def possible(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that the engine can run, assigned to that engine."""
        return [replace(job, engine=self.engine) for job in jobs if not self._is_refused(job)]

    def run(self, jobs: Sequence[Job]) -> list[Run | None]:
        """Run the jobs that are not stored yet. Return the run of every job, or None for a job that the
        engine refuses.

        Raises:
            SweepError: If a run failed.
        """
        possible = self.possible(jobs)
        made = iter(sweeps.run(possible, workers=self.workers, store=self.store, progress=self.progress))
        return [None if self._is_refused(job) else next(made) for job in jobs]

    def _is_refused(self, job: Job) -> bool:
        return bool(self.refused) and digest_of(job.scenario) in self.refused


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a finished study, and the files that the study wrote."""

    told: Told
    files: tuple[Path, ...]
    folder: Path
    head: str = ""
    """Sentence that names the engine of our numbers; empty for the native engine."""
    refused: tuple[str, ...] = ()
    """Scenarios that the engine cannot run, with the reasons."""

    @property
    def text(self) -> str:
        """The whole report as text, with tables at their full width."""
        return "\n\n".join(filter(None, [self.head, self.told.text]))

    def fitted(self, columns: int) -> str:
        """Return the whole report for a terminal with this number of columns."""
        return fitted([*filter(None, [self.head]), *self.told.parts], columns)

    @property
    def figures(self) -> tuple[Path, ...]:
        """The PNG and SVG files of the study."""
        return tuple(path for path in self.files if path.suffix in (".png", ".svg"))


def complete(runs: Sequence[Run | None]) -> list[Run]:
    """Return the runs if no run is missing, otherwise an empty list, because figures need all runs."""
    made = [run for run in runs if run is not None]
    return made if len(made) == len(runs) else []


def seeds_of(jobs: Iterable[Job]) -> int:
    """Return the number of different seeds of the jobs."""
    return len({job.seed for job in jobs})
