"""Runs a sweep on a Dask cluster: one on this machine, one that is there already, or one made of SLURM jobs.

Only the plan crosses to the workers, once, and then ranges of jobs; what comes back is which of them failed.
Workers find and keep runs in the store, a folder that they see under the same name. A chunk whose worker dies
is given to another one, which finds in the store what was finished.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from fullpipe.cluster.failures import error_told
from fullpipe.cluster.folder import pieces
from fullpipe.cluster.plan import Plan
from fullpipe.cluster.remote import FATAL, make_chunk
from fullpipe.cluster.sizes import chunk_runs
from fullpipe.cluster.stored import made_elsewhere, stored
from fullpipe.errors import ClusterError, EngineError, FullpipeError
from fullpipe.runs.executor import Outcome, Progress, RunSource, State, Update
from fullpipe.runs.jobs import Job

Connect = Callable[[], AbstractContextManager[Any]]
"""Makes a client of a cluster: a `distributed.Client`."""
_PULSE_S = 0.2
_AHEAD = 2
"""Chunks per thread of a worker that are handed out: one that runs, and one that waits."""
_COMPUTED_AGAIN = ("lost", "pending")
"""A result whose worker ended before it was read: the scheduler gives the task to another worker."""


@dataclass(frozen=True)
class Dask:
    """Runs jobs on a Dask cluster.

    Args:
        client: Makes a client of the cluster, which is closed at the end.
        root: The folder of the store, which every worker sees.
        cca_timeout_s: How long one call into an algorithm written in Python may take.
        allow_python: Let workers import what `python:module:Class` names.
    """

    client: Connect
    root: Path
    cca_timeout_s: float | None = None
    allow_python: bool = False

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """What became of every job, in the order of the jobs: see `fullpipe.sweeps.Executor`.

        Raises:
            ClusterError: If the cluster cannot be used.
            VersionError: If a worker is of another version.
            FolderError: If a worker cannot write to the store.
            DiskFullError: If a run cannot be kept because the disk is full.
        """
        todo, root = list(jobs), self.root.resolve()
        known = stored(todo, source, progress)
        missing = [index for index in range(len(todo)) if index not in known]
        with ExitStack() as stack:
            sweep = stack.enter_context(_Sweep(self, root, todo, missing)) if missing else None
            for index in range(len(todo)):
                while sweep and index not in known:
                    for done, error in sweep.advance():
                        job = todo[done]
                        known[done] = Outcome(job, error) if error else made_elsewhere(job, source, root)
                        state: State = "failed" if known[done].error else "finished"
                        if progress:
                            progress(Update(done, job, job.scenario.duration_s, state))
                yield known.pop(index)


class _Sweep:
    """The chunks of a sweep that are handed out, and those that wait."""

    def __init__(self, how: Dask, root: Path, todo: list[Job], missing: list[int]) -> None:
        self._how, self._root, self._left = how, root, deque(missing)
        self._plan = Plan.for_jobs(todo, how.cca_timeout_s)
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._out = dict[Any, list[int]]()
        self._again = deque[list[int]]()
        """Runs to be tried alone: workers died while they ran the chunk."""
        self._run_s: float | None = None
        self._stack = ExitStack()

    def __enter__(self) -> "_Sweep":
        self._client = self._stack.enter_context(self._how.client())
        self._sent = self._client.submit(bytes, self._plan.to_json(), pure=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.cancel(list(self._out))
        self._stack.close()

    def advance(self) -> list[tuple[int, FullpipeError | None]]:
        """Hand out what workers can take, wait a moment, and say which jobs are over, with their errors."""
        self._hand_out()
        try:
            future = self._done.get(timeout=_PULSE_S)
        except Empty:
            return []
        if future.status in _COMPUTED_AGAIN:
            future.add_done_callback(self._done.put)
            return []
        indices = self._out.pop(future)
        if future.status == "finished":
            answer = future.result()
            self._run_s = answer["run_s"]
            return [(i, error_told(answer["failed"][i]) if i in answer["failed"] else None) for i in indices]
        error = future.exception() if future.status == "error" else None
        if type(error).__name__ != "KilledWorker":
            raise _lost(error)
        if len(indices) == 1:
            return [(indices[0], EngineError(f"every worker that ran it ended: {error}"))]
        self._again.extend([index] for index in indices)
        return []

    def _hand_out(self) -> None:
        threads = sum(self._client.nthreads().values())
        while (self._left or self._again) and len(self._out) < _AHEAD * max(1, threads):
            runs = min(chunk_runs(self._run_s, len(self._left), threads), len(self._left))
            indices = self._again.popleft() if self._again else [self._left.popleft() for _ in range(runs)]
            ranges = [(r.start, r.stop) for r in pieces(indices, longest=len(indices))]
            where = (self._sent, ranges, str(self._root), self._how.allow_python)
            future = self._client.submit(make_chunk, *where, pure=False)
            self._out[future] = indices
            future.add_done_callback(self._done.put)


def _lost(error: Exception | None) -> Exception:
    if isinstance(error, FATAL):
        return error
    if error is None:
        return ClusterError("the Dask scheduler is gone; the same command continues")
    told = f"{type(error).__name__}: {error}"
    return ClusterError(f"a Dask worker cannot run this: {told}; is the same fullpipe installed there?")
