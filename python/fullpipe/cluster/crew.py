"""Threads of this process that claim chunks of a sweep, run their jobs, and renew their claims."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from fullpipe.cluster.chunks import Claim
from fullpipe.cluster.folder import SweepFolder
from fullpipe.cluster.lease import RENEW_S
from fullpipe.cluster.sizes import SHORTEST_S, chunk_runs
from fullpipe.errors import FolderError, FullpipeError
from fullpipe.runs.executor import Attempt, Outcome, Progress, RunSource
from fullpipe.runs.interrupt import Interruptible
from fullpipe.runs.jobs import Job

_IDLE_S = 0.5
"""Interval at which idle threads look for work."""
_SURE_S = 1.0
"""A renewed claim is certain for this long, so it is not renewed more often."""
_TOO_LONG = 2.0
"""If a chunk takes longer than planned by this factor, its remaining jobs are released."""


class _StoppedError(Exception):
    """The crew was stopped during a run."""


class Crew:
    """Threads that work on a sweep until it is finished or they are stopped.

    Args:
        folder: The sweep.
        job: Returns a job by its index. A VersionError stops the crew.
        source: Finds, makes and stores runs.
        workers: Number of threads.
        progress: Called at every step.
        heard: Called with the outcome of every job that was tried here.
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
        """Stop, and release unfinished jobs."""
        self._stop.set()
        self._own.interrupt()
        for thread in (*self._threads, self._renewing):
            thread.join()
        self._folder.leave()

    @property
    def is_idle(self) -> bool:
        """Whether all threads are without work, or the crew has stopped."""
        return len(self._idle) == len(self._threads) or self._stop.is_set()

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_S):
            with suppress(OSError):  # it may work the next time
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
            told = f"{self._folder.path}: {error.strerror or error}; the same command continues"
            self.error = self.error or FolderError(told)
            self._stop.set()
        except BaseException as error:
            if not self._stop.is_set() or isinstance(error, FullpipeError):
                self.error = self.error or error
            self._stop.set()

    def _next(self, run_s: float | None) -> Claim | None:
        """Claim or take over a chunk of the right size. None if there is none."""
        left = sum(chunk.runs for chunk in self._chunks.open())
        claim = self._chunks.claim() if left else self._chunks.take_over()
        if claim is None:
            return None
        runs = chunk_runs(run_s, max(left, claim.range.runs), len(self._chunks.claimed()))
        return self._chunks.shorten(claim, claim.range.start + runs)

    def _work(self, claim: Claim, run_s: float | None) -> float | None:
        """Run the jobs of a chunk and return the time per job. If this fails, the chunk is released."""
        began_s = renewed_s = time.monotonic()
        index = first = claim.range.start
        try:
            while index < claim.range.stop:
                if time.monotonic() - renewed_s > _SURE_S:
                    if not self._chunks.renew(claim):
                        break  # another process has it, as this one was suspended for longer than the lease
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
