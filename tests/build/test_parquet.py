"""The tables of a run are plain Parquet: another implementation reads the same numbers."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

import fullpipe


def test_other_tools_read_the_tables(tmp_path: Path) -> None:
    scenario = fullpipe.Scenario.named("single-cubic").with_values({"duration": "1 s"})
    run = fullpipe.run(scenario, out=tmp_path)
    assert run.folder is not None
    for name, table in run.tables.items():
        read = pyarrow.parquet.read_table(run.folder / f"{name}.parquet")
        assert read.to_pydict() == table.to_dict(as_series=False)
