"""The layout of runs before small tables were packed: a Parquet file per table, empty ones, too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import fullpipe
from fullpipe.runs import TABLES
from fullpipe.runs.encoding import checksum, sealed

Contents = dict[str, Any]


def written(folder: Path, content: Contents) -> None:
    """Write meta.json as a version would that says `content`."""
    text = json.dumps(content, indent=2, ensure_ascii=False).removesuffix("\n}")
    (folder / "meta.json").write_bytes(sealed(text.encode() + b",\n")[0])


def changed(folder: Path, change: Callable[[Contents], object]) -> None:
    """Change what meta.json says."""
    content = json.loads((folder / "meta.json").read_bytes())
    del content["sha256"]
    change(content)
    written(folder, content)


def with_table(folder: Path, name: str, table: pl.DataFrame) -> None:
    """Write a table of a run as a Parquet file."""
    path = folder / f"{name}.parquet"
    table.write_parquet(path)
    data = path.read_bytes()
    known = {"bytes": len(data), "sha256": checksum(data)}
    changed(folder, lambda content: content["tables"].update({name: known}))


def as_before(folder: Path) -> Path:
    """Give a run the layout of before."""
    run = fullpipe.load(folder)
    tables = {name: run.tables[name] for name in TABLES}
    (folder / "tables.arrow").unlink()
    changed(folder, lambda content: (content["tables"].clear(), content.pop("point")))
    for name, table in tables.items():
        with_table(folder, name, table)
    return folder
