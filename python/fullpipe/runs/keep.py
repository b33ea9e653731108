"""Writes the files of a run."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from fullpipe import files
from fullpipe.runs.encoded import Encoded
from fullpipe.runs.encoding import checksum, encoded, has_schema, is_parquet
from fullpipe.runs.meta import Meta
from fullpipe.runs.schema import TABLES
from fullpipe.runs.sums import META, PACKED, Sums, columns_today, own_file, sealed


def keep(folder: Path, meta: Meta, tables: Mapping[str, pl.DataFrame]) -> Sums:
    """Write a run into an empty folder.

    Raises:
        OSError: If it cannot be written.
        ResultError: If a table cannot be.
    """
    sums: dict[str, dict[str, int | str]] = {}
    packed: list[bytes | memoryview] = []
    offset, is_today = 0, True
    for name in TABLES:
        data: bytes | memoryview | None = tables.small(name) if isinstance(tables, Encoded) else None
        if data is None:
            table = tables[name]
            if table.is_empty():
                continue
            data = encoded(table)
            is_today = is_today and has_schema(name, table, data)
        sums[name] = {"bytes": len(data), "sha256": checksum(data)}
        if is_parquet(data):
            files.put(folder / own_file(name), data)
        else:
            packed.append(data)
            sums[name]["offset"] = offset
            offset += len(data)
    if packed:
        files.put(folder / PACKED, b"".join(packed))
    told = {"columns": columns_today() if is_today else "", "tables": sums}
    content, seal = sealed(_text(meta.model_dump(mode="json") | told))
    files.put(folder / META, content)
    return Sums.model_validate(told | {"sha256": seal})


def _text(content: Mapping[str, object]) -> bytes:
    """The beginning of meta.json. Line breaks as separators are quick, and indentation is not."""
    text = json.dumps(content, ensure_ascii=False, separators=(",\n", ": "))
    return text.removesuffix("}").encode() + b",\n"
