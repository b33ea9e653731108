"""Writing of the files of a run."""

from __future__ import annotations

import json
import pickle
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

_OF_RUN = ("seed", "wall_s", "cpu_s", "data_packets", "packet_hops", "started")
_SHARED = tuple(name for name in Meta.model_fields if name not in _OF_RUN)
"""Members of meta.json that are equal for all runs of a scenario."""
_last: list[tuple[object, str]] = [(None, "")]
"""The last content of these members and its JSON, in one tuple, so that threads replace both at once."""

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
        files.put(f"{folder}/{PACKED}", b"".join(packed))
    columns = columns_today() if is_today else ""
    content, seal = sealed(_text(meta, columns, sums))
    files.put(f"{folder}/{META}", content)
    return Sums.model_construct(columns=columns, tables=sums, sha256=seal)


def _text(meta: Meta, columns: str, sums: Mapping[str, Sum]) -> bytes:
    """Return the beginning of meta.json. Separators are line breaks, as indentation would be slow."""
    values = vars(meta)
    of_run = {name: values[name] for name in _OF_RUN}
    rest = _json({**of_run, "columns": columns})
    tables = ",\n".join([f'"{name}": {_of_table(known)}' for name, known in sums.items()])
    return f'{_shared(values)},\n{rest[1:-1]},\n"tables": {{{tables}}},\n'.encode()


def _of_table(known: Sum) -> str:
    """Return the JSON of a table's numbers and checksum, without an encoder."""
    offset = "" if known.offset is None else f',\n"offset": {known.offset}'
    return f'{{"bytes": {known.bytes},\n"sha256": "{known.sha256}"{offset}}}'


def _shared(values: Mapping[str, object]) -> str:
    """Return the JSON of the members that runs of a scenario share, without its last brace.

    It is cached for the runs of a point. The cache compares pickled values, as dictionaries are mutable;
    pickling takes a tenth of the time of JSON.
    """
    shared = {name: values[name] for name in _SHARED}
    content = values["engine"], pickle.dumps({**shared, "engine": None})
    known, text = _last[0]
    if known != content:
        text = _json(to_jsonable_python(shared))[:-1]
        _last[0] = content, text
    return text
