"""Writing of runs into a store."""

from __future__ import annotations

import errno
import json
import os
import pickle
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

from pydantic_core import to_jsonable_python

from fullpipe import files
from fullpipe.errors import NoRunError, ResultError
from fullpipe.runs import segments
from fullpipe.runs.encoding import (
    META,
    PACKED_FILE,
    Encoded,
    Sum,
    Sums,
    checksum,
    columns_today,
    encoded,
    has_schema,
    is_parquet,
    own_file,
    sealed,
    stream,
)
from fullpipe.runs.entries import Entries, Stream
from fullpipe.runs.kept import PACKED, Kept, changed_ns, stamp_of
from fullpipe.runs.meta import EngineId, Meta
from fullpipe.runs.run import Run
from fullpipe.runs.schema import TABLES

if TYPE_CHECKING:
    import polars as pl


# Writing of the files of a run.


_OF_RUN = ("seed", "wall_s", "cpu_s", "data_packets", "packet_hops", "started")
_SHARED = tuple(name for name in Meta.model_fields if name not in _OF_RUN)
"""Members of meta.json that are equal for all runs of a scenario."""
_last: list[tuple[object, str]] = [(None, "")]
"""Cache of `_shared`: the last content and its JSON, in one tuple, so that threads replace both together."""

_json = json.JSONEncoder(ensure_ascii=False, separators=(",\n", ": ")).encode


def keep(folder: str, meta: Meta, tables: Mapping[str, pl.DataFrame]) -> Sums:
    """Write a run into an empty folder.

    Raises:
        OSError: If the run cannot be written.
        ResultError: If a table cannot be encoded.
    """
    sums: dict[str, Sum] = {}
    packed: list[bytes | memoryview] = []
    offset, is_today = 0, True
    for name in TABLES:
        data: bytes | memoryview | None = tables.small(name) if isinstance(tables, Encoded) else None
        if data is None:
            if isinstance(tables, Encoded) and tables.has_no_rows(name):
                continue
            table = tables[name]
            if table.is_empty():
                continue
            data = encoded(table)
            is_today = is_today and has_schema(name, table, data)
        size = len(data)
        if is_parquet(data):
            files.put(f"{folder}/{own_file(name)}", data)
            sums[name] = Sum(size, checksum(data))
        else:
            packed.append(data)
            sums[name] = Sum(size, checksum(data), offset)
            offset += size
    if packed:
        files.put(f"{folder}/{PACKED_FILE}", b"".join(packed))
    columns = columns_today() if is_today else ""
    content, seal = sealed(_text(meta, columns, sums))
    files.put(f"{folder}/{META}", content)
    return Sums.model_construct(columns=columns, tables=sums, sha256=seal)


def _text(meta: Meta, columns: str, sums: Mapping[str, Sum]) -> bytes:
    """Return meta.json without its checksum. Separators are line breaks, as indentation would be slow."""
    values = vars(meta)
    of_run = {name: values[name] for name in _OF_RUN}
    rest = _json({**of_run, "columns": columns})
    tables = ",\n".join([f'"{name}": {_of_table(known)}' for name, known in sums.items()])
    return f'{_shared(values)},\n{rest[1:-1]},\n"tables": {{{tables}}},\n'.encode()


def _of_table(known: Sum) -> str:
    """Return the JSON of a table's size, checksum and position. An encoder would be slower."""
    offset = "" if known.offset is None else f',\n"offset": {known.offset}'
    return f'{{"bytes": {known.bytes},\n"sha256": "{known.sha256}"{offset}}}'


def _shared(values: Mapping[str, object]) -> str:
    """Return the JSON of the members that runs of a scenario share, without the closing brace.

    The JSON is cached for the runs of a sweep point. The cache compares pickled values, as dictionaries are
    mutable. Pickling takes a tenth of the time of encoding as JSON.
    """
    shared = {name: values[name] for name in _SHARED}
    content = values["engine"], pickle.dumps({**shared, "engine": None})
    known, text = _last[0]
    if known != content:
        text = _json(to_jsonable_python(shared))[:-1]
        _last[0] = content, text
    return text


# Writes finished runs into a store, and synchronizes many runs with the disk in one step.


_RACES = 10
_WRITING = ".writing"
"""Hidden folder in a store for runs that are being written."""
FEW = 8
"""Maximum number of runs that are synchronized one by one. Synchronizing the whole disk takes long if other
programs write much. Runs up to this number are added to the index only when the index is next read."""
_MOST = 10_000
"""Maximum number of runs that wait to be added to the index."""
SUMMARIES = (*PACKED, "transfers")
"""Tables that are small in most runs, and that commands usually read first."""
Tables = Mapping[str, "pl.DataFrame"]


class Writer:
    """Writes the runs of a process into a store, and synchronizes them with the disk when closed.

    Runs are written in one hidden folder, and each run is renamed when it is complete. All runs use the same
    hidden folder, because removing a folder slows later writes: for some time after a removal, Linux file
    systems search for new inodes among the removed inodes.
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
        """Return the hidden folder of this process. At the first call, the folder is made.

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
        """Check that runs with a digest can be written.

        Raises:
            OSError: If the store cannot be written.
            ResultError: If the folder of the digest is a symbolic link.
        """
        self.open()
        if digest in self._prepared:
            return
        folder = self._root / digest
        if folder.is_symlink():
            raise ResultError(f"{folder}: is a symbolic link; remove it, or make {self._root} a link")
        self._prepared.add(digest)

    def write(self, run: Run, final: Path) -> Kept | None:
        """Write a run under its final name, unless the store already has an equal run.

        Returns:
            The stored run, or None if the store already had an equal run.

        Raises:
            OSError: If the run cannot be written.
            ResultError: If a table cannot be encoded, or other processes keep writing the same run.
        """
        with self._draft() as complete:
            kept = Kept(final, run.meta, keep(complete, run.meta, run.tables))
            return self._publish(complete, kept, run.tables)

    def copy(self, kept: Kept, final: Path) -> Kept | None:
        """Copy a run of another store to the folder `final`, unless the store already has an equal run.

        Raises:
            OSError: If the run cannot be copied.
            ResultError: If the run is damaged, or other processes keep writing the same run.
        """
        tables = {name: kept.table(name) for name in PACKED}
        with self._draft() as complete:
            for name in kept.files:
                with files.open_regular(kept.folder / name) as file:
                    files.put(f"{complete}/{name}", file.readall())
            return self._publish(complete, replace(kept, folder=final), tables)

    def remove(self, folder: Path) -> None:
        """Remove a run. The folder is renamed first, so that no partly removed run is found.

        Raises:
            OSError: If the run cannot be removed.
        """
        with suppress(FileNotFoundError):
            os.rename(folder, self._new_place())
        with suppress(OSError):  # fails if the digest has other runs
            folder.parent.rmdir()

    def _new_place(self) -> str:
        return f"{self.open()}/{next(self._numbers)}"

    @contextmanager
    def _draft(self) -> Iterator[str]:
        """Make a folder to write a run in. After an exception, the folder is removed."""
        complete = self._new_place()
        try:
            try:
                os.mkdir(complete)
            except FileNotFoundError:  # another machine removes hidden folders unused for a day
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
        """Add a stored run to the index. All checksums of the run must have been verified."""
        summaries = _streams(tables)
        with self._lock:
            self._found += 1
            self._enlist(kept, summaries)

    def _enlist(self, kept: Kept, summaries: Mapping[str, Stream | None] | None) -> None:
        noted_ns = time.time_ns()
        if summaries is not None:
            with suppress(OSError):  # for runs of older versions, files are read, which may fail
                self._made.add(kept, summaries, changed_ns(kept.stamp), noted_ns)
        if kept.has_checksums:
            self._made.add_found(kept, noted_ns)
        if len(self._made.rows) >= _MOST:
            self._note()

    def close(self) -> None:
        """Synchronize everything written with the disk, and remove the hidden folder."""
        with self._lock:
            few = self._folders
            if len(few) + self._found > FEW:
                self._note()
            if self._place is None:  # nothing was written, but a killed process may have left files
                files.remove_leftovers(self._root / _WRITING)
            self._stack.close()
            self._made, self._folders, self._found, self._place = Entries(), [], 0, None
        with suppress(OSError):  # some file systems cannot synchronize
            if len(few) > FEW:
                files.sync_disk(self._root)
            else:
                _make_durable(self._root, few)

    def _note(self) -> None:
        """Write the rows of new runs to the index. If this fails, later commands read the runs instead."""
        noted, self._made = self._made, Entries()
        with suppress(OSError, ResultError):
            if noted.rows:
                segments.add(self._root, self.open(), noted.tables())


def _streams(tables: Tables) -> Mapping[str, Stream | None] | None:
    """Encode tables for the index. None if a table cannot be encoded. The tables are then read from the run
    when the index is next updated."""
    with suppress(ResultError):
        return {name: stream(tables, name) for name in PACKED}
    return None


def _make_durable(root: Path, folders: Sequence[Path]) -> None:
    for folder in folders:
        with suppress(FileNotFoundError):  # another process may have removed the folder
            for path in (*folder.iterdir(), folder, folder.parent, root):
                files.sync(path)


def finished(folder: Path, digest: str, engine: EngineId, seed: int) -> Run | None:
    """Load the run in a folder, with its tables of `SUMMARIES` in memory.

    None if the run is damaged, or if its digest, engine or seed differ from the arguments, as in a copied
    folder.
    """
    try:
        kept = Kept.read(folder)
    except NoRunError:
        return None
    is_it = (kept.meta.digest, kept.meta.engine, kept.meta.seed) == (digest, engine, seed)
    at_hand = kept.small(SUMMARIES) if is_it else None
    return None if at_hand is None else Run.from_kept(kept, at_hand)


def publish(complete: str, final: Path, meta: Meta) -> bool:
    """Rename the folder of a complete run to its final name, unless an equal run has this name. A different
    run under this name is replaced.

    Returns:
        Whether the folder was renamed.

    Raises:
        ResultError: If other processes keep writing the same run.
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
        with suppress(FileNotFoundError):  # another process may have renamed the folder
            if files.exchange(Path(complete), final):  # an equal run may have been written since the check
                shutil.rmtree(complete, ignore_errors=True)
                return True
            final.rename(outdated)
            if finished(outdated, *looked_for):  # an equal run was written meanwhile: restore it
                with suppress(OSError):
                    outdated.rename(final)
            shutil.rmtree(outdated, ignore_errors=True)
    raise ResultError(f"{final}: other processes keep writing this run; run the command again later")
