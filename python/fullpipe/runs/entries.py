"""Content of the index of a store: a row per run, and the small tables of all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fullpipe import _native
from fullpipe.lazy import pl
from fullpipe.runs.encoding import META, checksum, decoded, encoded
from fullpipe.runs.kept import PACKED, Kept, number_of
from fullpipe.runs.meta import EngineId
from fullpipe.runs.population import content_of, files_of
from fullpipe.runs.schema import DTYPES, TABLES

Stream = bytes | memoryview
ID = "id"
"""Name of the column that identifies a run, in every table of the index."""
RUNS: Mapping[str, str] = {
    ID: "count",
    "digest": "text",
    "engine": "text",
    "seed": "count",
    "version": "text",
    "model_version": "text",
    "scenario": "text",
    "point": "text",
    "spec": "text",
    "duration_s": "real",
    "wall_s": "real",
    "cpu_s": "real",
    "data_packets": "count",
    "started": "text",
    "content": "text",
    "files": "text",
    "bytes": "count",
    "changed_ns": "count",
    "noted_ns": "count",
    "gone": "flag",
}
"""Columns of the table of runs, each with the kind of its values.

`point`, `spec` (the scenario) and `files` are JSON. `digest` is the folder of the run, relative to the store
(`Meta.place`). `content` is the result of `fullpipe.runs.population.content_of` for the files. `changed_ns`
is the time at which meta.json was written. This time shows whether another run replaced the run in this
folder. If a run has several rows, the row with the latest `noted_ns` counts.
"""
LISTED: Mapping[str, str] = {"digest": "text", "changed_ns": "count", "noted_ns": "count"}
"""Columns of the table of digest folders: the time of the last change of a folder, and the time at which the
folder was listed."""

FOUND: Mapping[str, str] = {
    ID: "count",
    "folder": "text",
    "origin": "text",
    "fingerprint": "text",
    "stamp": "text",
    "noted_ns": "count",
}
"""Columns of the table `found`, with which runs are found without reading their files.

`folder` is relative to the store. `fingerprint` and `stamp` are the attributes of `Kept`, and `origin` is the
result of `origin_of`. The process that added a row had written all bytes of the run or verified their
checksums.
"""


def origin_of(digest: str, engine: EngineId, columns: str) -> str:
    """Return a hash of a run's origin. A stored run can replace a requested run if their hashes are equal.

    Args:
        digest: Digest of the scenario as the engine reads it.
        engine: The engine, with the versions of its code and model.
        columns: Fingerprint of the columns of all tables.
    """
    parts = (digest, engine.name, engine.version, engine.model_version, engine.code, columns)
    return _origin(parts)


@lru_cache(1_024)
def _origin(parts: tuple[str, ...]) -> str:
    return checksum(json.dumps(parts).encode())[:32]


def schema_of(kinds: Mapping[str, str]) -> pl.Schema:
    """Return the polars schema of columns."""
    return pl.Schema({name: getattr(pl, DTYPES[kind])() for name, kind in kinds.items()})


@dataclass
class Entries:
    """Rows to add to the tables of the index."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    found: list[dict[str, Any]] = field(default_factory=list)
    _packed: dict[str, list[tuple[int, Stream]]] = field(
        default_factory=lambda: {name: [] for name in PACKED}
    )
    """For each summary table, the IDs of runs with rows and the bytes of the tables of these runs."""
    _specs: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kept: Kept, summaries: Mapping[str, Stream | None], changed_ns: int, noted_ns: int) -> None:
        """Add a run with its tables of `PACKED`, encoded by `fullpipe.runs.encoding.stream`."""
        row = self._row(kept, changed_ns, noted_ns)
        self.rows.append(row)
        for name, data in summaries.items():
            if data is not None:
                self._packed[name].append((row[ID], data))

    def add_found(self, kept: Kept, noted_ns: int) -> None:
        """Note that a run is intact as long as the stamp of its files is unchanged."""
        self.found.append(
            {
                ID: kept.number,
                "folder": f"{kept.folder.parent.name}/{kept.folder.name}",
                "origin": origin_of(kept.meta.digest, kept.meta.engine, kept.sums.columns),
                "fingerprint": kept.fingerprint,
                "stamp": kept.stamp,
                "noted_ns": noted_ns,
            }
        )

    def add_gone(self, row: Mapping[str, Any], noted_ns: int) -> None:
        """Note that the run of an existing row was removed."""
        self.rows.append({**row, "noted_ns": noted_ns, "gone": True})

    def tables(self) -> dict[str, Stream]:
        """Return the tables of the index as bytes: `runs`, `listed`, `found`, and those of `PACKED`.

        Raises:
            ResultError: If a table cannot be encoded.
        """
        told = {
            "runs": _stream(RUNS, self.rows),
            "listed": _stream(LISTED, self.listed),
            "found": _stream(FOUND, self.found),
        }
        return told | {name: _together(name, self._packed[name]) for name in PACKED}

    def _row(self, kept: Kept, changed_ns: int, noted_ns: int) -> dict[str, Any]:
        meta = kept.meta
        seal = kept.sums.sha256 or checksum((kept.folder / META).read_bytes())
        name, found = str(meta.scenario["name"]), files_of(meta)
        if (meta.digest, name) not in self._specs:
            self._specs[meta.digest, name] = json.dumps(meta.scenario)
        return {
            ID: number_of(seal),
            "digest": kept.folder.parent.name,
            "engine": meta.engine.name,
            "seed": meta.seed,
            "version": meta.engine.version,
            "model_version": meta.engine.model_version,
            "scenario": name,
            "point": json.dumps(meta.point, default=str) if meta.point else "{}",
            "spec": self._specs[meta.digest, name],
            "duration_s": meta.duration_s,
            "wall_s": meta.wall_s,
            "cpu_s": meta.cpu_s,
            "data_packets": meta.data_packets,
            "started": meta.started,
            "content": content_of(found),
            "files": json.dumps(dict(found)) if found else "{}",
            "bytes": sum(kept.sums.files().values()),
            "changed_ns": changed_ns,
            "noted_ns": noted_ns,
            "gone": False,
        }


def found_stream(found: pl.DataFrame) -> bytes:
    """Encode rows of `FOUND` as a stream. Parquet is not used: a few bytes of Parquet can hold a billion
    rows."""
    return _native.stream([(name, kind, found[name].to_list()) for name, kind in FOUND.items()])


def _stream(kinds: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Encode rows as a table. Missing values are null."""
    return _native.stream([(name, kind, [row.get(name) for row in rows]) for name, kind in kinds.items()])


def _together(name: str, tables: Sequence[tuple[int, Stream]]) -> Stream:
    """Concatenate a table of several runs, with the ID of the run as first column."""
    if not tables:
        return _stream({ID: "count", **{column.name: column.kind for column in TABLES[name].columns}}, [])
    try:
        return _native.joined([bytes(data) for _, data in tables], [number for number, _ in tables])
    except ValueError:  # a table is Parquet, or has columns of other types
        return _by_frames(name, tables)


def _by_frames(name: str, tables: Sequence[tuple[int, Stream]]) -> Stream:
    number = schema_of({ID: "count"})[ID]
    frames = [decoded(bytes(data)).select(pl.lit(id_, number).alias(ID), pl.all()) for id_, data in tables]
    schema = pl.Schema({ID: number, **TABLES[name].schema})
    return encoded(pl.concat(frames, how="vertical_relaxed").cast(schema))
