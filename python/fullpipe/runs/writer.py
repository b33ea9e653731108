"""Writes finished runs into a store, and makes them durable together."""

import errno
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from threading import Lock
from uuid import uuid4

from fullpipe.errors import NoRunError, ResultError
from fullpipe.io import files
from fullpipe.runs.kept import Kept, Sums, keep
from fullpipe.runs.meta import EngineId
from fullpipe.runs.run import Run

_RACES = 10
_WRITING = ".writing"
"""Where runs are written, before they are complete."""
_FEW = 8
"""So many folders are made durable one by one: all that others write to a disk may take long."""


class Writer:
    """What a process writes into a store, from its first run to the next point at which all is durable.

    Runs are written in one hidden folder, and each is renamed when it is complete. A folder is not removed
    after every run: for a while, the file systems of Linux search for new inodes among those just removed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = Lock()
        self._stack = ExitStack()
        self._place: Path | None = None
        self._made: list[Path] = []
        self._numbers = count()

    def open(self) -> Path:
        """The hidden folder.

        Raises:
            OSError: If the store cannot be written.
        """
        with self._lock:
            if self._place is None:
                folder = self._root / _WRITING
                folder.mkdir(parents=True, exist_ok=True)
                files.remove_leftovers(folder)
                self._place = self._stack.enter_context(files.hidden(folder))
            return self._place

    def write(self, run: Run, final: Path) -> Sums | None:
        """Write a run and give it its final name, unless an equal one has that.

        Returns:
            What it is known by; None if an equal one was there.

        Raises:
            OSError: If it cannot be written.
            ResultError: If a table cannot be, or other processes keep writing the same run.
        """
        complete = self.open() / str(next(self._numbers))
        try:
            complete.mkdir()
            sums = keep(complete, run.meta, run.tables)
            if not publish(complete, final, run.meta.digest, run.meta.engine):
                return None
        except BaseException:
            shutil.rmtree(complete, ignore_errors=True)
            raise
        self._made.append(final)
        return sums

    def close(self) -> None:
        """Wait until all that was written is on disk, and remove the hidden folder."""
        with self._lock:
            made, self._made, self._place = self._made, [], None
            self._stack.close()
        if made:
            with suppress(OSError):  # some file systems have no such thing
                _make_durable(self._root, made)


def _make_durable(root: Path, folders: Sequence[Path]) -> None:
    if len(folders) > _FEW:
        files.sync_disk(root)
        return
    for folder in folders:
        with suppress(FileNotFoundError):  # another process may have removed it
            for path in (*folder.iterdir(), folder, folder.parent, root):
                files.sync(path)


def finished(folder: Path, digest: str, engine: EngineId) -> Kept | None:
    """The run in a folder, if it is whole and of this scenario by this engine."""
    try:
        kept = Kept.read(folder)
    except NoRunError:
        return None
    is_it = (kept.meta.digest, kept.meta.engine) == (digest, engine)
    return kept if is_it and kept.is_intact else None


def publish(complete: Path, final: Path, digest: str, engine: EngineId) -> bool:
    """Give a complete folder its final name, unless an equal run has it; anything else there gives way.

    Returns:
        Whether it has the name now.
    """
    for _ in range(_RACES):
        try:
            complete.rename(final)
            return True
        except FileNotFoundError:
            final.parent.mkdir(exist_ok=True)
            continue
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if finished(final, digest, engine):
            shutil.rmtree(complete, ignore_errors=True)
            return False
        outdated = complete.with_name(f"outdated-{uuid4().hex}")
        with suppress(FileNotFoundError):  # another process may have been quicker
            final.rename(outdated)
            if finished(outdated, digest, engine):  # put in place since we looked: it goes back
                with suppress(OSError):
                    outdated.rename(final)
            shutil.rmtree(outdated, ignore_errors=True)
    raise ResultError(f"{final}: other processes keep writing the same run")
