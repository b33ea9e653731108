"""A figure on disk: PNG to look at, SVG to print, CSV to check."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from fullpipe.errors import ResultError
from fullpipe.plots.style import in_house_style

FORMATS = ("png", "svg", "pdf")


@in_house_style
def save_as(figure: Figure, data: pl.DataFrame, path: Path) -> list[Path]:
    """Write one file, in the format that its ending names, and the numbers as CSV beside it.

    Raises:
        ValueError: If the ending is not one of `FORMATS`.
        ResultError: If the file cannot be written.
    """
    format = path.suffix.removeprefix(".")
    if format not in FORMATS:
        raise ValueError(f'"{path.name}" does not end in .{", .".join(FORMATS)}')
    dates = {"png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}
    csv = path.with_suffix(".csv")
    try:
        figure.savefig(path, format=format, metadata=dict.fromkeys(dates[format]))
        data.write_csv(csv, float_precision=6)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {error.strerror or error}") from error
    return [path, csv]


@in_house_style
def save(figure: Figure, data: pl.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write `name`.png, `name`.svg and `name`.csv into the folder, and return the three paths.

    The same figure gives the same bytes: no dates, no version of the drawing library.

    Raises:
        ValueError: If the name is not that of a file, because it leads to another folder.
        ResultError: If the folder cannot be made, say because it is a file.
    """
    if name in ("", ".", "..") or any(character in name for character in "/\\\0"):
        raise ValueError(f'"{name}" is no name of a figure: it must not be empty or lead to another folder')
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"{folder}: not a folder for figures: {error.strerror}") from error
    png, svg, csv = (folder / f"{name}.{suffix}" for suffix in ("png", "svg", "csv"))
    figure.savefig(png, format="png", metadata={"Software": None})
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    data.write_csv(csv, float_precision=6)
    return [png, svg, csv]
