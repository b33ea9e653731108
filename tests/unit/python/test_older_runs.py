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
from fullpipe.runs.kept import _sealed, _sum

BEFORE = Path(__file__).with_name("kept-before")
Contents = dict[str, Any]


def written(folder: Path, content: Contents) -> None:
    """Write meta.json as a version would that says `content`."""
    text = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    (folder / "meta.json").write_bytes(_sealed(text.encode() + b",\n"))


def changed(folder: Path, change: Callable[[Contents], None]) -> None:
    content = json.loads((folder / "meta.json").read_bytes())
    del content["sha256"]
    change(content)
    written(folder, content)


def without_table(folder: Path, name: str) -> None:
    (folder / f"{name}.parquet").unlink()
    changed(folder, lambda content: content["tables"].pop(name))


def without_column(folder: Path, name: str, column: str) -> None:
    path = folder / f"{name}.parquet"
    pl.read_parquet(path).drop(column).write_parquet(path)
    data = path.read_bytes()
    changed(
        folder, lambda content: content["tables"].update({name: {"bytes": len(data), "sha256": _sum(data)}})
    )


@pytest.fixture
def run(small: Scenario, tmp_path: Path) -> Run:
    return fullpipe.run(small, out=tmp_path)


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
    with pytest.raises(NoRunError, match=r"a newer version kept this run .* update fullpipe to read it"):
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
