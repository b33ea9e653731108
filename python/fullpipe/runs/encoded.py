"""Tables of a run as encoded by an engine. They become frames at their first use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fullpipe.runs.encoding import as_schema, columns_of, decoded, empty, encoded, is_large
from fullpipe.runs.schema import TABLES

if TYPE_CHECKING:
    import polars as pl


class Encoded(Mapping[str, "pl.DataFrame"]):
    """Tables with the current columns, each a stream of Arrow IPC. A missing table is empty.

    In a sweep, most tables are stored or dropped without becoming a frame, which would take longer than
    writing them. A large table is held as a frame or a stream, never both.
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
        """Return the same tables as an object that owns the frames made from now on."""
        part = Encoded(self._streams, self._names)
        part._frames = {name: frame for name, frame in self._frames.items() if name not in self._streams}
        return part

    def only(self, names: Collection[str]) -> Encoded:
        """Return only the tables with these names."""
        part = Encoded(self._streams, names)
        part._frames = {name: frame for name, frame in self._frames.items() if name in names}
        return part


def only(tables: Mapping[str, pl.DataFrame], names: Collection[str]) -> Mapping[str, pl.DataFrame]:
    """Return some tables of a run, as separate frames; see `encoding.empty`."""
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
