"""The request for a study, and the report that it gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fullpipe import sweeps
from fullpipe.runs import Run, Store
from fullpipe.scenario.remembered import Remembered
from fullpipe.studies.text import fitted
from fullpipe.studies.told import Told
from fullpipe.sweeps import Job, Progress

digest_of = Remembered[str](lambda scenario: scenario.digest)
"""The seeds of a study share one scenario, and its digest takes as long as to validate it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a study is to be run."""

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
    """The paper's published data as the study has read them, if they are at hand."""

    def seeds_or(self, count: int, quick: int) -> tuple[int, ...]:
        """The seeds asked for, or the first `count` of them, in a quick run the first `quick`."""
        if self.seeds is not None:
            return self.seeds
        return tuple(range(1, (quick if self.quick else count) + 1))

    def possible(self, jobs: Iterable[Job]) -> list[Job]:
        """The jobs of a study that its engine can run, by that engine."""
        return [replace(job, engine=self.engine) for job in jobs if not self._is_refused(job)]

    def run(self, jobs: Sequence[Job]) -> list[Run | None]:
        """Run what is missing; `None` for what the engine refuses.

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
    """A finished study: what it says, and the files that were written."""

    told: Told
    files: tuple[Path, ...]
    folder: Path
    head: str = ""
    """Whose numbers are called ours, if they are not the native engine's."""
    refused: tuple[str, ...] = ()
    """What the engine could not run, and why."""

    @property
    def text(self) -> str:
        """The whole report; tables are as wide as they are."""
        return "\n\n".join(filter(None, [self.head, self.told.text]))

    def fitted(self, columns: int) -> str:
        """The whole report, for a terminal of so many columns."""
        return fitted([*filter(None, [self.head]), *self.told.parts], columns)

    @property
    def figures(self) -> tuple[Path, ...]:
        """The pictures among the files."""
        return tuple(path for path in self.files if path.suffix in (".png", ".svg"))


def complete(runs: Sequence[Run | None]) -> list[Run]:
    """The runs of a study, of which figures are drawn; nothing if one is missing."""
    made = [run for run in runs if run is not None]
    return made if len(made) == len(runs) else []


def seeds_of(jobs: Iterable[Job]) -> int:
    """How many seeds every condition has."""
    return len({job.seed for job in jobs})
