"""Jobs, their execution in threads, and the interruption of threads."""

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import prod
from threading import Event
from time import sleep
from typing import Any, Literal, Protocol, TypeVar

from fullpipe.errors import CancelledError, DiskFullError, FolderError, FullpipeError, ScenarioError
from fullpipe.runs.run import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.quantities import check_seed
from fullpipe.scenario.remembered import own_algorithms_of

# Conversion of scenarios to jobs.


MAX_JOBS = 1_000_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A run to execute: a scenario without a sweep, a seed, and an engine."""

    scenario: Scenario
    seed: int
    engine: str = "native"
    point: Mapping[str, Any] = field(default_factory=dict)
    """Swept paths with their values at this point; empty without a sweep."""

    def __post_init__(self) -> None:
        check_seed(self.seed)


def jobs(scenario: Scenario, seeds: Iterable[int] = (1,), engine: str = "native") -> list[Job]:
    """Return a job per point of a sweep and per seed. The seeds of a point are consecutive.

    Raises:
        ScenarioError: If a point or a seed is invalid, or there are more than a million jobs.
    """
    count = prod(len(axis) for axis in scenario.sweep.values())
    seeds = _few(seeds, count)
    points = zip(scenario.expand(), scenario.points(), strict=True)
    return [Job(expanded, seed, engine, point) for expanded, point in points for seed in seeds]


def points_of(todo: Iterable[Job]) -> list[Job]:
    """Return one job per engine and scenario. Seeds of a point share the scenario."""
    found = {(job.engine, id(job.scenario)): job for job in todo}
    return list({(job.engine, job.scenario.digest): job for job in found.values()}.values())


def _few(seeds: Iterable[int], points: int) -> list[int]:
    """Return the seeds as a list, or raise ScenarioError if they would make too many jobs."""
    chosen = list(islice(seeds, MAX_JOBS + 1))
    if points * len(chosen) > MAX_JOBS:
        least = "at least " if len(chosen) > MAX_JOBS else ""
        made = f"{least}{points * len(chosen):,} runs, {points:,} points with {least}{len(chosen):,} seeds"
        raise ScenarioError([f"sweep: {made}, are more than {MAX_JOBS:,}; use fewer points or fewer seeds"])
    return chosen


def by_point(made: Iterable[tuple[Job, T]]) -> list[tuple[Mapping[str, Any], list[T]]]:
    """Group results of jobs by the point of the sweep, in the order of the jobs."""
    points: dict[str, tuple[Mapping[str, Any], list[T]]] = {}
    for job, each in made:
        points.setdefault(str(job.point), (job.point, []))[1].append(each)
    return list(points.values())


# Interruption of threads that run users' algorithms, since such an algorithm can loop forever.


_GRACE_S = 0.5
"""Time in s for a thread to stop by itself. Threads check between two slices of a run whether to stop."""


class Interruptible:
    """The threads that currently run an algorithm written in Python."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def thread(self, is_own: bool) -> Iterator[None]:
        """Within this context, allow this thread to be interrupted if it runs code of a user."""
        if not is_own:
            yield
            return
        me = threading.get_ident()
        with self._lock:
            self._threads.add(me)
        try:
            yield
        finally:
            with self._lock:
                self._threads.discard(me)

    def _running(self) -> set[int]:
        """Return the registered threads that still run. An exception can prevent a thread from
        unregistering."""
        return self._threads & {thread.ident or 0 for thread in threading.enumerate()}

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in threads that still run after 0.5 s, and wait until all have ended."""
        end_s = time.monotonic() + _GRACE_S
        while self._running():
            time.sleep(0.05)
            if time.monotonic() < end_s:
                continue
            end_s = time.monotonic() + _GRACE_S
            with self._lock:  # no thread can unregister now, so no thread is interrupted after its run
                for thread in self._running():
                    raised = ctypes.py_object(KeyboardInterrupt)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


# Execution of jobs: the protocol of executors, and an executor that uses threads of one machine.
#
# Engines release the interpreter lock, so that threads compute in parallel without copying data.
# `fullpipe.cluster` has executors for several machines.


_AHEAD = 1_000
"""Maximum number of jobs submitted and not yet yielded. A sweep can have a million jobs."""
_PULSE_S = 0.1
_NAP_S = 0.02
"""Sleep in s of the thread that yields outcomes, before it waits for a worker. Waking this thread takes as
long as writing a run. Several short runs end during the sleep, so the thread wakes less often."""

State = Literal["running", "stored", "finished", "failed"]


@dataclass(frozen=True)
class Update:
    """Progress of a job: its index, the simulated time reached, and its state."""

    index: int
    job: Job
    simulated_s: float
    state: State


Progress = Callable[[Update], None]
"""Type of a function that is called with every update, from any thread."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a job: a run, or an error."""

    job: Job
    result: Run | Exception

    @property
    def error(self) -> Exception | None:
        """The error of a failed job, else None."""
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
    """Some jobs of a sweep failed. `outcomes` has the outcomes of all jobs, both finished and failed."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        failed = [outcome for outcome in outcomes if outcome.error]
        first, where = failed[0].error, failed[0].job
        which = f"{where.scenario.name} {where.scenario.digest}, seed {where.seed}"
        super().__init__(f"{len(failed)} of {len(outcomes)} runs failed; the first, {which}: {first}")
        self.outcomes = tuple(outcomes)


class RunSource(Protocol):
    """A source of the runs of jobs."""

    def find(self, job: Job) -> Run | None:
        """Return the stored run of a job, or None."""

    def make(self, job: Job, progress: Callable[[float], None] | None) -> Run:
        """Execute a job. `progress` is called with the simulated time that the run has reached, in s."""


class Executor(Protocol):
    """An executor runs jobs, on this machine or on other machines. All runs that an executor returns are in
    the store.

    Other packages can implement an executor and pass it to `fullpipe.sweep(..., on=...)`. The executor
    executes a job with `source.find(job) or source.make(job, None)`. In another process, which receives the
    job pickled, the source is `fullpipe.sweeps.KeptRuns(Store(root))`. The process that called `sweep` then
    finds the run with `source.find(job)`.
    """

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Yield the outcome of every job, in the order of the jobs, as early as possible.

        A failed job does not stop other jobs. If the caller leaves the iterator early, also by an interrupt,
        the running jobs are stopped.

        Raises:
            FolderError: If a run must be executed and the folder of the store cannot be written.
            DiskFullError: If a run cannot be stored because the disk is full.
        """
        ...


@dataclass(frozen=True)
class Threads:
    """An executor with threads of this process: `workers` jobs run in parallel."""

    workers: int = 1

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Yield the outcome of every job; see `Executor`."""
        stop, own, workers = Event(), Interruptible(), max(1, self.workers)
        with ThreadPoolExecutor(workers) as pool:
            try:
                waiting, begun = iter(enumerate(jobs)), deque[Outcome | Future[Outcome]]()
                while True:  # release each outcome as early as possible, as its run may be large
                    for index, job in islice(waiting, _AHEAD - len(begun)):
                        attempt = Attempt(index, job, source, progress, stop, own)
                        # Stored runs are looked up in this thread, as submitting a lookup to the pool takes
                        # as long as the lookup.
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
    """Wait for an outcome in short steps. With polars, system calls restart after signals, so Ctrl-C would
    not interrupt a long wait."""
    if isinstance(begun, Outcome):
        return begun
    while True:
        try:
            return begun.result(timeout=_PULSE_S)
        except TimeoutError:
            if begun.done():  # the job itself raised the TimeoutError
                raise


@dataclass(frozen=True)
class Attempt:
    """A job, with the objects that a thread needs to run the job."""

    index: int
    job: Job
    source: RunSource
    progress: Progress | None
    stop: Event
    own: Interruptible

    def found(self) -> Outcome | None:
        """Return the outcome if the run is stored, else None. Errors are ignored; `__call__` raises them."""
        stored = None
        with suppress(Exception):
            stored = self.source.find(self.job)
        return self._as_outcome(partial(self._stored, stored)) if stored else None

    def __call__(self) -> Outcome:
        return self._as_outcome(self._run)

    def _as_outcome(self, run: Callable[[], Run]) -> Outcome:
        try:
            return Outcome(self.job, run())
        except (FolderError, DiskFullError):  # the runs of other jobs could not be stored either
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
        if stored := self.source.find(self.job):  # stored by another process, or for an equal job
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
