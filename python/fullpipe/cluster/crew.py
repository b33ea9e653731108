"""Workers of a sweep in a shared folder: threads that claim chunks, run jobs and store runs."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from fullpipe.cluster.folder import SweepFolder, sweeps_in
from fullpipe.cluster.leases import RENEW_S, SHORTEST_S, Claim, chunk_runs
from fullpipe.cluster.plan import Plan
from fullpipe.errors import FolderError, FullpipeError, VersionError
from fullpipe.runs import Run, Store
from fullpipe.runs.executor import Attempt, Interruptible, Job, Outcome, Progress, RunSource
from fullpipe.sweeps import KeptRuns

# Runs that are made in a local folder, and copied into the shared store when complete.


@dataclass(frozen=True)
class ScratchRuns:
    """Finds runs in a shared store. Missing runs are made in a local store and then copied to the shared
    store."""

    shared: KeptRuns
    local: KeptRuns

    def find(self, job: Job) -> Run | None:
        """Find the run of a job in the shared store. A run that is only in the local store is copied
        first."""
        found = self.shared.find(job)
        if found:
            return found
        left = self.local.find(job)
        return self._publish(left) if left else None

    def make(self, job: Job, progress: Callable[[float], None] | None) -> Run:
        """Run a job locally and copy the run into the shared store."""
        return self._publish(self.local.make(job, progress))

    def _publish(self, run: Run) -> Run:
        """Copy a run into the shared store and remove the local run."""
        assert self.shared.store
        shared = self.shared.store.save(run)
        if run.folder:
            shutil.rmtree(run.folder, ignore_errors=True)
        return shared


# Threads of this process that claim chunks of a sweep, run their jobs, and renew their claims.


_IDLE_S = 0.5
"""Interval in s at which idle threads look for work."""
_SURE_S = 1.0
"""Minimum time in s between two renewals of a claim. A renewed claim cannot expire within this time."""
_TOO_LONG = 2.0
"""Factor: if a chunk takes longer than its planned duration times this factor, its remaining jobs are
released."""


class _StoppedError(Exception):
    """The crew was stopped during a run."""


class Crew:
    """Threads that work on a sweep until it is finished or they are stopped.

    Args:
        folder: The folder of the sweep.
        job: Function that returns a job by its index. If the function raises a VersionError, the crew stops.
        source: Source that finds, makes and stores runs.
        workers: Number of threads.
        progress: Function that is called with every update of a run.
        heard: Function that is called with the outcome of every job that this process tried.
    """

    def __init__(
        self,
        folder: SweepFolder,
        job: Callable[[int], Job],
        source: RunSource,
        workers: int,
        progress: Progress | None,
        heard: Callable[[int, Outcome], None],
    ) -> None:
        self._folder, self._chunks = folder, folder.chunks
        self._job, self._source, self._progress, self._heard = job, source, progress, heard
        self._stop, self._own = Event(), Interruptible()
        self._idle = set[int]()
        self.error: BaseException | None = None
        """The error that stopped the crew."""
        self._threads = [
            Thread(target=self._labour, args=(number,), name=f"worker-{number}", daemon=True)
            for number in range(max(1, workers))
        ]
        self._renewing = Thread(target=self._renew, name="leases", daemon=True)

    def __enter__(self) -> "Crew":
        for thread in (*self._threads, self._renewing):
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the threads, and release unfinished jobs."""
        self._stop.set()
        self._own.interrupt()
        for thread in (*self._threads, self._renewing):
            thread.join()
        self._folder.leave()

    @property
    def is_idle(self) -> bool:
        """Whether no thread has a job, or the crew has stopped."""
        return len(self._idle) == len(self._threads) or self._stop.is_set()

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_S):
            with suppress(OSError):  # the next renewal may succeed
                self._chunks.renew_all()

    def _labour(self, number: int) -> None:
        run_s: float | None = None
        try:
            while not self._stop.is_set():
                claim = self._next(run_s)
                if claim is None:
                    self._idle.add(number)
                    self._stop.wait(_IDLE_S)
                else:
                    self._idle.discard(number)
                    run_s = self._work(claim, run_s)
        except OSError as error:
            told = f"{self._folder.path}: {error.strerror or error}; repeat the command to continue"
            self.error = self.error or FolderError(told)
            self._stop.set()
        except BaseException as error:
            if not self._stop.is_set() or isinstance(error, FullpipeError):
                self.error = self.error or error
            self._stop.set()

    def _next(self, run_s: float | None) -> Claim | None:
        """Claim or take over a chunk, and shorten it to the size of `chunk_runs`. None if there is no
        chunk."""
        left = sum(chunk.runs for chunk in self._chunks.open())
        claim = self._chunks.claim() if left else self._chunks.take_over()
        if claim is None:
            return None
        runs = chunk_runs(run_s, max(left, claim.range.runs), len(self._chunks.claimed()))
        return self._chunks.shorten(claim, claim.range.start + runs)

    def _work(self, claim: Claim, run_s: float | None) -> float | None:
        """Run the jobs of a chunk, and return the time per job in s. After an exception, the chunk is
        released."""
        began_s = renewed_s = time.monotonic()
        index = first = claim.range.start
        try:
            while index < claim.range.stop:
                if time.monotonic() - renewed_s > _SURE_S:
                    if not self._chunks.renew(claim):
                        break  # the lease expired while this process was suspended
                    renewed_s = time.monotonic()
                self._try(index)
                index += 1
                passed_s = time.monotonic() - began_s
                planned_s = max(SHORTEST_S, claim.range.runs * (run_s or 0.0))
                if passed_s > _TOO_LONG * planned_s:
                    claim = self._chunks.shorten(claim, index)
        except BaseException:
            self._chunks.release(claim)
            raise
        if index == claim.range.stop:
            self._chunks.finish(claim)
        return (time.monotonic() - began_s) / (index - first) if index > first else run_s

    def _try(self, index: int) -> None:
        outcome = Attempt(index, self._job(index), self._source, self._progress, self._stop, self._own)()
        if outcome.error:
            if self._stop.is_set():
                raise _StoppedError
            self._folder.fail(index, outcome.error)
        self._heard(index, outcome)


# The worker of `fullpipe work`, which runs jobs of all sweeps of a store until no job is left.


_PULSE_S = 0.1
_LOOK_S = 1.0


@dataclass
class Counts:
    """Numbers of jobs that a process has run."""

    finished: int = 0
    failed: int = 0
    refused: list[str] = field(default_factory=list)
    """Errors of sweeps that this process cannot run, one line each."""

    def __post_init__(self) -> None:
        self._lock = Lock()

    def count(self, outcome: Outcome) -> None:
        """Count a job as finished or failed. This method can be called from any thread."""
        with self._lock:
            self.failed += outcome.error is not None
            self.finished += outcome.error is None


@dataclass(frozen=True)
class Worker:
    """Works on the sweeps of a store.

    Args:
        root: The folder of the store.
        workers: Maximum number of simultaneous runs.
        scratch: Local folder in which runs are made before they are copied to the store.
        allow_python: Import the classes of `python:module:Class`.
        wait_s: Time in s to wait for new jobs when no job is left.
        say: Function that is called with one line for every sweep on which the worker begins to work.
    """

    root: Path
    workers: int = 1
    scratch: Path | None = None
    allow_python: bool = False
    wait_s: float = 0.0
    say: Callable[[str], None] = print

    def work(self, counts: Counts) -> None:
        """Run jobs until there has been no job for `wait_s`.

        Raises:
            FolderError: If the store or the scratch folder cannot be written.
            DiskFullError: If a disk is full.
        """
        refused, end_s = set[str](), time.monotonic() + self.wait_s
        while True:
            for folder in sweeps_in(self.root):
                if folder.path.name not in refused and folder.chunks.pending():
                    self._one(folder, counts, refused)
                    end_s = time.monotonic() + self.wait_s
            left = [f for f in sweeps_in(self.root) if f.path.name not in refused and f.chunks.pending()]
            if not left and time.monotonic() >= end_s:
                return
            time.sleep(_PULSE_S)

    def _one(self, folder: SweepFolder, counts: Counts, refused: set[str]) -> None:
        try:
            plan = folder.plan()
            plan.check(self.allow_python)
            self._join(folder, plan, counts)
        except FileNotFoundError:  # the sweep is finished
            return
        except VersionError as error:
            refused.add(folder.path.name)
            counts.refused.append(str(error))

    def _join(self, folder: SweepFolder, plan: Plan, counts: Counts) -> None:
        self.say(f'working on sweep {plan.id} of "{plan.name}": {plan.runs:,} runs')
        with Store(self.root).batch() as store, self._crew(folder, plan, store, counts) as crew:
            look_at_s = time.monotonic() + _LOOK_S
            while not crew.error:
                time.sleep(_PULSE_S)
                if crew.is_idle and time.monotonic() >= look_at_s:
                    if not folder.chunks.pending():
                        break
                    look_at_s = time.monotonic() + _LOOK_S
        if crew.error:
            raise crew.error

    def _crew(self, folder: SweepFolder, plan: Plan, store: Store, counts: Counts) -> Crew:
        source: RunSource = KeptRuns(store, plan.cca_timeout_s)
        if self.scratch:
            source = ScratchRuns(KeptRuns(store), KeptRuns(Store(self.scratch), plan.cca_timeout_s))
        return Crew(
            folder,
            lambda index: plan.job(index, self.allow_python),
            source,
            self.workers,
            None,
            lambda _, outcome: counts.count(outcome),
        )
