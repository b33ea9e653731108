"""Tables as bytes, and back: a small one as a stream of Arrow IPC, a large one as Parquet.

Encoding two rows as Parquet takes half a millisecond, as long as some runs; as a stream of Arrow it takes a
fortieth. Of many rows, Parquet is the smaller one. polars is imported when a frame is made: that takes longer
than a short run, and `fullpipe run --json` needs none.
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
"""Bytes in memory from which on a table is Parquet."""
_PARQUET = b"PAR1"


class UnreadableError(Exception):
    """Bytes that are no table."""


def is_parquet(data: bytes | memoryview) -> bool:
    """Whether bytes are a large table."""
    return bytes(data[: len(_PARQUET)]) == _PARQUET


def is_large(size_bytes: int) -> bool:
    """Whether a table of such a size in memory is to be Parquet."""
    return size_bytes >= LARGE


def encoded(table: pl.DataFrame) -> memoryview:
    """A table as bytes.

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
    """A table from bytes, which must be known to be what was written: polars trusts what it parses.

    Raises:
        UnreadableError: If they are no table.
    """
    try:
        if is_parquet(data):
            return pl.read_parquet(data)
        return pl.read_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UnreadableError from error


def columns_of(data: bytes) -> Mapping[str, list[Any]]:
    """The values of a table from bytes, by column: see `decoded`.

    Raises:
        UnreadableError: If they are no table.
    """
    if not is_parquet(data):
        try:
            return _native.columns(data)
        except ValueError:  # a type of column that no version of ours has written
            pass
    return decoded(data).to_dict(as_series=False)


def checksum(data: bytes | memoryview) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def empty(name: str) -> pl.DataFrame:
    """A table of a run without rows, of its own.

    polars locks a frame while it writes it, and waits for the interpreter meanwhile: two threads that use one
    frame, of which one writes it, can wait for each other for ever. So none is shared.
    """
    return _without_rows(name).clone()


@cache
def _without_rows(name: str) -> pl.DataFrame:
    return pl.DataFrame(schema=TABLES[name].schema)


def as_schema(name: str, table: pl.DataFrame) -> pl.DataFrame:
    """A table with the columns of today and their types, without any others.

    Raises:
        ResultError: If a column has another type.
    """
    schema = TABLES[name].schema
    if table.schema == schema:
        return table
    try:
        return table.select(*schema).cast(schema)
    except pl.exceptions.PolarsError:
        raise ResultError(f"its table {name} has columns of other types") from None


def has_schema(name: str, table: pl.DataFrame, data: bytes | memoryview) -> bool:
    """Whether a table that is encoded as `data` has the columns of today.

    A stream begins with its schema, which takes a tenth of the time to compare.
    """
    head = _head(name)
    return bytes(data[: len(head)]) == head or table.schema == TABLES[name].schema


@cache
def _head(name: str) -> bytes:
    """How the stream of a table begins: a mark, the length of the schema, and the schema.

    It is of a table that no other thread has: polars locks a table for as long as it writes it, and waits for
    Python meanwhile, while a thread that has Python and asks the same table waits for the lock.
    """
    data = encoded(pl.DataFrame(schema=TABLES[name].schema))
    return bytes(data[: 8 + int.from_bytes(data[4:8], "little")])
