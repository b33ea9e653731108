"""Files of the index of a store: each holds a few tables, is written once and is never changed.

A file begins with a line of JSON that says where its tables are and what they are known by. Its name is the
checksum of that line, so that a file which is not what was written is noticed, whatever has changed.
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
"""Ends of names: files of tables of runs, and of values worked out of them. They end in the version of these
files; those of another one are left alone."""
_LONGEST_LINE = 1 << 16


@cache
def _sums() -> TypeAdapter[dict[str, Sum]]:
    """Reads and writes the first line."""
    return TypeAdapter(dict[str, Sum])


class DamagedError(Exception):
    """A file of the index is not what was written, or is gone."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


@dataclass(frozen=True)
class Segment:
    """One of the files."""

    path: Path
    size: int
    _sums: Mapping[str, Sum]
    _begin: int

    @classmethod
    def read(cls, path: Path) -> Segment:
        """What a file says that it holds.

        Raises:
            DamagedError: If it is not what was written.
        """
        try:
            with BufferedReader(files.open_regular(path)) as file:
                line = file.readline(_LONGEST_LINE)
                size = os.fstat(file.fileno()).st_size
            if path.name != _name(line, path.suffix):
                raise DamagedError(path)
            sums, begin = _sums().validate_json(line), len(line)
            if any(begin + (known.offset or 0) + known.bytes > size for known in sums.values()):
                raise DamagedError(path)  # so much memory would be taken to read it
            return cls(path, size, sums, begin)
        except (OSError, ValueError) as error:
            raise DamagedError(path) from error

    def __contains__(self, name: str) -> bool:
        return name in self._sums

    def bytes_of(self, name: str) -> int:
        """Size of one of its tables."""
        return self._sums[name].bytes

    def table(self, name: str) -> pl.DataFrame:
        """One of its tables.

        Raises:
            DamagedError: If it is not what was written.
        """
        try:
            return decoded(self.content(name))
        except UnreadableError as error:
            raise DamagedError(self.path) from error

    def content(self, name: str) -> bytes:
        """One of its tables as bytes.

        Raises:
            DamagedError: If it is not what was written.
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
    """The files of the index of a store."""
    return sorted((root / FOLDER).glob(f"*{suffix}"))


def add(root: Path, place: Path, tables: Mapping[str, bytes | memoryview], suffix: str = TABLES) -> Segment:
    """Write a file of encoded tables into the index of a store; `place` is a hidden folder of ours in the
    store.

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
