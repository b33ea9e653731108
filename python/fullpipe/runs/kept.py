"""The files of a kept run, with the checksums that tell whether they are still what was written.

Every table has its size and its checksum in meta.json, whose last line is the checksum of the lines above it.
No byte of a table reaches the parser before its checksum is right: polars trusts what it parses, and changed
bytes can become other numbers or end the process.
"""

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from fullpipe.errors import NoRunError, ResultError
from fullpipe.io import files
from fullpipe.runs.meta import Meta
from fullpipe.runs.schema import SCHEMA_VERSION, TABLES

META = "meta.json"


class Sum(BaseModel):
    """What the content of a file is known by."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    sha256: str


_ALWAYS_WRITTEN = ("flows", "series", "links", "links_summary")
"""Tables of runs whose meta.json does not list any: the versions that kept those had at least these."""


class Sums(BaseModel):
    """What meta.json says besides `Meta`; nothing of it if an older version wrote the run."""

    columns: str = ""
    """A fingerprint of the names and types of all columns; empty if they were not those of the schema."""
    tables: dict[str, Sum] = {}
    """Size and SHA-256 of every table. A run whose bytes are others is made again, and never read. A table
    that is not here is one that this version did not have: it is read as an empty one."""
    sha256: str = ""
    """SHA-256 of all lines above this one."""


@dataclass(frozen=True)
class Kept:
    """A run in a folder: where it comes from, and what its tables are known by."""

    folder: Path
    meta: Meta
    sums: Sums

    @classmethod
    def read(cls, folder: Path) -> "Kept":
        """The run in a folder: meta.json is what was written, and all tables are there, as long as they were.

        Raises:
            NoRunError: If there is none.
        """
        path = folder / META
        try:
            data = path.read_bytes()
            meta, sums = Meta.model_validate_json(data), Sums.model_validate_json(data)
        except FileNotFoundError:
            raise NoRunError(f"{folder}: no finished run; there is no {META}") from None
        except OSError as error:
            raise NoRunError(f"{folder}: no finished run; {META}: {error.strerror or error}") from error
        except ValidationError as error:
            raise NoRunError(_damaged(path)) from error
        is_older = sums == Sums()
        if not is_older and not _is_sealed(data):
            raise NoRunError(_damaged(path))
        if meta.schema_version > SCHEMA_VERSION:
            raise NoRunError(
                f"{path}: a newer version kept this run (tables of version {meta.schema_version}, "
                f"known up to {SCHEMA_VERSION}); update fullpipe to read it"
            )
        for name in sums.tables or _ALWAYS_WRITTEN:
            _look_at(_table(folder, name), sums.tables.get(name))
        return cls(folder, meta, sums)

    @property
    def has_checksums(self) -> bool:
        """Whether changed bytes would be noticed; not in a run that an older version wrote."""
        return bool(self.sums.tables)

    @property
    def is_intact(self) -> bool:
        """Whether every table is byte for byte what was written, and has the columns that it has today."""
        try:
            return self.sums.columns == _columns_today() and all(
                _sum_of_file(_table(self.folder, name)) == self.sums.tables[name].sha256 for name in TABLES
            )
        except OSError:
            return False

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run, with the columns of today: null where the version that kept it had none.

        A table that this version did not have is empty.

        Raises:
            ResultError: If it cannot be read or is not what was written.
        """
        path = _table(self.folder, name)
        if name not in self.sums.tables and (self.has_checksums or not path.exists()):
            return pl.DataFrame(schema=_schema(name))
        try:
            data = path.read_bytes()
            if self.has_checksums and _sum(data) != self.sums.tables[name].sha256:
                raise ResultError(_damaged(path))
            return _as_today(name, pl.read_parquet(data))
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise ResultError(_damaged(path)) from error


def keep(folder: Path, meta: Meta, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write a run into an empty folder, and wait until it is on disk.

    Raises:
        OSError: If it cannot be written.
        ResultError: If a table cannot be.
    """
    sums = {}
    for name in TABLES:
        data = _parquet(name, tables[name])
        files.put(_table(folder, name), data)
        sums[name] = {"bytes": len(data), "sha256": _sum(data)}
    columns = _columns_today() if all(tables[name].schema == _schema(name) for name in TABLES) else ""
    content = meta.model_dump(mode="json") | {"columns": columns, "tables": sums}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    files.put(folder / META, _sealed(text.removesuffix("\n}").encode() + b",\n"))
    for path in (*folder.iterdir(), folder):  # at the end, where it costs less than after every file
        files.sync(path)


def _table(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _look_at(path: Path, known: Sum | None) -> None:
    """Raise NoRunError unless a table is there, as long as it was."""
    try:
        found = path.stat()
    except OSError:
        found = None
    if found is None or not stat.S_ISREG(found.st_mode):
        raise NoRunError(f"{path.parent}: no finished run; there is no {path.name}")
    if known and known.bytes != found.st_size:
        raise NoRunError(_damaged(path))


def _as_today(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """The table with null in the columns that it lacks, in the order of today; others come last."""
    missing = [pl.lit(None, kind).alias(n) for n, kind in _schema(name).items() if n not in table.columns]
    if not missing:
        return table
    return table.with_columns(missing).select(*_schema(name), pl.exclude(list(_schema(name))))


def _damaged(path: Path) -> str:
    return f"{path}: damaged; delete the folder {path.parent} to run it again"


def _sum(data: "bytes | memoryview") -> str:
    return hashlib.sha256(data).hexdigest()


def _sum_of_file(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sealed(text: bytes) -> bytes:
    """The content of meta.json: the text and, as its last member, the checksum of the text."""
    return text + f'  "sha256": "{_sum(text)}"\n}}\n'.encode()


_SEAL_BYTES = len(_sealed(b""))


def _is_sealed(data: bytes) -> bool:
    return data == _sealed(data[:-_SEAL_BYTES])


def _parquet(name: str, table: pl.DataFrame) -> "bytes | memoryview":
    """A table as it is written. Most are empty, and those are all alike."""
    if table.is_empty() and table.schema == _schema(name):
        return _empty(name)
    return _encoded(table)


@cache
def _empty(name: str) -> bytes:
    return bytes(_encoded(pl.DataFrame(schema=_schema(name))))


def _encoded(table: pl.DataFrame) -> memoryview:
    data = BytesIO()
    try:
        table.write_parquet(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultError(f"a table cannot be written: {error}") from error
    return data.getbuffer()


@cache
def _schema(name: str) -> pl.Schema:
    return TABLES[name].schema


@cache
def _columns_today() -> str:
    columns = {name: {column: str(kind) for column, kind in _schema(name).items()} for name in TABLES}
    return _sum(json.dumps(columns).encode())[:16]
