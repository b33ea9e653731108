"""Runs many jobs on engines: in parallel, with results in order, and no run twice."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullpipe import engines
from fullpipe.engines.overtime import limited
from fullpipe.runs import Run, Store, executor
from fullpipe.runs.executor import Outcome, Progress, SweepError, Update
from fullpipe.runs.jobs import Job, jobs
from fullpipe.scenario.model.flows import own_algorithms

__all__ = ["Job", "Outcome", "Progress", "SweepError", "Update", "jobs", "run", "stream"]


@dataclass(frozen=True)
class KeptRuns:
    """Makes runs on the engines that jobs name, and keeps them in a store if there is one."""

    store: Store | None = None
    cca_timeout_s: float | None = None

    def find(self, job: Job) -> Run | None:
        """The run of a job, if the store has it."""
        if self.store is None:
            return None
        chosen = engines.engine(job.engine)
        engine_id, digest = engines.identity(chosen, job.scenario), engines.digest_of(chosen, job.scenario)
        return self.store.find(job.scenario, engine_id, job.seed, digest)

    def make(self, job: Job, progress: engines.Progress | None) -> Run:
        """Run a job and keep the run; see `stream` for what is raised."""
        chosen = engines.engine(job.engine)
        if self.store:
            self.store.prepare(engines.digest_of(chosen, job.scenario))
        is_own = bool(own_algorithms(job.scenario.flows))
        with limited(self.cca_timeout_s if is_own else None):
            made = chosen.run(job.scenario, seed=job.seed, progress=progress)
        return self.store.save(made) if self.store else made


def stream(
    jobs: Iterable[Job],
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
    cca_timeout_s: float | None = None,
) -> Iterator[Outcome]:
    """Run jobs and yield what became of them, in the order of the jobs, as soon as the order allows.

    A run that the store has is not made again, and every finished run is stored at once. A job that fails
    does not stop the others. Leaving the iterator early, also by an interrupt, stops the jobs that still run.

    Args:
        jobs: What to run.
        workers: How many at the same time. Has no influence on results.
        store: Where finished runs are looked up and kept; None keeps them in memory.
        progress: Told about every step.
        cca_timeout_s: How long one call into an algorithm written in Python may take, in real time; beyond it
            the run fails with a ControllerError, and others go on. None: for ever.

    Raises:
        FolderError: If a run is to be made and the folder of the store cannot be written.
        DiskFullError: If a run cannot be kept because the disk is full.
    """
    yield from executor.stream(jobs, KeptRuns(store, cca_timeout_s), workers=workers, progress=progress)


def run(
    jobs: Iterable[Job],
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
    cca_timeout_s: float | None = None,
) -> list[Run]:
    """Run jobs and return the runs in the order of the jobs; see `stream`.

    Raises:
        SweepError: If any job failed, after all others have finished.
    """
    outcomes = list(
        stream(jobs, workers=workers, store=store, progress=progress, cca_timeout_s=cca_timeout_s)
    )
    if any(outcome.error for outcome in outcomes):
        raise SweepError(outcomes)
    return [outcome.run for outcome in outcomes]
