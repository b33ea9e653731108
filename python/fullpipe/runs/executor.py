"""What runs jobs: the protocol of executors, and threads, which are enough on one machine.

Engines release the interpreter, so that threads compute at the same time and nothing is copied.
`fullpipe.cluster` has executors for several machines.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Event
from time import sleep
from typing import Literal, Protocol

from fullpipe.errors import CancelledError, DiskFullError, FolderError, FullpipeError
from fullpipe.runs.interrupt import Interruptible
from fullpipe.runs.jobs import Job
from fullpipe.runs.run import Run
from fullpipe.scenario.remembered import own_algorithms_of

_AHEAD = 1_000
"""Limit of jobs that are handed out and not yielded: a sweep may have a million."""
_PULSE_S = 0.1
_NAP_S = 0.02
"""Sleep before a worker has to wake the thread that yields. A wake-up takes as long as to write a run, and
several short runs end meanwhile."""

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


class RunSource(Protocol):
    """Where the runs of jobs come from."""

    def find(self, job: Job) -> Run | None:
        """The run of a job, if it is kept already."""

    def make(self, job: Job, progress: Callable[[float], None] | None) -> Run:
        """Make the run of a job; `progress` is told the simulated time reached, in seconds."""


class Executor(Protocol):
    """Runs jobs somewhere. The store is the only truth: what an executor hands back is found there.

    Another package can write one, and pass it to `fullpipe.sweep(..., on=...)`. A job is made by
    `source.find(job) or source.make(job, None)`; in another process, which gets the job pickled, by a source
    of its own: `fullpipe.sweeps.KeptRuns(Store(root))`. What it makes is then found by `source.find(job)`.
    """

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """What became of every job, in the order of the jobs, as soon as the order allows.

        A job that fails does not stop the others. Leaving the iterator early, also by an interrupt, stops
        the jobs that still run.

        Raises:
            FolderError: If a run is to be made and the folder of the store cannot be written.
            DiskFullError: If a run cannot be kept because the disk is full.
        """
        ...


@dataclass(frozen=True)
class Threads:
    """Runs jobs in threads of this process: `workers` at the same time."""

    workers: int = 1

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """What became of every job: see `Executor`."""
        stop, own, workers = Event(), Interruptible(), max(1, self.workers)
        with ThreadPoolExecutor(workers) as pool:
            try:
                waiting, begun = iter(enumerate(jobs)), deque[Outcome | Future[Outcome]]()
                while True:  # none is kept longer than it is needed: its run may be large
                    for index, job in islice(waiting, _AHEAD - len(begun)):
                        attempt = Attempt(index, job, source, progress, stop, own)
                        # A kept run is found in this thread: a hand-over takes as long as the lookup.
                        begun.append(attempt.found() or pool.submit(attempt))
                        if len(begun) >= 2 * workers and _is_over(begun[0]):
                            break
                    if not begun:
                        break
                    first = begun.popleft()
                    if begun and not _is_over(first):
                        sleep(_NAP_S)
                    yield _result(first)
            finally:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                own.interrupt()


def _is_over(begun: "Outcome | Future[Outcome]") -> bool:
    return isinstance(begun, Outcome) or begun.done()


def _result(begun: "Outcome | Future[Outcome]") -> Outcome:
    """Wait with a pulse: polars makes system calls go on after a signal, so a long wait would miss Ctrl-C."""
    if isinstance(begun, Outcome):
        return begun
    while True:
        try:
            return begun.result(timeout=_PULSE_S)
        except TimeoutError:
            if begun.done():  # it is the job that raised it
                raise


@dataclass(frozen=True)
class Attempt:
    """One job with all that it needs to run in a thread."""

    index: int
    job: Job
    source: RunSource
    progress: Progress | None
    stop: Event
    own: Interruptible

    def found(self) -> Outcome | None:
        """Look the run up: its outcome if it is kept, else None. Errors are left to the attempt."""
        stored = None
        with suppress(Exception):
            stored = self.source.find(self.job)
        return self._as_outcome(partial(self._stored, stored)) if stored else None

    def __call__(self) -> Outcome:
        return self._as_outcome(self._run)

    def _as_outcome(self, run: Callable[[], Run]) -> Outcome:
        try:
            return Outcome(self.job, run())
        except (FolderError, DiskFullError):  # no other run could be kept either
            self.stop.set()
            self._tell(0.0, "failed")
            raise
        except Exception as error:
            self._tell(0.0, "failed")
            return Outcome(self.job, error)

    def _stored(self, run: Run) -> Run:
        self._tell(0.0, "running")
        self._tell(self.job.scenario.duration_s, "stored")
        return run

    def _run(self) -> Run:
        self._advanced(0.0)
        if stored := self.source.find(self.job):  # by another process, or as the same job twice
            self._tell(self.job.scenario.duration_s, "stored")
            return stored
        with self.own.thread(bool(own_algorithms_of(self.job.scenario))):
            made = self.source.make(self.job, self._advanced)
        self._tell(self.job.scenario.duration_s, "finished")
        return made

    def _advanced(self, simulated_s: float) -> None:
        if self.stop.is_set():
            raise CancelledError("stopped before its end")
        self._tell(simulated_s, "running")

    def _tell(self, simulated_s: float, state: State) -> None:
        if self.progress:
            self.progress(Update(self.index, self.job, simulated_s, state))
