"""Studies: what is printed, and beside it what our runs give, where the store has a study that was run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe import studies
from fullpipe.errors import ResultError
from fullpipe.studies.document import described

_MOST_BYTES = 20_000_000
_FILE = "verdicts.csv"
_PNG = b"\x89PNG\r\n\x1a\n"
_WORDS = re.compile(r"(\d+)")
_MOST = 200
"""Figures of a study."""


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
    figures = [{"name": path.stem, "title": described(path.stem)} for path in _pictures(store, name)]
    return {**_told(store, name), "rows": rows, "figures": figures}


def figure(store: Path, name: str, wanted: str) -> bytes:
    """A figure of a study as PNG.

    Raises:
        UnknownNameError: If there is no such study.
        ResultError: If there is no such figure.
    """
    studies.title(name)
    found = {path.stem: path for path in _pictures(store, name)}
    path = found.get(wanted)
    data = b"" if path is None or path.stat().st_size > _MOST_BYTES else path.read_bytes()
    if not data.startswith(_PNG):
        raise ResultError(f"{name}: no such figure")
    return data


def _pictures(store: Path, name: str) -> list[Path]:
    """The figures that were drawn for a study: "figure-2" before "figure-10"."""
    folder = store / "papers" / name
    found = [path for path in folder.glob("*.png") if path.is_file()] if folder.is_dir() else []
    return sorted(found, key=_in_order)[:_MOST]


def _in_order(path: Path) -> list[int | str]:
    return [int(word) if word.isdecimal() else word for word in _WORDS.split(path.stem)]


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
    keys = ("setting", "ours", "ours_low", "ours_high", "verdict", "why", "by_tolerance", "held", "compared")
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
            *(_finite(key) for key in ("ours", "ours_low", "ours_high")),
            *(pl.col(key).cast(pl.Int64) for key in ("held", "compared")),
            "verdict",
            "why",
            "setting",
            pl.col("by_tolerance", "counted").cast(pl.Boolean),
        ).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ResultError(f"{name}: its table of verdicts cannot be read; run the study again") from error


def _finite(column: str) -> pl.Expr:
    """A column of numbers; null where one is infinite or no number, which JSON cannot say."""
    number = pl.col(column).cast(pl.Float64)
    return pl.when(number.is_finite()).then(number).alias(column)
