"""Files of a store's index. Each contains a few tables, is written once and never changes.

A file begins with a line of JSON that has the positions and the checksums of its tables. Its name is the
checksum of that line, so any change in a file is noticed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from fullpipe import files
from fullpipe.runs.encoding import UnreadableError, checksum, decoded
from fullpipe.runs.sums import Sum

if TYPE_CHECKING:
    import polars as pl

FOLDER = ".index"
TABLES, VALUES = ".tables-1", ".values-1"
"""Suffixes of files with tables of runs, and with values computed from them. They include the version of the
format. Files of other versions are ignored."""
_LONGEST_LINE = 1 << 16


@cache
def _sums() -> TypeAdapter[dict[str, Sum]]:
    """Return the type that reads and writes the first line."""
    return TypeAdapter(dict[str, Sum])


class DamagedError(Exception):
    """A file of the index is damaged or missing."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


@dataclass(frozen=True)
class Segment:
    """A file of the index."""

    path: Path
    size: int
    _sums: Mapping[str, Sum]
    _begin: int

    @classmethod
    def read(cls, path: Path) -> Segment:
        """Read the first line of a file.

        Raises:
            DamagedError: If the file cannot be read or is damaged.
        """
        try:
            with BufferedReader(files.open_regular(path)) as file:
                line = file.readline(_LONGEST_LINE)
                size = os.fstat(file.fileno()).st_size
            if path.name != _name(line, path.suffix):
                raise DamagedError(path)
            sums, begin = _sums().validate_json(line), len(line)
            if any(begin + (known.offset or 0) + known.bytes > size for known in sums.values()):
                raise DamagedError(path)  # reading would allocate this much memory
            return cls(path, size, sums, begin)
        except (OSError, ValueError) as error:
            raise DamagedError(path) from error

    def __contains__(self, name: str) -> bool:
        return name in self._sums

    def bytes_of(self, name: str) -> int:
        """Return the size of a table."""
        return self._sums[name].bytes

    def table(self, name: str) -> pl.DataFrame:
        """Read a table.

        Raises:
            DamagedError: If it is damaged.
        """
        try:
            return decoded(self.content(name))
        except UnreadableError as error:
            raise DamagedError(self.path) from error

    def content(self, name: str) -> bytes:
        """Read the bytes of a table.

        Raises:
            DamagedError: If they are damaged.
        """
        try:
            known = self._sums[name]
            with files.open_regular(self.path) as file:
                file.seek(self._begin + (known.offset or 0))
                data = file.read(known.bytes)
            if checksum(data) != known.sha256:
                raise DamagedError(self.path)
            return data
        except (KeyError, OSError) as error:
            raise DamagedError(self.path) from error


def paths(root: Path, suffix: str = TABLES) -> list[Path]:
    """Return the files of a store's index."""
    return sorted((root / FOLDER).glob(f"*{suffix}"))


def add(root: Path, place: Path, tables: Mapping[str, bytes | memoryview], suffix: str = TABLES) -> Segment:
    """Write a file of encoded tables into a store's index. `place` is a hidden folder of this process there.

    Raises:
        OSError: If it cannot be written.
    """
    sums, offset = {}, 0
    for name, data in tables.items():
        sums[name] = Sum(bytes=len(data), sha256=checksum(data), offset=offset)
        offset += len(data)
    line = _sums().dump_json(sums) + b"\n"
    name = _name(line, suffix)
    draft, final = place / name, root / FOLDER / name
    files.put(draft, b"".join((line, *tables.values())))
    final.parent.mkdir(exist_ok=True)
    draft.replace(final)
    return Segment(final, len(line) + offset, sums, len(line))


def _name(line: bytes, suffix: str) -> str:
    return checksum(line)[:32] + suffix
