"""The tables of a run are plain Arrow and Parquet: another implementation reads the same numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pyarrow.parquet
import pytest

import fullpipe


def read(folder: Path, name: str, known: dict[str, Any]) -> Any:
    """A table as the reference says that it is written."""
    if "offset" not in known:
        return pyarrow.parquet.read_table(folder / f"{name}.parquet")
    data = (folder / "tables.arrow").read_bytes()
    return pyarrow.ipc.open_stream(data[known["offset"] : known["offset"] + known["bytes"]]).read_all()


def test_other_tools_read_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullpipe.runs.encoding.LARGE", 50_000)
    values = {"duration": "1 s", "record.packets": ["sender"]}
    scenario = fullpipe.Scenario.named("single-cubic").with_values(values)
    run = fullpipe.run(scenario, out=tmp_path)
    assert run.folder is not None
    written = json.loads((run.folder / "meta.json").read_bytes())["tables"]
    assert {"offset" in known for known in written.values()} == {True, False}
    for name, known in written.items():
        assert read(run.folder, name, known).to_pydict() == run.tables[name].to_dict(as_series=False)
