"""What the index says of runs: a row for each, and their summaries."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

from fullpipe.runs.encoding import checksum, empty
from fullpipe.runs.kept import Kept
from fullpipe.runs.sums import META

PACKED = ("flows", "links_summary")
"""Tables of runs that are in the index, so that a question about many runs opens none."""
ID = "id"
"""The column that tells runs apart, of every table of the index."""
RUNS: Mapping[str, type[pl.DataType]] = {
    ID: pl.Int64,
    "digest": pl.String,
    "engine": pl.String,
    "seed": pl.Int64,
    "version": pl.String,
    "model_version": pl.String,
    "scenario": pl.String,
    "point": pl.String,
    "spec": pl.String,
    "duration_s": pl.Float64,
    "wall_s": pl.Float64,
    "cpu_s": pl.Float64,
    "data_packets": pl.Int64,
    "started": pl.String,
    "bytes": pl.Int64,
    "changed_ns": pl.Int64,
    "noted_ns": pl.Int64,
    "gone": pl.Boolean,
}
"""Columns of the table of runs: `point` and `spec`, the scenario, are JSON; `changed_ns` is when meta.json
was written, by which another run of the same name is noticed; the row that was noted last counts."""
LISTED: Mapping[str, type[pl.DataType]] = {"digest": pl.String, "changed_ns": pl.Int64, "noted_ns": pl.Int64}
"""Columns of the table of folders of runs: when each was last changed, at the time that it was listed."""


@dataclass
class Entries:
    """Rows of the index that are to be written."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    _packed: dict[str, list[pl.DataFrame]] = field(default_factory=lambda: {name: [] for name in PACKED})
    _ids: list[int] = field(default_factory=list)
    _specs: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kept: Kept, tables: Mapping[str, pl.DataFrame], changed_ns: int, noted_ns: int) -> None:
        """Add a run.

        Raises:
            ResultError: If a table of the run cannot be read.
        """
        summaries = {name: tables[name] for name in PACKED}
        row = self._row(kept, changed_ns, noted_ns)
        self.rows.append(row)
        self._ids.append(row[ID])
        for name, table in summaries.items():
            is_today = table.columns == _columns(name)
            self._packed[name].append(table if is_today else table.select(_columns(name)))

    def add_gone(self, row: Mapping[str, Any], noted_ns: int) -> None:
        """Say that the run of a row is not there any more."""
        self.rows.append({**row, "noted_ns": noted_ns, "gone": True})

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of the index: the runs, folders, and the summaries with the column `id` in front."""
        told = {"runs": pl.DataFrame(self.rows, RUNS), "listed": pl.DataFrame(self.listed, LISTED)}
        return told | {name: self._summaries(name) for name in PACKED}

    def _summaries(self, name: str) -> pl.DataFrame:
        import numpy as np  # here: it takes memory and time to import, and a run without a store has no index

        tables = [empty(name), *self._packed[name]]
        ids = np.repeat(np.array([0, *self._ids], np.int64), [table.height for table in tables])
        return pl.DataFrame({ID: ids}).hstack(_together(tables))

    def _row(self, kept: Kept, changed_ns: int, noted_ns: int) -> dict[str, Any]:
        meta = kept.meta
        seal = kept.sums.sha256 or checksum((kept.folder / META).read_bytes())
        name = str(meta.scenario["name"])
        if (meta.digest, name) not in self._specs:
            self._specs[meta.digest, name] = json.dumps(meta.scenario)
        return {
            ID: int(seal[:15], 16),
            "digest": meta.digest,
            "engine": meta.engine.name,
            "seed": meta.seed,
            "version": meta.engine.version,
            "model_version": meta.engine.model_version,
            "scenario": name,
            "point": json.dumps(meta.point, default=str),
            "spec": self._specs[meta.digest, name],
            "duration_s": meta.duration_s,
            "wall_s": meta.wall_s,
            "cpu_s": meta.cpu_s,
            "data_packets": meta.data_packets,
            "started": meta.started,
            "bytes": sum(kept.sums.files().values()),
            "changed_ns": changed_ns,
            "noted_ns": noted_ns,
            "gone": False,
        }


@cache
def _columns(name: str) -> list[str]:
    return empty(name).columns


def _together(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of tables with the same columns, in the types of the first, which most have."""
    try:
        return pl.concat(tables, rechunk=True)
    except pl.exceptions.SchemaError:
        return pl.concat(tables, how="vertical_relaxed").cast(tables[0].schema)
