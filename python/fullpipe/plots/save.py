"""Saves a figure: PNG for screens, SVG for print, and its numbers as CSV."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from fullpipe import files
from fullpipe.plots.labels import keep_apart
from fullpipe.plots.style import in_house_style
from fullpipe.plots.svg import smaller

_VARYING = {"png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}
"""What would differ between two equal figures: dates, and versions of the drawing library."""
FORMATS = tuple(_VARYING)
"""Endings of files that a figure can be written as."""


def check_format(path: Path) -> None:
    """Raise ValueError if the ending of a file is not one of `FORMATS`."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise ValueError(f'"{path.name}" does not end in .{", .".join(FORMATS)}')


@in_house_style
def save_as(figure: Figure, data: pl.DataFrame | None, path: Path) -> list[Path]:
    """Write one file, in the format that its ending names, and the numbers, if given, as CSV beside it. The
    folder is made if there is none.

    Raises:
        ValueError: If the ending is not one of `FORMATS`.
        ResultError: If the file cannot be written.
    """
    check_format(path)
    files.make_folder(path.parent)
    keep_apart(figure)
    _draw(figure, path)
    return [path] if data is None else [path, _numbers(data, path)]


@in_house_style
def save(figure: Figure, data: pl.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write `name`.png, `name`.svg and `name`.csv into the folder, and return the three paths.

    The same figure gives the same bytes: no dates, no version of the drawing library.

    Raises:
        ValueError: If the name is not that of a file, because it leads to another folder.
        ResultError: If the folder cannot be made, say because it is a file, or a file cannot be written.
    """
    if name in ("", ".", "..") or any(character in name for character in "/\\\0"):
        raise ValueError(f'"{name}" is no name of a figure: it must not be empty or lead to another folder')
    files.make_folder(folder)
    keep_apart(figure)
    png, svg = (folder / f"{name}.{suffix}" for suffix in ("png", "svg"))
    _draw(figure, png)
    _draw(figure, svg)
    return [png, svg, _numbers(data, svg)]


def _draw(figure: Figure, path: Path) -> None:
    format = path.suffix.removeprefix(".")
    drawn = BytesIO()
    figure.savefig(drawn, format=format, metadata=dict.fromkeys(_VARYING[format]))
    written = drawn.getvalue()
    files.write(path, smaller(written.decode()).encode() if format == "svg" else written)


def _numbers(data: pl.DataFrame, beside: Path) -> Path:
    return files.write_csv(beside.with_suffix(".csv"), data)
