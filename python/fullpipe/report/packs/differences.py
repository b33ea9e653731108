"""First difference between a run and the same run of a pack: table, column and row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from fullpipe.errors import ResultError
from fullpipe.report.packs.manifest import PackedRun
from fullpipe.runs import Run
from fullpipe.runs.kept import Kept


def is_equal(run: Run, packed: PackedRun) -> bool:
    """Whether the tables of two runs are equal to the byte.

    Raises:
        ResultError: If the run cannot be read.
    """
    return _checksums(run) == packed.tables


def _checksums(run: Run) -> dict[str, str]:
    assert run.folder
    return {name: known.sha256 for name, known in Kept.read(run.folder).sums.tables.items()}


def difference(run: Run, packed: PackedRun, folder: Path | None) -> str:
    """Return what differs first between two runs; empty if all values of their tables are equal.

    Args:
        run: A run of a store.
        packed: The same run as the list of the pack has it.
        folder: The run of the pack, unpacked; None if the pack has checksums alone.

    Raises:
        ResultError: If a run cannot be read.
    """
    here = _checksums(run)
    for name in dict.fromkeys([*packed.tables, *here]):
        if here.get(name) != packed.tables.get(name):
            found = _in_table(name, here, packed, run, folder)
            if found:
                return found
    return ""


def _in_table(name: str, here: Mapping[str, str], packed: PackedRun, run: Run, folder: Path | None) -> str:
    if name not in here or name not in packed.tables:
        return f"table {name}: is in {'this run' if name in here else 'the pack'} only"
    if folder is None:
        return f"table {name}: has another checksum; a pack with runs would say which row"
    try:
        other = Kept.read(folder).table(name)
    except ResultError as error:
        return f"table {name}: cannot be read from the pack: {error}"
    return _of_frames(name, run.tables[name], other)


def _of_frames(name: str, here: pl.DataFrame, there: pl.DataFrame) -> str:
    """Return the first row of the first column that differs; empty if all numbers are equal."""
    if here.columns != there.columns:
        columns = sorted(set(here.columns) ^ set(there.columns))
        return f"table {name}: columns differ: {', '.join(columns) or 'their order'}"
    for column in here.columns:
        if here.schema[column] != there.schema[column]:
            types = f"{here.schema[column]} here, {there.schema[column]} in the pack"
            return f"table {name}, column {column}: {types}"
    if here.height != there.height:
        return f"table {name}: {here.height} rows here, {there.height} in the pack"
    for column in here.columns:
        is_other = (here[column].ne_missing(there[column])).arg_true()
        if len(is_other):
            row = int(is_other[0])
            values = f"{here[column][row]} here, {there[column][row]} in the pack"
            return f"table {name}, column {column}, row {row + 1}: {values}"
    return ""
