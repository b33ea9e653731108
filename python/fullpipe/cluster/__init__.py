"""Executors that run sweeps on many machines with a shared store."""

from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.errors import FolderError, UnknownNameError
from fullpipe.runs.executor import Executor, Threads

if TYPE_CHECKING:
    from fullpipe.cluster.connect import Files

PLACES = ("local", "files", "dask", "dask://HOST:PORT", "slurm")
"""Values of the option `--on`."""


def executor(
    on: str,
    *,
    root: Path | None,
    workers: int,
    cca_timeout_s: float | None = None,
    allow_python: bool = False,
) -> Executor:
    """Make the executor for a value of `--on`.

    Args:
        on: "local": threads of this process. "files": threads of this process and of every `fullpipe work`
            that can access the store. "dask": processes of this machine. "dask://HOST:PORT": workers of that
            Dask scheduler. "slurm": SLURM jobs.
        root: The folder of the store.
        workers: Maximum number of simultaneous runs. A Dask scheduler that is already running uses all of its
            workers.
        cca_timeout_s: Maximum duration of one call into an algorithm written in Python.
        allow_python: Let Dask workers import the classes of `python:module:Class`.

    Raises:
        UnknownNameError: If `on` is not a valid value.
        FolderError: If there is no store, which all executors except "local" need.
        MissingExtraError: If Dask is not installed.
        ClusterError: If "slurm" is given and there is no sbatch on this machine.
    """
    if on == "local":
        return Threads(workers)
    if on != "files" and not on.startswith(("dask", "slurm")):
        raise UnknownNameError("place to run on", on, PLACES)
    if root is None:
        raise FolderError(f"--on {on}: processes share runs through a store; name its folder with --out")
    if on == "files":
        from fullpipe.cluster.connect import Files  # imported here, as threads need no connections

        return Files(root, workers, cca_timeout_s)
    from fullpipe.cluster.connect import connection
    from fullpipe.cluster.dask import Dask

    client = connection(on, workers)
    if client is None:
        raise UnknownNameError("place to run on", on, PLACES)
    return Dask(client, root, cca_timeout_s, allow_python)


__all__ = ["PLACES", "Executor", "Files", "Threads", "executor"]

__getattr__, __dir__ = lazy.names(__name__, {"Files": "connect"})
