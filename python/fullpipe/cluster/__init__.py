"""Many runs on many machines: executors that share a store."""

from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe import lazy
from fullpipe.errors import FolderError, UnknownNameError
from fullpipe.runs.executor import Executor, Threads

if TYPE_CHECKING:
    from fullpipe.cluster.files import Files

PLACES = ("local", "files", "dask", "dask://HOST:PORT", "slurm")
"""What `--on` takes."""


def executor(
    on: str,
    *,
    root: Path | None,
    workers: int,
    cca_timeout_s: float | None = None,
    allow_python: bool = False,
) -> Executor:
    """What runs jobs at a place.

    Args:
        on: "local": threads of this process. "files": those, and every `fullpipe work` that sees the store.
            "dask": processes of this machine. "dask://HOST:PORT": the workers of that scheduler of Dask.
            "slurm": jobs of SLURM.
        root: The folder of the store.
        workers: How many runs at the same time; a scheduler that is there already has its own workers.
        cca_timeout_s: How long one call into an algorithm written in Python may take.
        allow_python: Let workers of Dask import what `python:module:Class` names.

    Raises:
        UnknownNameError: If there is no such place.
        FolderError: If there is no store, without which only threads work.
        MissingExtraError: If Dask is not installed.
    """
    if on == "local":
        return Threads(workers)
    if on != "files" and not on.startswith(("dask", "slurm")):
        raise UnknownNameError("place to run on", on, PLACES)
    if root is None:
        raise FolderError(f"{on}: runs of other processes are found in a store; name its folder")
    if on == "files":
        from fullpipe.cluster.files import Files  # here, as below: threads need none of it

        return Files(root, workers, cca_timeout_s)
    from fullpipe.cluster.connect import connection
    from fullpipe.cluster.dask import Dask

    client = connection(on, workers)
    if client is None:
        raise UnknownNameError("place to run on", on, PLACES)
    return Dask(client, root, cca_timeout_s, allow_python)


__all__ = ["PLACES", "Executor", "Files", "Threads", "executor"]

__getattr__, __dir__ = lazy.names(__name__, {"Files": "files"})
