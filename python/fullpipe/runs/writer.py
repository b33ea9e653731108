"""Writes finished runs into a store, and makes them durable together."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING
from uuid import uuid4

from fullpipe import files
from fullpipe.errors import NoRunError, ResultError
from fullpipe.runs import segments
from fullpipe.runs.encoded import stream
from fullpipe.runs.entries import Entries, Stream
from fullpipe.runs.keep import keep
from fullpipe.runs.kept import PACKED, Kept, changed_ns, stamp_of
from fullpipe.runs.meta import EngineId, Meta
from fullpipe.runs.run import Run
from fullpipe.runs.sums import META

if TYPE_CHECKING:
    import polars as pl

_RACES = 10
_WRITING = ".writing"
"""Where runs are written, before they are complete."""
FEW = 8
"""So many runs are made durable one by one, for all that others write to a disk may take long; and the index
of the store notes them when it is next asked for."""
_MOST = 10_000
"""Runs that wait for the index."""
SUMMARIES = (*PACKED, "transfers")
"""Tables that are small in most runs, and wanted next where a run is made or found."""
Tables = Mapping[str, "pl.DataFrame"]


class Writer:
    """What a process writes into a store, from its first run to the next point at which all is durable.

    Runs are written in one hidden folder, and each is renamed when it is complete. A folder is not removed
    after every run: for a while, the file systems of Linux search for new inodes among those just removed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = RLock()
        self._stack = ExitStack()
        self._place: Path | None = None
        self._made = Entries()
        self._folders: list[Path] = []
        self._found = 0
        self._prepared: set[str] = set()
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

    def prepare(self, digest: str) -> None:
        """Find out whether a run of a digest can be written.

        Raises:
            OSError: If no run can.
            ResultError: If none of this digest can, because its folder is a link to elsewhere.
        """
        self.open()
        if digest in self._prepared:
            return
        folder = self._root / digest
        if folder.is_symlink():
            raise ResultError(f"{folder}: is a link; remove it, or make a link of {self._root} itself")
        self._prepared.add(digest)

    def write(self, run: Run, final: Path) -> Kept | None:
        """Write a run and give it its final name, unless an equal one has that.

        Returns:
            The run with its new name; None if an equal one was there.

        Raises:
            OSError: If it cannot be written.
            ResultError: If a table cannot be, or other processes keep writing the same run.
        """
        with self._draft() as complete:
            kept = Kept(final, run.meta, keep(complete, run.meta, run.tables))
            return self._publish(complete, kept, run.tables)

    def copy(self, kept: Kept, final: Path) -> Kept | None:
        """Copy a run of another store, as `write` does.

        Raises:
            OSError: If it cannot be copied.
            ResultError: If it is damaged, or other processes keep writing the same run.
        """
        tables = {name: kept.table(name) for name in PACKED}
        with self._draft() as complete:
            for name in kept.files:
                with files.open_regular(kept.folder / name) as file:
                    files.put(f"{complete}/{name}", file.readall())
            return self._publish(complete, replace(kept, folder=final), tables)

    def remove(self, folder: Path) -> None:
        """Remove a run: first its name, so that it never counts by halves.

        Raises:
            OSError: If it cannot be removed.
        """
        with suppress(FileNotFoundError):
            os.rename(folder, self._new_place())
        with suppress(OSError):  # there are other runs of that digest
            folder.parent.rmdir()

    def _new_place(self) -> str:
        return f"{self.open()}/{next(self._numbers)}"

    @contextmanager
    def _draft(self) -> Iterator[str]:
        """A new folder to write a run in, which goes unless it gets another name."""
        complete = self._new_place()
        try:
            try:
                os.mkdir(complete)
            except FileNotFoundError:  # no run for a day: another machine took it for abandoned
                self._place = None
                complete = self._new_place()
                os.mkdir(complete)
            yield complete
        except BaseException:
            shutil.rmtree(complete, ignore_errors=True)
            raise

    def _publish(self, complete: str, kept: Kept, tables: Tables) -> Kept | None:
        kept = replace(kept, stamp=stamp_of(complete, (META, *kept.sums.files())))
        if not publish(complete, kept.folder, kept.meta):
            return None
        summaries = _streams(tables)
        with self._lock:
            if len(self._folders) <= FEW:
                self._folders.append(kept.folder)
            self._enlist(kept, summaries)
        return kept

    def enlist(self, kept: Kept, tables: Tables) -> None:
        """Note a run that was found, and of which every byte was held against its checksum."""
        summaries = _streams(tables)
        with self._lock:
            self._found += 1
            self._enlist(kept, summaries)

    def _enlist(self, kept: Kept, summaries: Mapping[str, Stream | None] | None) -> None:
        noted_ns = time.time_ns()
        if summaries is not None:
            with suppress(OSError):  # where an older version wrote the run, its file is read
                self._made.add(kept, summaries, changed_ns(kept.stamp), noted_ns)
        if kept.has_checksums:
            self._made.add_found(kept, noted_ns)
        if len(self._made.rows) >= _MOST:
            self._note()

    def close(self) -> None:
        """Wait until all that was written is on disk, and remove the hidden folder."""
        with self._lock:
            few = self._folders
            if len(few) + self._found > FEW:
                self._note()
            if self._place is None:  # nothing was written: what a killed process left goes all the same
                files.remove_leftovers(self._root / _WRITING)
            self._stack.close()
            self._made, self._folders, self._found, self._place = Entries(), [], 0, None
        with suppress(OSError):  # some file systems have no such thing
            if len(few) > FEW:
                files.sync_disk(self._root)
            else:
                _make_durable(self._root, few)

    def _note(self) -> None:
        """Write what was made into the index; without, it is read from the runs."""
        noted, self._made = self._made, Entries()
        with suppress(OSError, ResultError):
            if noted.rows:
                segments.add(self._root, self.open(), noted.tables())


def _streams(tables: Tables) -> Mapping[str, Stream | None] | None:
    """Tables for the index; None if one cannot be encoded: then the index reads them from the run."""
    with suppress(ResultError):
        return {name: stream(tables, name) for name in PACKED}
    return None


def _make_durable(root: Path, folders: Sequence[Path]) -> None:
    for folder in folders:
        with suppress(FileNotFoundError):  # another process may have removed it
            for path in (*folder.iterdir(), folder, folder.parent, root):
                files.sync(path)


def finished(folder: Path, digest: str, engine: EngineId, seed: int) -> Run | None:
    """The run in a folder, if it is whole and of this scenario, engine and seed; a folder can be a copy.

    Its summaries are at hand.
    """
    try:
        kept = Kept.read(folder)
    except NoRunError:
        return None
    is_it = (kept.meta.digest, kept.meta.engine, kept.meta.seed) == (digest, engine, seed)
    at_hand = kept.small(SUMMARIES) if is_it else None
    return None if at_hand is None else Run.from_kept(kept, at_hand)


def publish(complete: str, final: Path, meta: Meta) -> bool:
    """Give a complete folder its final name, unless an equal run has it; anything else there gives way.

    Returns:
        Whether it has the name now.
    """
    looked_for = meta.digest, meta.engine, meta.seed
    for _ in range(_RACES):
        try:
            os.rename(complete, final)
            return True
        except FileNotFoundError:
            final.parent.mkdir(exist_ok=True)
            continue
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if finished(final, *looked_for):
            shutil.rmtree(complete, ignore_errors=True)
            return False
        outdated = Path(complete).with_name(f"outdated-{uuid4().hex}")
        with suppress(FileNotFoundError):  # another process may have been quicker
            if files.exchange(Path(complete), final):  # an equal one that came since is as good as ours
                shutil.rmtree(complete, ignore_errors=True)
                return True
            final.rename(outdated)
            if finished(outdated, *looked_for):  # put in place since we looked: it goes back
                with suppress(OSError):
                    outdated.rename(final)
            shutil.rmtree(outdated, ignore_errors=True)
    raise ResultError(f"{final}: other processes keep writing the same run")
