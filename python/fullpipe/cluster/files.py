"""Runs a sweep with any number of processes that share the store's folder, without a scheduler."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullpipe.cluster.crew import Crew
from fullpipe.cluster.folder import SweepFolder, begin
from fullpipe.cluster.plan import Plan
from fullpipe.cluster.stored import made_elsewhere, stored
from fullpipe.runs.executor import Outcome, Progress, RunSource, Update
from fullpipe.runs.jobs import Job

_PULSE_S = 0.05
_LOOK_S = 0.5
"""Interval at which jobs finished by other processes are looked up."""


@dataclass(frozen=True)
class Files:
    """Runs jobs in threads of this process, together with any number of `fullpipe work` processes.

    Args:
        root: The folder of the store.
        workers: Number of threads of this process.
        cca_timeout_s: Maximum duration of one call into an algorithm written in Python, for other processes.
    """

    root: Path
    workers: int = 1
    cca_timeout_s: float | None = None

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Run jobs, and yield the outcome of each in their order: see `fullpipe.sweeps.Executor`.

        Raises:
            FolderError: If the store cannot be written.
            DiskFullError: If a run cannot be stored because the disk is full.
        """
        todo = list(jobs)
        known = stored(todo, source, progress)
        missing = [index for index in range(len(todo)) if index not in known]
        plan = Plan.for_jobs(todo, self.cca_timeout_s)
        if not missing:
            SweepFolder.of_plan(self.root, plan).remove()
            yield from (known.pop(index) for index in range(len(todo)))
            return
        folder = begin(self.root, plan, missing)
        crew = Crew(folder, todo.__getitem__, source, self.workers, progress, known.__setitem__)
        has_failed = False
        with crew:
            watch = _Watch(folder, self.root, todo, source, crew, known, progress)
            for index in range(len(todo)):
                outcome = watch.outcome(index)
                has_failed = has_failed or outcome.error is not None
                yield outcome
        if not has_failed:
            folder.remove()


class _Watch:
    """Waits for jobs that this process or another one finishes."""

    def __init__(
        self,
        folder: SweepFolder,
        root: Path,
        todo: Sequence[Job],
        source: RunSource,
        crew: Crew,
        known: dict[int, Outcome],
        progress: Progress | None,
    ) -> None:
        self._folder, self._root, self._todo, self._source, self._crew = folder, root, todo, source, crew
        self._known, self._progress = known, progress
        self._is_over = bytes(len(todo))
        """Flag of every job that is no longer in a chunk."""
        self._look_at_s = 0.0

    def outcome(self, index: int) -> Outcome:
        """Wait for the outcome of a job."""
        while index not in self._known:
            if self._crew.error:
                raise self._crew.error
            found = self._read(index) if self._is_over[index] else None
            if found:
                return found
            if time.monotonic() >= self._look_at_s:
                self._look(index)
            else:
                time.sleep(_PULSE_S)  # short, since signals do not end a wait once polars is in use
        return self._known.pop(index)

    def _look(self, first: int) -> None:
        import numpy as np  # here, since other executors do not need it

        over = np.ones(len(self._todo), dtype=bool)
        for chunk in self._folder.chunks.pending():
            over[chunk.start : chunk.stop] = False
        news = over & (np.frombuffer(self._is_over, dtype=bool) == 0)
        news[:first] = False
        self._is_over = over.tobytes()
        for index in np.flatnonzero(news).tolist():
            if self._progress and index not in self._known:
                job = self._todo[index]
                self._progress(Update(index, job, job.scenario.duration_s, "finished"))
        self._look_at_s = time.monotonic() + _LOOK_S

    def _read(self, index: int) -> Outcome | None:
        """Return the outcome of a job by another process. None if another command has opened it again."""
        job = self._todo[index]
        failure = self._folder.failure(index)
        if failure:
            run = self._source.find(job)
            return Outcome(job, run or failure.error)
        made = made_elsewhere(job, self._source, self._root)
        self._look(index)
        return made if made.error is None or self._is_over[index] else None
