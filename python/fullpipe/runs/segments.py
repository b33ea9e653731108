"""Segments, which are the files of the index of a store, and the order of the scenarios of a store."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import TypeAdapter

from fullpipe import files
from fullpipe.runs.encoding import Sum, UnreadableError, checksum, decoded
from fullpipe.runs.meta import DIGEST

if TYPE_CHECKING:
    import polars as pl


# Files of the index of a store. Each file contains a few tables. A file is written once and never changes.
# A file begins with a line of JSON that has the positions and the checksums of its tables. The name of the
# file is the checksum of that line, so any change in a file is noticed.


FOLDER = ".index"
TABLES, VALUES = ".tables-1", ".values-1"
"""Suffix of files with tables of runs, and suffix of files with values computed from runs. A suffix includes
the version of the format. Files of other versions are ignored."""
_LONGEST_LINE = 1 << 16


@cache
def _sums() -> TypeAdapter[dict[str, Sum]]:
    """Return the type adapter that reads and writes the first line of a file of the index."""
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
        """Read the first line of a file of the index.

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
                raise DamagedError(path)  # reading would allocate as much memory as the line claims
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
            DamagedError: If the table is damaged.
        """
        try:
            return decoded(self.content(name))
        except UnreadableError as error:
            raise DamagedError(self.path) from error

    def content(self, name: str) -> bytes:
        """Read the bytes of a table.

        Raises:
            DamagedError: If the bytes are damaged.
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
    """Return the files of a store's index that have this suffix."""
    return sorted((root / FOLDER).glob(f"*{suffix}"))


def add(root: Path, place: Path, tables: Mapping[str, bytes | memoryview], suffix: str = TABLES) -> Segment:
    """Write a file of encoded tables into a store's index. `place` is a hidden folder of this process in the
    store.

    Raises:
        OSError: If the file cannot be written.
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


# The order of the scenarios of a store: the order in which sweeps and commands ran the scenarios.
# The metadata of a run have its sweep point, but not the position of the point in the sweep. The file
# `.order` of a store therefore lists the digests of the scenarios in order. If two commands ran the same
# scenarios, the order of the later command counts. Without this file, as in older stores, runs are sorted by
# the text of their scenarios.


FILE = ".order"
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")


def read(root: Path) -> list[str]:
    """Return the digests in the file `.order` of a store; empty if the file is missing or invalid."""
    with suppress(OSError, ValueError), files.open_regular(root / FILE) as file:
        lines = file.readall().decode("ascii").splitlines()
        return [line for line in dict.fromkeys(lines) if re.fullmatch(DIGEST, line)]
    return []


def write(root: Path, place: Path, digests: Iterable[str]) -> None:
    """Write digests in their order to `.order`. `place` is a hidden folder of this process in the store.

    Raises:
        OSError: If the file cannot be written.
    """
    draft = place / f"order-{uuid4().hex}"
    files.put(draft, "".join(f"{digest}\n" for digest in digests).encode())
    draft.replace(root / FILE)


def merged(before: Sequence[str], named: Sequence[str]) -> list[str]:
    """Merge two orders. Digests in `named` get the order of `named`; digests only in `before` keep their
    positions.

    A new digest follows the digest that precedes it in `named`.

    >>> merged(["a", "b", "c"], ["c", "new", "a"])
    ['c', 'new', 'b', 'a']
    """
    known, again = set(before), set(named)
    new: dict[str | None, list[str]] = {}
    last = None
    for digest in named:
        if digest in known:
            last = digest
        else:
            new.setdefault(last, []).append(digest)
    turns = iter([digest for digest in named if digest in known])
    kept = [next(turns) if digest in again else digest for digest in before]
    behind = [each for digest in kept for each in (digest, *new.get(digest, ()))]
    first = new.get(None, [])
    return [*behind, *first] if last is None else [*first, *behind]


def places(root: Path, others: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the position of every digest: first the digests in `.order`, then the `others`, sorted by text.

    `others` has pairs of a digest and a text. Numbers in texts are compared as numbers.
    """
    known = dict.fromkeys(read(root))
    rest = sorted((by_size(text), digest) for digest, text in others if digest not in known)
    return {digest: place for place, digest in enumerate([*known, *(digest for _, digest in rest)])}


def told(name: str, point: Any, scenario: Any) -> str:
    """Return the text by which runs that `.order` does not list are sorted: name, sweep point, scenario."""
    return f"{name} {json.dumps(point, default=str)} {json.dumps(scenario, default=str)}"


def by_size(text: str) -> list[tuple[float, str]]:
    """Return a sort key of text in which numbers are compared as numbers.

    >>> sorted(["10 ms", "5 ms", "bbr3"], key=by_size)
    ['5 ms', '10 ms', 'bbr3']
    """
    parts = _NUMBER.split(text)
    return [(float(part), "") if n % 2 else (float("inf"), part) for n, part in enumerate(parts) if part]
