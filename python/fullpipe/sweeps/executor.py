"""Runs jobs in threads: engines release the interpreter, so threads are enough and nothing is copied."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from threading import Event
from typing import Literal

from fullpipe.engines import engine, identity
from fullpipe.engines.overtime import limited
from fullpipe.errors import CancelledError, DiskFullError, FolderError, FullpipeError
from fullpipe.results import Run, Store
from fullpipe.scenario.model.flows import own_algorithms
from fullpipe.sweeps.interrupt import Interruptible
from fullpipe.sweeps.jobs import Job

_AHEAD = 1_000
"""How many jobs are handed out at a time: all of a sweep would be a million."""
_PULSE_S = 0.1

State = Literal["running", "stored", "finished", "failed"]


@dataclass(frozen=True)
class Update:
    """How far a job is: its place in the list, the simulated time reached, and its state."""

    index: int
    job: Job
    simulated_s: float
    state: State


Progress = Callable[[Update], None]
"""Called from any of the threads."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of a job: a run, or the error that it failed with."""

    job: Job
    result: Run | Exception

    @property
    def error(self) -> Exception | None:
        """Why it failed, if it did."""
        return self.result if isinstance(self.result, Exception) else None

    @property
    def run(self) -> Run:
        """The run.

        Raises:
            Exception: The error of a job that failed.
        """
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class SweepError(FullpipeError):
    """Some jobs failed; the others finished, and `outcomes` has all of them."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        failed = [outcome for outcome in outcomes if outcome.error]
        first, where = failed[0].error, failed[0].job
        which = f"{where.scenario.name} {where.scenario.digest}, seed {where.seed}"
        super().__init__(f"{len(failed)} of {len(outcomes)} runs failed; the first, {which}: {first}")
        self.outcomes = tuple(outcomes)


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
    stop, own = Event(), Interruptible()
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            waiting, futures = iter(enumerate(jobs)), deque[Future[Outcome]]()
            while True:  # none is kept longer than it is needed: its run may be large
                futures.extend(
                    pool.submit(_Worker(index, job, store, progress, stop, own, cca_timeout_s))
                    for index, job in islice(waiting, _AHEAD - len(futures))
                )
                if not futures:
                    break
                yield _result(futures.popleft())
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            own.interrupt()


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


def _result(future: "Future[Outcome]") -> Outcome:
    """Wait with a pulse: polars makes system calls go on after a signal, so a long wait would miss Ctrl-C."""
    while not wait([future], timeout=_PULSE_S).done:
        pass
    return future.result()


@dataclass(frozen=True)
class _Worker:
    """One job with all that it needs to run in a thread."""

    index: int
    job: Job
    store: Store | None
    progress: Progress | None
    stop: Event
    own: Interruptible
    cca_timeout_s: float | None

    def __call__(self) -> Outcome:
        try:
            return Outcome(self.job, self._run())
        except (FolderError, DiskFullError):  # no other run could be kept either
            self.stop.set()
            self._tell(0.0, "failed")
            raise
        except Exception as error:
            self._tell(0.0, "failed")
            return Outcome(self.job, error)

    def _run(self) -> Run:
        chosen, job = engine(self.job.engine), self.job
        self._advanced(0.0)
        stored = (
            self.store.find(job.scenario, identity(chosen, job.scenario), job.seed) if self.store else None
        )
        if stored:
            self._tell(job.scenario.duration_s, "stored")
            return stored
        if self.store:
            self.store.prepare(job.scenario.digest)
        is_own = bool(own_algorithms(job.scenario.flows))
        with self.own.thread(is_own), limited(self.cca_timeout_s if is_own else None):
            run = chosen.run(job.scenario, seed=job.seed, progress=self._advanced)
        if self.store:
            run = self.store.save(run)
        self._tell(job.scenario.duration_s, "finished")
        return run

    def _advanced(self, simulated_s: float) -> None:
        if self.stop.is_set():
            raise CancelledError("stopped before its end")
        self._tell(simulated_s, "running")

    def _tell(self, simulated_s: float, state: State) -> None:
        if self.progress:
            self.progress(Update(self.index, self.job, simulated_s, state))
