"""Many runs on many machines: executors that share a store."""

from pathlib import Path

from fullpipe.cluster.files import Files
from fullpipe.errors import FolderError, UnknownNameError
from fullpipe.runs.executor import Executor, Threads

PLACES = ("local", "files")
"""What `--on` takes."""


def executor(on: str, *, root: Path | None, workers: int, cca_timeout_s: float | None = None) -> Executor:
    """What runs jobs at a place.

    Args:
        on: "local": threads of this process. "files": those, and every `fullpipe work` that sees the store.
        root: The folder of the store.
        workers: How many runs at the same time, of this process.
        cca_timeout_s: How long one call into an algorithm written in Python may take.

    Raises:
        UnknownNameError: If there is no such place.
        FolderError: If there is no store, without which only threads work.
    """
    if on == "local":
        return Threads(workers)
    if on not in PLACES:
        raise UnknownNameError("place to run on", on, PLACES)
    if root is None:
        raise FolderError(f"{on}: runs of other processes are found in a store; name its folder")
    return Files(root, workers, cca_timeout_s)


__all__ = ["PLACES", "Executor", "Files", "Threads", "executor"]
