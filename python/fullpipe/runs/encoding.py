"""Encodes tables as bytes and decodes them: small ones as Arrow IPC streams, large ones as Parquet.

Encoding two rows as Parquet takes half a millisecond, as long as some runs, and an Arrow stream takes a
fortieth of that. For many rows, Parquet is smaller. polars is imported when the first frame is made, since
the import takes longer than a short run, and `fullpipe run --json` does not need it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any

from fullpipe import _native
from fullpipe.errors import ResultError
from fullpipe.lazy import pl
from fullpipe.runs.schema import TABLES

LARGE = 1 << 20
"""Tables of at least this many bytes in memory are encoded as Parquet."""
_PARQUET = b"PAR1"


class UnreadableError(Exception):
    """Bytes are not a table."""


def is_parquet(data: bytes | memoryview) -> bool:
    """Whether bytes are a table encoded as Parquet."""
    return bytes(data[: len(_PARQUET)]) == _PARQUET


def is_large(size_bytes: int) -> bool:
    """Whether a table of this size in memory should be encoded as Parquet."""
    return size_bytes >= LARGE


def encoded(table: pl.DataFrame) -> memoryview:
    """Encode a table as bytes.

    Raises:
        ResultError: If it cannot be encoded.
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
    """Decode a table from bytes. Their checksum must have been verified: polars does not validate its input.

    Raises:
        UnreadableError: If they are not a table.
    """
    try:
        if is_parquet(data):
            return pl.read_parquet(data)
        return pl.read_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableError from error


def columns_of(data: bytes) -> Mapping[str, list[Any]]:
    """Decode the values of a table by column: see `decoded`.

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
    """Make an empty table, as an object of its own.

    Frames are not shared because threads could deadlock: polars locks a frame while it writes it and waits
    for the interpreter, which another thread that uses the frame may hold.
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
        raise ResultError(f"its table {name} has columns of other types") from None


def has_schema(name: str, table: pl.DataFrame, data: bytes | memoryview) -> bool:
    """Whether a table encoded as `data` has the columns of the current schema.

    A stream begins with its schema. Comparing these bytes takes a tenth of the time.
    """
    head = _head(name)
    return bytes(data[: len(head)]) == head or table.schema == TABLES[name].schema


@cache
def _head(name: str) -> bytes:
    """Return the first bytes of a table's stream: a marker, the length of the schema, and the schema.

    They are encoded from a table that no other thread uses: see `empty`.
    """
    data = encoded(pl.DataFrame(schema=TABLES[name].schema))
    return bytes(data[: 8 + int.from_bytes(data[4:8], "little")])
