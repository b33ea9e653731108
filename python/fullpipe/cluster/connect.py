"""Clients of Dask clusters, which are started on this machine, already running, or started as SLURM jobs.

Other settings of a cluster, such as the account and the queue of SLURM jobs, are in Dask's configuration.
"""

import logging
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from math import ceil
from threading import Event, Thread
from typing import Any

from fullpipe.cluster.dask import Connect
from fullpipe.errors import ClusterError, MissingExtraError

_ADDRESS = re.compile(r"dask://([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})", re.ASCII)
_UNDISTURBED = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""Code that local workers run to ignore Ctrl-C, which terminals send to all processes."""
_ANSWERS = "10s"
"""Maximum time for a scheduler to answer."""
_DEATHS = 10
"""Number of workers that may die while running a chunk before its runs are tried one by one. Workers can also
die at the end of their walltime."""
_FILL_S = 5.0
"""Interval at which missing workers are requested."""
_LIFETIME, _STAGGER = 55 / 60, 4 / 60
"""Fractions of a SLURM job's walltime after which its worker ends by itself, and by which workers differ.
Workers finish their current runs and are replaced (dask-jobqueue, "Handling walltime")."""


def connection(on: str, workers: int) -> Connect | None:
    """Return a function that makes a client for `--on`. None if `on` is not a Dask cluster.

    Args:
        on: "dask", "dask://HOST:PORT" or "slurm".
        workers: Maximum number of simultaneous runs on clusters that are started here.

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
    """Start a cluster, keep its number of workers, and stop it at the end of the context."""
    library("dask").config.set({"distributed.scheduler.allowed-failures": _DEATHS})
    cluster, fill = made()
    with cluster, _every(_FILL_S, fill), library("distributed").Client(cluster) as client:
        yield client


@contextmanager
def _every(pause_s: float, call: Callable[[], None]) -> Iterator[None]:
    """Call a function at intervals. Dask replaces dead workers only when workers are requested."""
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
    """Remove workers that were killed during their start, which Dask would count as workers forever."""
    for name, worker in list(workers.items()):
        if worker.status.name in ("closed", "failed"):
            del workers[name]


def _slurm(workers: int) -> tuple[Any, Callable[[], None]]:
    if shutil.which("sbatch") is None:
        raise ClusterError("slurm: there is no sbatch on this machine; use one that has it, or --on files")
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
        ClusterError: If it is not a time.
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
        raise ClusterError(f'jobqueue.slurm.walltime: "{text}" is no time; write it as 01:00:00') from None


def library(name: str) -> Any:
    """Import a package of the extra `dask`.

    Raises:
        MissingExtraError: If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"{name} is not installed; pip install 'fullpipe[dask]' brings it") from None
