"""Writes the files of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic_core import to_jsonable_python

from fullpipe import files
from fullpipe.runs.encoded import Encoded
from fullpipe.runs.encoding import checksum, encoded, has_schema, is_parquet
from fullpipe.runs.meta import Meta
from fullpipe.runs.schema import TABLES
from fullpipe.runs.sums import META, PACKED, Sum, Sums, columns_today, own_file, sealed

if TYPE_CHECKING:
    import polars as pl

_last: dict[str, tuple[object, str]] = {}
"""The last value of every member of meta.json that runs of a sweep share, and its JSON."""

_json = json.JSONEncoder(ensure_ascii=False, separators=(",\n", ": ")).encode


def keep(folder: str, meta: Meta, tables: Mapping[str, pl.DataFrame]) -> Sums:
    """Write a run into an empty folder.

    Raises:
        OSError: If it cannot be written.
        ResultError: If a table cannot be.
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
        files.put(f"{folder}/{PACKED}", b"".join(packed))
    columns = columns_today() if is_today else ""
    content, seal = sealed(_text(meta, columns, sums))
    files.put(f"{folder}/{META}", content)
    return Sums.model_construct(columns=columns, tables=sums, sha256=seal)


def _text(meta: Meta, columns: str, sums: Mapping[str, Sum]) -> bytes:
    """The beginning of meta.json. Line breaks as separators are quick, and indentation is not."""
    members = [f'"{name}": {_member(name, getattr(meta, name))}' for name in Meta.model_fields]
    tables = {name: _of_table(known) for name, known in sums.items()}
    members += [f'"columns": "{columns}"', f'"tables": {_json(tables)}']
    return ("{" + ",\n".join(members) + ",\n").encode()


def _of_table(known: Sum) -> Mapping[str, int | str]:
    told: dict[str, int | str] = {"bytes": known.bytes, "sha256": known.sha256}
    return told if known.offset is None else {**told, "offset": known.offset}


def _member(name: str, value: object) -> str:
    """The JSON of a member. What is not a number is often the same object in run after run."""
    if type(value) is int or type(value) is float:
        return repr(value)
    known = _last.get(name)
    if known is None or known[0] is not value:
        known = _last[name] = value, _json(to_jsonable_python(value))
    return known[1]
