"""Execution of sweeps by processes that share a folder, and clients of Dask clusters."""

import logging
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import ceil
from pathlib import Path
from threading import Event, Thread
from typing import Any

from fullpipe.cluster.crew import Crew
from fullpipe.cluster.dask import Connect
from fullpipe.cluster.folder import SweepFolder, begin, made_elsewhere, stored
from fullpipe.cluster.plan import Plan
from fullpipe.errors import ClusterError, MissingExtraError
from fullpipe.runs.executor import Job, Outcome, Progress, RunSource, Update

# Execution of a sweep by processes that share the folder of the store. There is no scheduler.


_PULSE_S = 0.05
_LOOK_S = 0.5
"""Interval in s at which jobs that other processes have finished are looked up."""


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
        """Run jobs, and yield the outcome of each job in the order of the jobs: see
        `fullpipe.sweeps.Executor`.

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
    """Waits for the outcomes of jobs, which this process or another process runs."""

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
        """For every job, whether it is no longer in a chunk."""
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
                time.sleep(_PULSE_S)  # short, since with polars signals do not end a sleep
        return self._known.pop(index)

    def _look(self, first: int) -> None:
        import numpy as np  # imported here, as other executors do not need it

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
        """Return the outcome of a job that another process has run. None if another command has put the job
        into a chunk again."""
        job = self._todo[index]
        failure = self._folder.failure(index)
        if failure:
            run = self._source.find(job)
            return Outcome(job, run or failure.error)
        made = made_elsewhere(job, self._source, self._root)
        self._look(index)
        return made if made.error is None or self._is_over[index] else None


# Clients of Dask clusters. A cluster is started on this machine, already running, or started as SLURM jobs.
#
# All other settings of a cluster, such as account and queue of SLURM jobs, are read from Dask's
# configuration.


_ADDRESS = re.compile(r"dask://([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})", re.ASCII)
_UNDISTURBED = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""Code that local workers run to ignore Ctrl-C, which terminals send to all processes."""
_ANSWERS = "10s"
"""Maximum time within which a Dask scheduler must answer."""
_DEATHS = 10
"""Number of workers that may die while running a chunk. After that, the runs of the chunk are tried one by
one. The number is high, as workers also die at the end of their walltime."""
_FILL_S = 5.0
"""Interval in s at which replacements of dead workers are requested."""
_LIFETIME, _STAGGER = 55 / 60, 4 / 60
"""Fraction of the walltime of a SLURM job after which its worker ends by itself, and the fraction by which
this time varies between workers. Workers first finish their current runs, and are then replaced
(dask-jobqueue, "Handling walltime")."""


def connection(on: str, workers: int) -> Connect | None:
    """Return a function that makes a client for `--on`. None if `on` is not a Dask cluster.

    Args:
        on: "dask", "dask://HOST:PORT" or "slurm".
        workers: Maximum number of simultaneous runs, for clusters that this process starts.

    Raises:
        MissingExtraError: If Dask is not installed.
    """
    library("distributed")
    found = _ADDRESS.fullmatch(on)
    if found:
        return partial(_at, f"tcp://{found[1]}:{found[2]}")
    made = {"dask": _local, "slurm": _slurm}.get(on)
    return partial(_of, partial(made, workers)) if made else None


@contextmanager
def _at(address: str) -> Iterator[Any]:
    """Connect to a running scheduler."""
    distributed = library("distributed")
    try:
        client = distributed.Client(address, timeout=_ANSWERS)
    except (OSError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        yield client


@contextmanager
def _of(made: Callable[[], tuple[Any, Callable[[], None]]]) -> Iterator[Any]:
    """Start a cluster, replace its dead workers, and stop the cluster at the end of the context."""
    library("dask").config.set({"distributed.scheduler.allowed-failures": _DEATHS})
    cluster, fill = made()
    with cluster, _every(_FILL_S, fill), library("distributed").Client(cluster) as client:
        yield client


@contextmanager
def _every(pause_s: float, call: Callable[[], None]) -> Iterator[None]:
    """Context in which a thread calls `call` every `pause_s`, since Dask replaces dead workers only on
    request."""
    over = Event()

    def repeat() -> None:
        call()
        while not over.wait(pause_s):
            call()

    thread = Thread(target=repeat, name="workers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _local(workers: int) -> tuple[Any, Callable[[], None]]:
    cluster = library("distributed").LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
        preload=[_UNDISTURBED],
    )

    def fill() -> None:
        cluster.loop.add_callback(_forget_dead, cluster.workers)
        cluster.scale(workers)

    return cluster, fill


def _forget_dead(workers: dict[Any, Any]) -> None:
    """Remove workers that were killed during their start, since Dask would count them as workers forever."""
    for name, worker in list(workers.items()):
        if worker.status.name in ("closed", "failed"):
            del workers[name]


def _slurm(workers: int) -> tuple[Any, Callable[[], None]]:
    if shutil.which("sbatch") is None:
        raise ClusterError(
            "slurm: there is no sbatch on this machine; use a machine with sbatch, or --on files"
        )
    cluster = slurm_cluster()
    return cluster, partial(cluster.scale, jobs=ceil(workers / _cores()))


def slurm_cluster() -> Any:
    """Make a cluster of SLURM jobs from Dask's configuration `jobqueue.slurm`, without submitting any."""
    jobqueue = library("dask_jobqueue")  # the import adds its defaults to the configuration
    config, cores = library("dask").config.get("jobqueue.slurm"), _cores()
    walltime_s = walltime(str(config["walltime"]))
    ending = [
        "--lifetime",
        f"{walltime_s * _LIFETIME:.0f}s",
        "--lifetime-stagger",
        f"{walltime_s * _STAGGER:.0f}s",
    ]
    return jobqueue.SLURMCluster(
        cores=cores,
        memory=config["memory"] or f"{2 * cores}GB",
        processes=config["processes"] or 1,  # Dask does not replace jobs with several processes
        worker_extra_args=[*config["worker-extra-args"], *ending],
        scheduler_options={"dashboard_address": ":0"} | config["scheduler-options"],
    )


def _cores() -> int:
    return int(library("dask").config.get("jobqueue.slurm.cores", None) or 1)


def walltime(text: str) -> int:
    """Convert a time in SLURM's format to seconds: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS.

    >>> [walltime(text) for text in ("30", "30:00", "00:30:00", "1-12")]
    [1800, 1800, 1800, 129600]

    Raises:
        ClusterError: If the text is not a time.
    """
    days, dash, rest = text.rpartition("-")
    try:
        parts = [int(part) for part in rest.split(":")]
        if dash:
            hours, minutes, seconds = (*parts, 0, 0)[:3]
        elif len(parts) < 3:
            hours, minutes, seconds = 0, *(*parts, 0)[:2]
        else:
            hours, minutes, seconds = parts
        return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
    except ValueError:
        raise ClusterError(f'jobqueue.slurm.walltime: "{text}" is not a time; write it as 01:00:00') from None


def library(name: str) -> Any:
    """Import a package of the extra `dask`.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"{name} is not installed; install it with: pip install 'fullpipe[dask]'"
        ) from None
