"""Runs that an older version kept stay readable: what it did not have is empty or null, the rest as it was.

The folder kept-before was written by the version before tables had a version. It is never written again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fullpipe
from fullpipe import NoRunError, Run, Scenario
from fullpipe.runs import SCHEMA_VERSION, TABLES
from tests.layouts import as_before, changed, with_table

BEFORE = Path(__file__).with_name("kept-before")


def without_table(folder: Path, name: str) -> None:
    (folder / f"{name}.parquet").unlink()
    changed(folder, lambda content: content["tables"].pop(name))


def without_column(folder: Path, name: str, column: str) -> None:
    with_table(folder, name, pl.read_parquet(folder / f"{name}.parquet").drop(column))


@pytest.fixture
def run(small: Scenario, tmp_path: Path) -> Run:
    """A run with a Parquet file per table."""
    run = fullpipe.load(as_before(folder_of(fullpipe.run(small, out=tmp_path))))
    assert dict(run.tables)  # read now
    return run


def folder_of(run: Run) -> Path:
    assert run.folder
    return run.folder


def test_a_run_of_before_is_read_with_the_columns_of_today() -> None:
    old = fullpipe.load(BEFORE)
    assert old.meta.schema_version == 0
    assert {name: old.tables[name].schema for name in TABLES} == {n: t.schema for n, t in TABLES.items()}


def test_a_run_of_before_has_the_numbers_that_it_had() -> None:
    kept = fullpipe.load(BEFORE).flows
    assert kept["flow"].to_list() == ["reno-1"]
    assert (kept["sent_packets"][0], kept["delivered_bytes"][0]) == (860, 1_148_264)
    written_then = pl.read_parquet(BEFORE / "flows.parquet")
    assert kept.select(written_then.columns).equals(written_then)


def test_the_command_line_reads_a_run_of_before(fullpipe: Callable[..., Any]) -> None:
    result = fullpipe("metrics", BEFORE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "goodput" in result.stdout


def test_a_run_of_parquet_files_is_found_and_not_made_again(small: Scenario, run: Run) -> None:
    found = fullpipe.run(small, out=folder_of(run).parent.parent)
    assert found.meta.started == run.meta.started
    assert sorted(path.name for path in folder_of(run).iterdir()) == sorted(
        ["meta.json", *(f"{name}.parquet" for name in TABLES)]
    )
    assert all(found.tables[name].equals(run.tables[name]) for name in TABLES)


def test_a_changed_byte_of_a_parquet_file_is_noticed(small: Scenario, run: Run) -> None:
    path = folder_of(run) / "flows.parquet"
    path.write_bytes(path.read_bytes()[:-5] + b"x" + path.read_bytes()[-4:])
    with pytest.raises(fullpipe.ResultError, match=r"flows\.parquet: damaged"):
        _ = fullpipe.load(folder_of(run)).flows
    assert fullpipe.run(small, out=folder_of(run).parent.parent).flows.height == 1


def test_a_run_says_the_version_of_its_tables(run: Run) -> None:
    content = json.loads((folder_of(run) / "meta.json").read_bytes())
    assert content["schema_version"] == SCHEMA_VERSION == run.meta.schema_version


@pytest.mark.parametrize("name", ["variables", "transfers", "links"])
def test_a_table_that_a_version_did_not_have_is_empty(run: Run, name: str) -> None:
    without_table(folder_of(run), name)
    old = fullpipe.load(folder_of(run))
    assert old.tables[name].equals(pl.DataFrame(schema=TABLES[name].schema))
    assert old.flows.equals(run.flows)


def test_a_table_that_was_written_and_is_gone_is_missed(run: Run) -> None:
    (folder_of(run) / "variables.parquet").unlink()
    with pytest.raises(NoRunError, match=r"there is no variables\.parquet"):
        fullpipe.load(folder_of(run))


def test_a_column_that_a_version_did_not_have_is_null(run: Run) -> None:
    without_column(folder_of(run), "flows", "lost_packets")
    flows = fullpipe.load(folder_of(run)).flows
    assert flows.columns == run.flows.columns
    assert flows.schema["lost_packets"] == pl.Int64
    assert flows["lost_packets"].null_count() == flows.height > 0
    assert flows.drop("lost_packets").equals(run.flows.drop("lost_packets"))


def test_a_run_with_other_columns_is_read_and_made_again(small: Scenario, run: Run) -> None:
    without_column(folder_of(run), "flows", "lost_packets")
    changed(folder_of(run), lambda content: content.update(columns="0123456789abcdef"))
    assert fullpipe.load(folder_of(run)).flows.height == run.flows.height
    again = fullpipe.run(small, out=folder_of(run).parent.parent)
    assert again.flows["lost_packets"].null_count() == 0


def test_a_run_of_a_newer_version_is_refused_with_what_to_do(run: Run) -> None:
    changed(folder_of(run), lambda content: content.update(schema_version=SCHEMA_VERSION + 1))
    with pytest.raises(NoRunError, match=r"a newer version stored this run .* update fullpipe to read it"):
        fullpipe.load(folder_of(run))


def test_without_checksums_a_missing_table_is_an_empty_one(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(folder_of(run), folder)
    content = json.loads((folder / "meta.json").read_bytes())
    for key in ("columns", "tables", "sha256", "schema_version"):
        del content[key]
    (folder / "meta.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "videos.parquet").unlink()
    with pytest.warns(UserWarning, match="without checksums"):
        old = fullpipe.load(folder)
    assert old.videos.is_empty()
    assert old.flows.equals(run.flows)
