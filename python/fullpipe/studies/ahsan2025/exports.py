"""Reads the authors' exports of Flent's plots, and facts about the testbed from their Flent files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fullpipe.engines.flent import described
from fullpipe.engines.flent.remarks import ended_on_the_way
from fullpipe.engines.flent.run import read_test
from fullpipe.errors import InputFileError, brief
from fullpipe.studies.text import Aligned

# Exports of Flent's plots: CSV files with a row per 0.2 s, and a column per series and algorithm. Cells can
# be empty.


Vector = npt.NDArray[np.float64]

LARGEST_BYTES = 64 << 20
NAMES = {
    "bbr-v3": "BBRv3",
    "bbr-n+": "BBR-n+",
    "cubic": "CUBIC",
    "reno": "Reno",
    "dctcp": "DCTCP",
    "vegas": "Vegas",
    "veno": "Veno",
    "nevada": "NV",
    "yeah": "YeAH",
}
"""Names of algorithms in Fullpipe, by the names in the authors' files in lower case."""


@dataclass(frozen=True)
class Export:
    """An export of Flent's plots. Cells are converted to numbers when they are used."""

    path: Path
    rows: Sequence[Sequence[str]]
    columns: Mapping[tuple[str, str], int]
    """Indices of the columns, by series and algorithm."""

    def series(self) -> list[str]:
        """Return the names of the series."""
        return list(dict.fromkeys(series for series, _ in self.columns))

    def times_s(self) -> Vector:
        """Return the times in the first column, in s."""
        return np.array([self._number(row, 0) for row in range(len(self.rows))])

    def values(self, series: str, algorithm: str) -> Vector:
        """Return the column of a series and an algorithm, in the unit of the export. Empty cells are NaN.

        Raises:
            InputFileError: If the export has no such column.
        """
        column = self._column(series, algorithm)
        return np.array([self._number(row, column) for row in range(len(self.rows))])

    def window(self, series: str, algorithms: Sequence[str], rows: int) -> dict[str, Vector]:
        """Return the values of a series in `rows` consecutive rows, by algorithm.

        The first of these rows is the first row in which at least one of the algorithms has a value.

        Raises:
            InputFileError: If a column is missing, a cell is not a number, or the export has too few rows.
        """
        columns = {name: self.values(series, name) for name in algorithms}
        known = np.any([~np.isnan(values) for values in columns.values()], axis=0)
        first = int(np.argmax(known)) if known.any() else len(self.rows)
        if len(self.rows) - first < rows:
            raise InputFileError(
                f"{self.path.name}: {series} has {len(self.rows) - first} rows from its first value on, but "
                f"{rows} are needed; copy the file again, as its end seems to be missing"
            )
        cut = {name: values[first : first + rows] for name, values in columns.items()}
        found = {name: values[~np.isnan(values)] for name, values in cut.items()}
        for name, values in found.items():
            if values.size < rows // 2:
                raise InputFileError(
                    f"{self.path.name}: {series} of {name} has {values.size} values in {rows} rows"
                )
        return found

    def _column(self, series: str, algorithm: str) -> int:
        if (series, algorithm) not in self.columns:
            theirs = next((name for name, ours in NAMES.items() if ours == algorithm), algorithm)
            raise InputFileError(f'{self.path.name}: the column "{series} - {theirs}" is missing')
        return self.columns[series, algorithm]

    def _number(self, row: int, column: int) -> float:
        """Return the number in a cell, or NaN for an empty cell."""
        cell = self.rows[row][column].strip()
        if not cell:
            return math.nan
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            where = f"{self.path.name}, line {row + 2}, column {column + 1}"
            raise InputFileError(f'{where}: "{brief(cell)}" is not a number')
        return value


def read(path: Path) -> Export:
    """Read an export of Flent's plots.

    Raises:
        InputFileError: If the file cannot be read, is empty, is too large, is not an export, or has a line
        with missing cells.
    """
    lines = _lines(path)
    if len(lines) < 2:
        raise InputFileError(f"{path.name}: the file has no rows below the column heads")
    heads = lines[0]
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(heads):
            raise InputFileError(
                f"{path.name}, line {number}: {len(line)} cells, but the first line has {len(heads)}; "
                "copy the file again, as its end seems to be missing"
            )
    columns = {}
    for n, head in enumerate(heads):
        series, dash, theirs = head.rpartition(" - ")
        if dash and theirs.strip().lower() in NAMES:
            columns[series.strip(), NAMES[theirs.strip().lower()]] = n
    if not columns:
        raise InputFileError(
            f'{path.name}: no column head is "series - algorithm", as in an export of Flent\'s plots'
        )
    return Export(path, lines[1:], columns)


def _lines(path: Path) -> list[list[str]]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputFileError(f"{path.name}: the file is larger than {LARGEST_BYTES >> 20} MiB")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [line for line in csv.reader(file, strict=True) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputFileError(f"{path.name}: the file cannot be read: {brief(str(error))}") from None


# Facts about the testbed that are in the authors' Flent files but not in the paper: queues, proxies,
# algorithms.


HEAD = (
    "The testbed, from Flent's files. A proxy or NAT terminates TCP if the RTT of uploads is less than "
    "half of the ping's: such tests do not measure the algorithm on that path. Uploads have the algorithm of "
    "the test host, downloads that of the server:"
)


@dataclass(frozen=True, order=True)
class File:
    """Facts about the testbed in one file of Flent."""

    folder: str
    test: str
    queue: str
    """Name of the test host's queue discipline, as in `tc`."""
    is_ended: bool
    """Whether a proxy or NAT splits every upload of the test into two TCP connections."""
    uploads: tuple[str, ...]
    """Algorithms of the sockets that sent uploads."""
    downloads: tuple[str, ...]


def in_folder(folder: Path) -> list[File]:
    """Read every file of Flent below a folder, and return the files' facts about the testbed, sorted. Raises
    InputFileError for a damaged file."""
    return sorted(map(_file, folder.rglob("*.flent.gz")))


def text(files: Sequence[File]) -> list[str | Aligned]:
    """Return the section of the report about the testbed, with a row per folder and test; empty without
    files."""
    if not files:
        return []
    rows = [["folder", "test", "files", "queue", "TCP ended", "uploads", "downloads"]]
    for (folder, test), group in groupby(files, key=lambda one: (one.folder, one.test)):
        of = list(group)
        ended = f"{sum(one.is_ended for one in of)} of {len(of)}"
        ways = [_names(one.uploads for one in of), _names(one.downloads for one in of)]
        rows.append([folder, test, str(len(of)), _counted([one.queue for one in of]), ended, *ways])
    return [HEAD, Aligned(rows)]


def _file(path: Path) -> File:
    found = read_test(path)
    ended = {flow for flow, *_ in ended_on_the_way(found)}
    uploads = [one for one in found.streams if one.is_upload]
    downloads = [one for one in found.streams if not one.is_upload]
    return File(
        path.parent.name,
        found.document.text("NAME"),
        described.discipline(found.document),
        bool(uploads) and all(one.flow in ended for one in uploads),
        tuple(sorted({one.algorithm for one in uploads})),
        tuple(sorted({one.algorithm for one in downloads})),
    )


def _names(several: Iterable[Sequence[str]]) -> str:
    return ", ".join(sorted({name for names in several for name in names if name}))


def _counted(names: Sequence[str]) -> str:
    """Return each name with the number of its occurrences.

    >>> _counted(["fq", "fq", "cake"])
    '1 cake, 2 fq'
    """
    return ", ".join(f"{names.count(name)} {name or 'unknown'}" for name in sorted(set(names)))
