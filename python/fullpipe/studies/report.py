"""Settings for a rerun of a study, and its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fullpipe import sweeps
from fullpipe.runs import Run, Store
from fullpipe.scenario.remembered import Remembered
from fullpipe.studies.text import Aligned, fitted, written
from fullpipe.sweeps import Job, Progress

# The report of a study in parts, from which the text for a terminal and the page are made.


@dataclass(frozen=True, slots=True)
class Told:
    """The report of a study."""

    parts: Sequence[str | Aligned]
    """The whole report for a terminal."""
    title: str
    how: str
    """Sentence that defines the compared numbers."""
    verdicts: Sequence[Sequence[str]]
    """The column heads, then a row per printed number or claim."""
    tally: Mapping[str, int]
    """Count of each verdict, the best first."""
    causes: Sequence[tuple[str, int]]
    """Causes of claims that are not reproduced with their counts, the most frequent first."""
    counts: Sequence[str]
    """Sentences with the counts of verdicts and causes under every reading."""
    sections: Sequence[str | Aligned]
    """Further sections of the study: prose and tables."""
    rules: str
    setup: Sequence[tuple[str, str, str]]
    """The column heads, then rows with the printed set-up and the set-up used here."""
    seeds: int

    @property
    def text(self) -> str:
        """The whole report, with tables at their full width."""
        return written(self.parts)

    def fitted(self, columns: int) -> str:
        """Return the whole report for a terminal with this number of columns."""
        return fitted(self.parts, columns)


digest_of = Remembered[str](lambda scenario: scenario.digest)
"""Digest of a scenario, cached: seeds share a scenario, and its digest costs as much as its validation."""


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
    """The paper's published data as read by the study; None without published data."""

    def seeds_or(self, count: int, quick: int) -> tuple[int, ...]:
        """Return the chosen seeds, by default from 1 to `count`, or from 1 to `quick` in the quick form."""
        if self.seeds is not None:
            return self.seeds
        return tuple(range(1, (quick if self.quick else count) + 1))

    def possible(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that the engine can run, assigned to that engine."""
        return [replace(job, engine=self.engine) for job in jobs if not self._is_refused(job)]

    def run(self, jobs: Sequence[Job]) -> list[Run | None]:
        """Run the jobs that are not stored yet. Return all runs: None for a job that the engine refuses.

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
    """Report of a finished study, and the files that were written."""

    told: Told
    files: tuple[Path, ...]
    folder: Path
    head: str = ""
    """Sentence on the engine of our numbers; empty for the native engine."""
    refused: tuple[str, ...] = ()
    """Scenarios that the engine cannot run, with the reasons."""

    @property
    def text(self) -> str:
        """The whole report, with tables at their full width."""
        return "\n\n".join(filter(None, [self.head, self.told.text]))

    def fitted(self, columns: int) -> str:
        """Return the whole report for a terminal with this number of columns."""
        return fitted([*filter(None, [self.head]), *self.told.parts], columns)

    @property
    def figures(self) -> tuple[Path, ...]:
        """Images among the files."""
        return tuple(path for path in self.files if path.suffix in (".png", ".svg"))


def complete(runs: Sequence[Run | None]) -> list[Run]:
    """Return the runs of a study if none is missing, otherwise an empty list: figures need all runs."""
    made = [run for run in runs if run is not None]
    return made if len(made) == len(runs) else []


def seeds_of(jobs: Iterable[Job]) -> int:
    """Return the number of seeds of every condition."""
    return len({job.seed for job in jobs})
