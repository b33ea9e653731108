"""Encoding of tables in files, with checksums."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Annotated, Any

from pydantic import BaseModel, Field

from fullpipe import _native
from fullpipe.errors import ResultError
from fullpipe.lazy import pl
from fullpipe.runs.schema import DTYPES, TABLES

# Encodes and decodes tables: small tables as Arrow IPC streams, large tables as Parquet.
#
# Encoding two rows as Parquet takes 0.5 ms, as long as some runs. An Arrow stream takes a fortieth of this
# time. For many rows, Parquet is smaller. polars is imported when the first frame is made, since its import
# takes longer than a short run, and `fullpipe run --json` does not need polars.


LARGE = 1 << 20
"""Tables of at least this many bytes in memory are encoded as Parquet."""
_PARQUET = b"PAR1"


class UnreadableError(Exception):
    """Bytes that are not an encoded table."""


def is_parquet(data: bytes | memoryview) -> bool:
    """Whether `data` is a table encoded as Parquet."""
    return bytes(data[: len(_PARQUET)]) == _PARQUET


def is_large(size_bytes: int) -> bool:
    """Whether a table of this size in memory should be encoded as Parquet."""
    return size_bytes >= LARGE


def encoded(table: pl.DataFrame) -> memoryview:
    """Encode a table as bytes.

    Raises:
        ResultError: If the table cannot be encoded.
    """
    data = BytesIO()
    try:
        if is_large(int(table.estimated_size())):
            table.write_parquet(data)
        else:
            table.write_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ResultError(f"a table cannot be written: {error}") from error
    return data.getbuffer()


def decoded(data: bytes) -> pl.DataFrame:
    """Decode a table. The caller must verify the checksum of `data`, as polars does not validate its input.

    Raises:
        UnreadableError: If the bytes are not a table.
    """
    try:
        if is_parquet(data):
            return pl.read_parquet(data)
        return pl.read_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableError from error


def columns_of(data: bytes) -> Mapping[str, list[Any]]:
    """Decode a table into lists of values by column. The caller must verify the checksum of `data`.

    Raises:
        UnreadableError: If the bytes are not a table.
    """
    if not is_parquet(data):
        try:
            return _native.columns(data)
        except ValueError:  # a column type that no version of Fullpipe has written
            pass
    return decoded(data).to_dict(as_series=False)


def checksum(data: bytes | memoryview) -> str:
    """Return the SHA-256 as hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def empty(name: str) -> pl.DataFrame:
    """Make an empty table as a new object.

    Threads do not share frames, because they could deadlock. While polars writes a frame, it locks the frame
    and waits for the interpreter lock. Another thread that uses the frame may hold the interpreter lock.
    """
    return _without_rows(name).clone()


@cache
def _without_rows(name: str) -> pl.DataFrame:
    return pl.DataFrame(schema=TABLES[name].schema)


def as_schema(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """Return a table with exactly the columns of the current schema and their types.

    Raises:
        ResultError: If a column is missing or has another type.
    """
    schema = TABLES[name].schema
    if table.schema == schema:
        return table
    try:
        return table.select(*schema).cast(schema)
    except pl.exceptions.PolarsError:
        raise ResultError(f"the columns of the table {name} have unexpected types") from None


def has_schema(name: str, table: pl.DataFrame, data: bytes | memoryview) -> bool:
    """Whether a table encoded as `data` has the columns of the current schema.

    A stream begins with its schema. Comparing these bytes takes a tenth of the time of comparing schemas.
    """
    head = _head(name)
    return bytes(data[: len(head)]) == head or table.schema == TABLES[name].schema


@cache
def _head(name: str) -> bytes:
    """Return the first bytes of a table's stream: a marker, the length of the schema, and the schema.

    The bytes are encoded from a table that no other thread uses, as `empty` explains.
    """
    data = encoded(pl.DataFrame(schema=TABLES[name].schema))
    return bytes(data[: 8 + int.from_bytes(data[4:8], "little")])


# Tables of a run, as an engine has encoded them. A table becomes a data frame at its first use.


class Encoded(Mapping[str, "pl.DataFrame"]):
    """Tables with the columns of the current schema, each as an Arrow IPC stream. A missing table is empty.

    In a sweep, most tables are stored or discarded without becoming a frame, because making a frame takes
    longer than writing the table. A large table is in memory as a frame or as a stream, never as both.
    """

    def __init__(self, streams: Mapping[str, bytes], names: Collection[str] = tuple(TABLES)) -> None:
        self._names = names
        self._streams = {name: data for name, data in streams.items() if name in names}
        self._frames: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._frames:
            data = self._streams.get(name)
            self._frames[name] = empty(name) if data is None else decoded(data)
            if data is not None and is_large(len(data)):
                self._streams.pop(name, None)
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def columns(self, name: str) -> Mapping[str, list[Any]]:
        """Return the values of a table by column. Small tables do not become frames."""
        if name in self._frames or is_large(len(self._streams.get(name, b""))):
            return self[name].to_dict(as_series=False)
        data = self._streams.get(name)
        return columns_of(data) if data else no_rows(name)

    def small(self, name: str) -> bytes | None:
        """Return the stream of a table, or None if the table is large or has no rows."""
        data = self._streams.get(name)
        return None if data is None or is_large(len(data)) else data

    def has_no_rows(self, name: str) -> bool:
        """Whether a table is empty. Engines make no stream of an empty table."""
        return name not in self._streams and (name not in self._frames or self._frames[name].is_empty())

    def apart(self) -> Encoded:
        """Return the same tables as a new object, which owns the frames made from now on."""
        part = Encoded(self._streams, self._names)
        part._frames = {name: frame for name, frame in self._frames.items() if name not in self._streams}
        return part

    def only(self, names: Collection[str]) -> Encoded:
        """Return only the tables with these names."""
        part = Encoded(self._streams, names)
        part._frames = {name: frame for name, frame in self._frames.items() if name in names}
        return part


def only(tables: Mapping[str, pl.DataFrame], names: Collection[str]) -> Mapping[str, pl.DataFrame]:
    """Return some tables of a run, as frames that are not shared with other threads; see `empty`."""
    if isinstance(tables, Encoded):
        return tables.only(names)
    return {name: tables[name].clone() for name in names}


def columns(tables: Mapping[str, pl.DataFrame], name: str) -> Mapping[str, list[Any]]:
    """Return the values of a table of a run by column. Encoded tables do not become frames."""
    of_stream = getattr(tables, "columns", None)
    found: Mapping[str, list[Any]] = of_stream(name) if of_stream else tables[name].to_dict(as_series=False)
    return found


def has_no_rows(tables: Mapping[str, pl.DataFrame], name: str) -> bool:
    """Whether a table of a run is empty, without reading large data."""
    known = getattr(tables, "has_no_rows", None)
    return bool(known(name) if known else tables[name].is_empty())


def stream(tables: Mapping[str, pl.DataFrame], name: str) -> bytes | memoryview | None:
    """Return a table of a run as bytes with the current columns; None if it has no rows.

    Raises:
        ResultError: If a column has another type.
    """
    if isinstance(tables, Encoded):
        if tables.has_no_rows(name):
            return None
        if (data := tables.small(name)) is not None:
            return data
    table = as_schema(name, tables[name])
    return None if table.is_empty() else encoded(table)


def no_rows(name: str) -> Mapping[str, list[Any]]:
    """Return the columns of a table without rows."""
    return {column: [] for column in TABLES[name].names}


# Members of meta.json about tables: the position, size and checksum of each table, and the checksum of
# meta.json itself.


META = "meta.json"
PACKED_FILE = "tables.arrow"
"""File with the small tables one after the other, each as an Arrow IPC stream."""
_Size = Annotated[int, Field(ge=0, lt=1 << 62)]
_Name = Annotated[str, Field(pattern=r"^\w+$")]


@dataclass(frozen=True, slots=True)
class Sum:
    """Size, checksum and position of a table."""

    bytes: _Size
    sha256: str
    offset: _Size | None = None
    """Offset in the file of small tables; null if the table is a Parquet file of its own."""


class Sums(BaseModel):
    """The members of meta.json that are not in `Meta`. In runs of older versions, these members are empty."""

    columns: str = ""
    """Fingerprint of the names and types of all columns; empty if the columns differed from the schema."""
    tables: dict[_Name, Sum] = {}
    """Size and SHA-256 of every table with rows. If the bytes of a table differ, the run is executed again. A
    table that is not listed is empty, or did not exist in the version that wrote the run."""
    sha256: str = ""
    """SHA-256 of all lines of meta.json above this line."""

    def files(self) -> dict[str, int]:
        """Return the files of tables with their sizes."""
        packed = [table.offset + table.bytes for table in self.tables.values() if table.offset is not None]
        alone = {own_file(name): table.bytes for name, table in self.tables.items() if table.offset is None}
        return alone | ({PACKED_FILE: max(packed)} if packed else {})


def own_file(name: str) -> str:
    """Return the file name of a table that has a file of its own."""
    return f"{name}.parquet"


def file_of(name: str, known: Sum | None) -> str:
    """Return the file that contains a table."""
    return PACKED_FILE if known and known.offset is not None else own_file(name)


def sealed(text: bytes) -> tuple[bytes, str]:
    """Return the content of meta.json, which is `text` followed by its checksum, and this checksum."""
    seal = checksum(text)
    return text + f'  "sha256": "{seal}"\n}}\n'.encode(), seal


_SEAL_BYTES = len(sealed(b"")[0])


def is_sealed(data: bytes) -> bool:
    """Whether the content of meta.json matches its checksum."""
    return data == sealed(data[:-_SEAL_BYTES])[0]


@cache
def columns_today() -> str:
    """Return a fingerprint of the names and types of all columns of the current schema."""
    columns = {name: {c.name: DTYPES[c.kind] for c in table.columns} for name, table in TABLES.items()}
    return checksum(json.dumps(columns).encode())[:16]
