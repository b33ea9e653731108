"""Frames of any columns on a terminal, as CSV and as JSON."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from math import isfinite
from typing import Any

import polars as pl

from fullpipe.cli.console import listing, terminal
from fullpipe.cli.forms import NOTHING
from fullpipe.cli.output import echo, plain

_MOST_ROWS = 200
"""On a terminal."""


def as_table(frame: pl.DataFrame, all_by: str) -> None:
    """Print the first rows of a frame, in several tables where a terminal is too narrow for one.

    `all_by` is the option that prints all rows.
    """
    console = terminal()
    for block in _blocks(frame.head(_MOST_ROWS), console.width):
        made = listing(*block)
        for column, name in zip(made.columns, block, strict=True):
            column.justify = "right" if frame.schema[name].is_numeric() else "left"
        for row in zip(*block.values(), strict=True):
            made.add_row(*row)
        console.print(made)
    if frame.height > _MOST_ROWS:
        echo(f"{frame.height:,} rows, of which {_MOST_ROWS} are shown; {all_by} prints all")


def as_csv(frame: pl.DataFrame) -> None:
    """Print a frame as CSV, numbers in full."""
    written = StringIO()
    rows = ([_exact(value) for value in row] for row in frame.iter_rows())
    csv.writer(written, lineterminator="\n").writerows([frame.columns, *rows])
    echo(written.getvalue(), nl=False)


def as_json(frame: pl.DataFrame) -> None:
    """Print one JSON object per row; what is no finite number is null."""
    for row in frame.iter_rows(named=True):
        echo(json.dumps({name: _known(value) for name, value in row.items()}, allow_nan=False))


def _blocks(frame: pl.DataFrame, width: int) -> Iterator[dict[str, list[str]]]:
    """The columns as text, as many at a time as a terminal of a width takes."""
    block: dict[str, list[str]] = {}
    left = width
    for name in frame.columns:
        cells = [_short(value) for value in frame[name].to_list()]
        needed = 1 + max(len(plain(cell)) for cell in (name, *cells))
        if block and needed > left:
            yield block
            block, left = {}, width
        block[name] = cells
        left -= needed
    yield block


def _short(value: Any) -> str:
    if value is None:
        return NOTHING
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _exact(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _known(value: Any) -> Any:
    """A value as JSON has it: text, where JSON has nothing of the kind."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list):
        return [_known(each) for each in value]
    if isinstance(value, dict):
        return {name: _known(each) for name, each in value.items()}
    return value if value is None or isinstance(value, bool | int | str) else str(value)
