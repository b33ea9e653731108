"""Studies: what is printed, and beside it what our runs give, where the store has a study that was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import studies
from fullpipe.errors import ResultError

_MOST_BYTES = 20_000_000
_FILE = "verdicts.csv"


def all_studies(store: Path) -> list[dict[str, Any]]:
    """Every study: its title, how much is printed there, and the verdicts if it was run."""
    return [_told(store, name) for name in studies.names()]


def study(store: Path, name: str) -> dict[str, Any]:
    """A study with every printed number and claim.

    Raises:
        UnknownNameError: If there is none of that name.
        ResultError: If what the store has of it cannot be read.
    """
    claims = studies.printed(name)
    found = {row["where"]: row for row in _verdicts(store, name)}
    rows = [
        {"where": claim.id, "printed": claim.says, "unit": claim.unit, **_ours(found.get(claim.id))}
        for claim in claims
    ]
    return {**_told(store, name), "rows": rows}


def _told(store: Path, name: str) -> dict[str, Any]:
    tally: dict[str, int] = {}
    for row in _verdicts(store, name):
        if row["counted"]:
            tally[row["verdict"]] = tally.get(row["verdict"], 0) + 1
    return {
        "name": name,
        "title": studies.title(name),
        "printed": len(studies.printed(name)),
        "tally": tally,
        "command": f"fullpipe paper {name} --quick",
    }


def _ours(row: dict[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {"verdict": None}
    keys = ("ours", "ours_low", "ours_high", "verdict", "why", "by_tolerance", "held", "compared")
    return {key: row[key] for key in keys}


def _verdicts(store: Path, name: str) -> list[dict[str, Any]]:
    """The verdicts that the store has, of each claim under the reading that counts; none without a run."""
    path = store / "papers" / name / _FILE
    if not path.is_file():
        return []
    if path.stat().st_size > _MOST_BYTES:
        raise ResultError(f"{name}: its table of verdicts is too large to be shown")
    try:
        table = pl.read_csv(path, infer_schema_length=None)
        first = table.unique("where", keep="first", maintain_order=True)
        return first.select(
            "where",
            *(pl.col(key).cast(pl.Float64) for key in ("ours", "ours_low", "ours_high")),
            *(pl.col(key).cast(pl.Int64) for key in ("held", "compared")),
            "verdict",
            "why",
            pl.col("by_tolerance", "counted").cast(pl.Boolean),
        ).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ResultError(f"{name}: its table of verdicts cannot be read; run the study again") from error
