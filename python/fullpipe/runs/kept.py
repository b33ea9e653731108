"""The files of a stored run, and the checksums that detect changes.

Small tables share one file, large tables have a file each, and tables without rows are not written. meta.json
lists the size and the checksum of every table, and its last line is the checksum of the lines above it.
A table is parsed only if its checksum is right. polars does not validate its input, so changed bytes could
give wrong numbers or crash the process.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic_core import from_json

from fullpipe import files
from fullpipe.errors import NoRunError, ResultError
from fullpipe.lazy import pl
from fullpipe.runs.encoding import (
    META,
    Encoded,
    Sum,
    Sums,
    UnreadableError,
    checksum,
    columns_of,
    columns_today,
    decoded,
    empty,
    file_of,
    is_sealed,
    no_rows,
    own_file,
)
from fullpipe.runs.meta import Meta
from fullpipe.runs.schema import SCHEMA_VERSION, TABLES

T = TypeVar("T")
PACKED = ("flows", "links_summary")
"""Tables that are also in the index, so that commands on many runs need not open each run."""
_DIGITS = 32
_ALWAYS_WRITTEN = ("flows", "series", "links", "links_summary")
"""Tables of a run by an older version, whose meta.json lists no tables."""


@dataclass(frozen=True)
class Kept:
    """A run in a folder: its metadata, and the checksums of its tables."""

    folder: Path
    meta: Meta
    sums: Sums
    stamp: str = ""
    """Sizes and times of the run's files, as they were before a file was read (`stamp_of`); can be empty."""

    @classmethod
    def read(cls, folder: Path) -> Kept:
        """Read and verify meta.json in a folder, and check that all tables exist and have the right size.

        Raises:
            NoRunError: If the folder has no finished run, or the run is damaged or from a newer version.
        """
        path = folder / META
        try:
            stamps = [_stamp(META, os.stat(path))]
            data = _content(path)
            content = from_json(data)
            meta, sums = Meta.model_validate(content), Sums.model_validate(content)
        except FileNotFoundError:
            raise NoRunError(f"{folder}: no finished run; there is no {META}") from None
        except OSError as error:
            raise NoRunError(f"{folder}: no finished run; {META}: {error.strerror or error}") from error
        except ValueError as error:  # not JSON, or not valid metadata
            raise NoRunError(_damaged(path)) from error
        is_older = not (sums.columns or sums.tables or sums.sha256)
        if not is_older and not is_sealed(data):
            raise NoRunError(_damaged(path))
        if meta.schema_version > SCHEMA_VERSION:
            raise NoRunError(
                f"{path}: a newer version stored this run (tables of version {meta.schema_version}, "
                f"known up to {SCHEMA_VERSION}); update fullpipe to read it"
            )
        known = dict.fromkeys(map(own_file, _ALWAYS_WRITTEN)) if is_older else sums.files()
        stamps += [_stamp(name, _look_at(folder, name, size)) for name, size in known.items()]
        return cls(folder, meta, sums, " ".join(stamps))

    @property
    def has_its_name(self) -> bool:
        """Whether the folder has the name that follows from the metadata. A copy of a run can have another
        name.

        Older versions stored runs of external algorithms in the folder of the digest.
        """
        is_place = self.folder.parent.name in (self.meta.place, self.meta.digest)
        return is_place and self.folder.name == f"{self.meta.engine.name}-{self.meta.seed}"

    @property
    def number(self) -> int | None:
        """ID of the run in the index, computed from its content. None for runs of older versions."""
        return number_of(self.sums.sha256) if self.sums.sha256 else None

    @property
    def fingerprint(self) -> str:
        """Digest of the packet counts and of the `PACKED` tables. Empty for runs of older versions."""
        if not self.sums.sha256:
            return ""
        tables = [self.sums.tables.get(name) for name in PACKED]
        parts = [str(known and known.sha256) for known in tables]
        return checksum(f"{self.meta.data_packets} {self.meta.packet_hops} {parts}".encode())[:_DIGITS]

    @property
    def has_checksums(self) -> bool:
        """Whether the run has checksums, with which changed bytes are noticed. Older versions wrote none."""
        return bool(self.sums.sha256)

    @property
    def files(self) -> list[str]:
        """Names of the run's files, with meta.json last."""
        if self.has_checksums:
            return [*self.sums.files(), META]
        return [*(path.name for path in map(self._own_path, TABLES) if path.exists()), META]

    @property
    def is_whole(self) -> bool:
        """Whether all checksums of tables are right. True for runs of older versions, without checksums."""
        return self._streams() is not None

    def small(self, names: Collection[str]) -> Encoded | None:
        """Return the small tables among the named tables. None if a table of the run is damaged, or if the
        columns of the run differ from the current schema."""
        found = self._streams() if self.sums.columns == columns_today() else None
        if found is None:
            return None
        large = [name for name, known in self.sums.tables.items() if known.offset is None]
        return Encoded(found, [name for name in names if name not in large])

    def _streams(self) -> dict[str, bytes] | None:
        """Return the bytes of every table. None if any table is damaged."""
        found, contents = {}, dict[str, bytes]()
        for name, known in self.sums.tables.items():
            file = file_of(name, known)
            try:
                content = contents.get(file) or files.read_regular(f"{self.folder}/{file}")
            except OSError:
                return None
            if known.offset is not None:
                contents[file] = content
            found[name] = _part(content, known)
            if checksum(found[name]) != known.sha256:
                return None
        return found

    def _own_path(self, name: str) -> Path:
        return self.folder / own_file(name)

    def table(self, name: str) -> pl.DataFrame:
        """Read a table, with the columns of the current schema; columns that the run lacks are null.

        Tables that were not written are returned empty.

        Raises:
            ResultError: If the table cannot be read or is damaged.
        """
        found = self._read(name, decoded)
        return empty(name) if found is None else as_today(name, found)

    def columns(self, name: str) -> Mapping[str, list[Any]]:
        """Read the values of a table by column. Columns that the run lacks are None.

        Raises:
            ResultError: If the table cannot be read or is damaged.
        """
        found = self._read(name, columns_of)
        if found is None:
            return no_rows(name)
        rows = len(next(iter(found.values()), ()))
        missing = {column: [None] * rows for column in TABLES[name].names if column not in found}
        return {**found, **missing}

    def _read(self, name: str, parse: Callable[[bytes], T]) -> T | None:
        data = self.stream(name)
        try:
            return None if data is None else parse(data)
        except UnreadableError as error:
            raise ResultError(_damaged(self._file_of(name))) from error

    def stream(self, name: str) -> bytes | None:
        """Read the bytes of a table and verify their checksum. None if the table was not written.

        Raises:
            ResultError: If the bytes cannot be read or are damaged.
        """
        known = self.sums.tables.get(name)
        if known is None and (self.has_checksums or not self._file_of(name).exists()):
            return None
        try:
            data = _content_of(f"{self.folder}/{file_of(name, known)}", known)
        except OSError as error:
            path = self._file_of(name)
            raise ResultError(f"{path}: cannot be read: {error.strerror or error}") from error
        if known and checksum(data) != known.sha256:
            raise ResultError(_damaged(self._file_of(name)))
        return data

    def _file_of(self, name: str) -> Path:
        return self.folder / file_of(name, self.sums.tables.get(name))


def stamp_of(folder: str, names: Iterable[str]) -> str:
    """Return names, sizes and times of a run's files as text, to notice changes.

    The times are those of the last write and of the last change of any kind (`st_ctime`). Programs can set
    the time of the last write but not `st_ctime`, so the times of a copied file always differ.

    Raises:
        OSError: If a file does not exist.
    """
    return " ".join([_stamp(name, os.stat(f"{folder}/{name}")) for name in names])


def changed_ns(stamp: str) -> int:
    """Return when the first file of a stamp, meta.json, was last written."""
    return int(stamp.split(" ", 1)[0].split(":")[2])


def is_unchanged(folder: str, stamp: str) -> bool:
    """Whether a folder has all files that the stamp names, with unchanged sizes and times."""
    for part in stamp.split(" "):
        name = part.split(":", 1)[0]
        if "/" in name:  # a store can be untrusted
            return False
        try:
            found = os.stat(f"{folder}/{name}")
        except (OSError, ValueError):  # a name may have a null byte
            return False
        if not stat.S_ISREG(found.st_mode) or _stamp(name, found) != part:
            return False
    return True


def _stamp(name: str, found: os.stat_result) -> str:
    return f"{name}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def number_of(seal: str) -> int:
    """Return the ID of a run in the index, given the checksum of meta.json."""
    return int(seal[:15], 16)


def _part(content: bytes, known: Sum) -> bytes:
    return content if known.offset is None else content[known.offset : known.offset + known.bytes]


def _content_of(path: str, known: Sum | None) -> bytes:
    """Read the bytes of a table from its own file, or from the file of small tables."""
    if known is None or known.offset is None:
        return files.read_regular(path)
    return files.read_regular(path, known.offset, known.bytes)


def _look_at(folder: Path, name: str, size: int | None) -> os.stat_result:
    """Return the status of a file. Raises NoRunError if it does not exist or its size has changed."""
    try:
        found = os.stat(f"{folder}/{name}")
    except OSError:
        found = None
    if found is None or not stat.S_ISREG(found.st_mode):
        raise NoRunError(f"{folder}: no finished run; there is no {name}")
    if size is not None and size != found.st_size:
        raise NoRunError(_damaged(folder / name))
    return found


def _content(path: Path | str) -> bytes:
    """Read a small file. The methods of a Path object would double the time of reading."""
    return files.read_regular(path)


def as_today(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the columns of the current schema. Missing columns are null; unknown columns come
    last."""
    there = frozenset(table.columns)
    if there.issuperset(TABLES[name].names):
        return table
    schema = TABLES[name].schema
    missing = [pl.lit(None, kind).alias(n) for n, kind in schema.items() if n not in there]
    return table.with_columns(missing).select(*schema, pl.exclude(list(schema)))


def _damaged(path: Path) -> str:
    return f"{path}: damaged; delete the folder {path.parent} to run it again"
