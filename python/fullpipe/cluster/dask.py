"""Execution of sweeps on a Dask cluster."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from fullpipe.cluster.folder import made_elsewhere, pieces, stored
from fullpipe.cluster.leases import Told, chunk_runs, error_told, told
from fullpipe.cluster.plan import Plan
from fullpipe.errors import ClusterError, DiskFullError, EngineError, FolderError, FullpipeError, VersionError
from fullpipe.runs import Store
from fullpipe.runs.executor import Job, Outcome, Progress, RunSource, State, Update
from fullpipe.sweeps import KeptRuns

# Execution of a chunk, on a worker of the cluster.


FATAL = (VersionError, FolderError, DiskFullError)
"""Errors that would also occur in all other runs."""


def make_chunk(plan: bytes, ranges: list[tuple[int, int]], root: str, allow_python: bool) -> dict[str, Any]:
    """Find or make the runs of a chunk. Return the errors of failed runs by index, and the time per run in
    s."""
    jobs, began_s, failed = _read(plan, allow_python), monotonic(), dict[int, Told]()
    indices = [index for start, stop in ranges for index in range(start, stop)]
    with Store(Path(root)).batch() as store:
        source = KeptRuns(store, jobs.cca_timeout_s)
        for index in indices:
            try:
                job = jobs.job(index, allow_python)
                source.find(job) or source.make(job, None)
            except FATAL:
                raise
            except Exception as error:
                failed[index] = told(error)
    return {"failed": failed, "run_s": (monotonic() - began_s) / len(indices)}


@lru_cache(maxsize=4)
def _read(plan: bytes, allow_python: bool) -> Plan:
    """Read and check a plan, once per worker."""
    read = Plan.from_json(plan, "the plan")
    read.check(allow_python)
    return read


# Execution of a sweep on a Dask cluster, which is local, already running, or started as SLURM jobs. Workers
# receive the plan once, and then ranges of jobs. Workers return the errors of failed jobs. Workers write the
# runs to the store, a folder with the same path on all machines. If a worker dies, another worker gets its
# chunk, and finds the runs that are already stored.


Connect = Callable[[], AbstractContextManager[Any]]
"""Type of a function that makes the client of a cluster, a `distributed.Client`."""
_PULSE_S = 0.2
_AHEAD = 2
"""Number of chunks submitted per thread of a worker: one that runs, and one that waits."""
_COMPUTED_AGAIN = ("lost", "pending")
"""States of a task whose worker ended before the result was read. The Dask scheduler runs the task again."""


@dataclass(frozen=True)
class Dask:
    """Runs jobs on a Dask cluster.

    Args:
        client: Function that makes a client of the cluster. The client is closed after the sweep.
        root: The folder of the store, which every worker must be able to access.
        cca_timeout_s: Maximum duration of one call into an algorithm written in Python.
        allow_python: Let workers import the classes of `python:module:Class`.
    """

    client: Connect
    root: Path
    cca_timeout_s: float | None = None
    allow_python: bool = False

    def stream(
        self, jobs: Iterable[Job], source: RunSource, progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Run jobs, and yield the outcome of each job in the order of the jobs: see
        `fullpipe.sweeps.Executor`.

        Raises:
            ClusterError: If the cluster cannot be used.
            VersionError: If a worker has another version of fullpipe.
            FolderError: If a worker cannot write to the store.
            DiskFullError: If a run cannot be stored because the disk is full.
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
    """The chunks of a sweep that were submitted to the cluster, and the remaining jobs."""

    def __init__(self, how: Dask, root: Path, todo: list[Job], missing: list[int]) -> None:
        self._how, self._root, self._left = how, root, deque(missing)
        self._plan = Plan.for_jobs(todo, how.cca_timeout_s)
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._out = dict[Any, list[int]]()
        self._again = deque[list[int]]()
        """Jobs to try one by one, because too many workers died while running their chunk."""
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
        """Submit chunks, wait briefly, and return the indices of finished jobs with their errors."""
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
            return [(indices[0], EngineError(f"every worker that executed this run ended: {error}"))]
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
        return ClusterError("the Dask scheduler has ended; repeat the command to continue the sweep")
    told = f"{type(error).__name__}: {error}"
    return ClusterError(f"a Dask worker cannot run the jobs: {told}; install the same fullpipe on the worker")
