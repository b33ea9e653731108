"""Reading of untrusted Flent files: sizes are bounded, and the type of every value is checked."""

import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from fullpipe import files
from fullpipe.errors import InputFileError, brief, shown

MOST_BYTES = 64_000_000
"""Largest file, uncompressed."""
MOST_VALUES = 2_000_000
"""Largest total number of lists, tables and items of a file, because a byte of JSON text can take a hundred
bytes in memory."""
NEWEST = 4
"""Newest format version, which Flent 2 writes."""
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 4_096
_KEYS = (b'"metadata"', b'"raw_values"', b'"x_values"')
"""Keys of a Flent file; the first bytes of an uncompressed file contain at least one of them."""
_LARGEST = 1e15
"""Upper bound of the absolute value of all numbers of a test. Times since 1970 are below 1e11 s."""
_NEEDED = ("t", "val", "dur")
"""Keys of a data point whose values must be numbers if present."""

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Document:
    """The content of a file. Times and values are finite numbers."""

    version: int
    metadata: Mapping[str, Any]
    x_values: Sequence[float]
    results: Mapping[str, Sequence[float | None]]
    raw_values: Mapping[str, Sequence[Point]]

    def number(self, key: str) -> float | None:
        """Return a number of the metadata, or None."""
        return number(self.metadata.get(key))

    def text(self, key: str) -> str:
        """Return text of the metadata, safe to print, or ""."""
        return brief(text(self.metadata, key))

    @property
    def hosts(self) -> Sequence[str]:
        """Names of the servers, as given to the test."""
        several = self.metadata.get("HOSTS")
        named = several if isinstance(several, list) else [self.metadata.get("HOST")]
        return [name for name in named if isinstance(name, str) and name]

    def table(self, *keys: str) -> Mapping[str, Any]:
        """Return a table within the metadata; empty if it does not exist."""
        found: Any = self.metadata
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def series_meta(self, series: str) -> Mapping[str, Any]:
        """Return the metadata of a series."""
        return self.table("SERIES_META", series)


def number(value: object) -> float | None:
    """Return a finite number in the range of a test, or None. Special values such as -1 are kept."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) < _LARGEST else None


def text(table: Mapping[str, Any], key: str) -> str:
    """Return a value of a table if it is text, else ""."""
    value = table.get(key)
    return value if isinstance(value, str) else ""


def read(path: Path) -> Document:
    """Read a file, compressed or not.

    Raises:
        InputFileError: If the file cannot be read, is too large, or is not a Flent file; the message has one
            line.
    """
    try:
        return _checked(_parsed(_unpacked(path)))
    except _WrongError as error:
        raise InputFileError(f"{path}: {error}") from None
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None


def is_file(path: Path) -> bool:
    """Whether a file is gzip, or begins like a Flent file; False if it cannot be read."""
    try:
        with files.open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return head[:2] == _GZIP or any(key in head for key in _KEYS)


class _WrongError(Exception):
    """Error about a faulty file; its text describes the fault."""


def _unpacked(path: Path) -> bytes | bytearray:
    with files.open_regular(path) as file:
        packed = file.read(MOST_BYTES + 1)
    if packed[:2] != _GZIP:
        return _small(packed)
    found = bytearray()
    try:
        with gzip.GzipFile(fileobj=BytesIO(packed)) as unpacking:
            while len(found) <= MOST_BYTES and (part := unpacking.read(_CHUNK)):
                found += part
    except EOFError:
        raise _WrongError("is cut short: the packed data end too early; copy it again") from None
    except (zlib.error, gzip.BadGzipFile):
        raise _WrongError("is damaged: it cannot be unpacked; copy it again") from None
    return _small(found)


def _small(data: bytes | bytearray) -> bytes | bytearray:
    if len(data) > MOST_BYTES:
        raise _WrongError(f"has more than {MOST_BYTES // 10**6} MB unpacked; no test of Flent is as large")
    return data


def _parsed(data: bytes | bytearray) -> Any:
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        raise _WrongError(f"has more than {MOST_VALUES:,} values; no test of Flent has as many")
    if not data.strip():
        raise _WrongError("is empty")
    try:
        return json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _WrongError("is not valid JSON; Flent writes JSON") from None


def _no_number(word: str) -> NoReturn:
    raise _WrongError(f"{word} is not a number; Flent writes null")


def _checked(tree: Any) -> Document:
    if not isinstance(tree, dict):
        raise _WrongError("is not a Flent file: its JSON is not an object")
    version = tree.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _WrongError(f"version: {shown(version)} is not a version number of the format")
    if version > NEWEST:
        raise _WrongError(f"version: {shown(version)} of the format is unknown; known are 1 to {NEWEST}")
    metadata = _table(tree, "metadata")
    if not text(metadata, "NAME").strip():
        raise _WrongError("metadata.NAME: is missing; Flent writes the name of the test there")
    x_values = _numbers(tree, "x_values")
    results = {
        name: _results(name, values, len(x_values)) for name, values in _table(tree, "results").items()
    }
    is_old = version == 1 and tree.get("raw_values") in (None, {})
    raw = _raw_of_old(metadata) if is_old else _table(tree, "raw_values")
    checked = {name: _points(name, points) for name, points in raw.items()}
    return Document(version, metadata, x_values, results, checked)


def _raw_of_old(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the raw values from the metadata, where version 1 of the format has them."""
    meta = metadata.get("SERIES_META")
    series = meta.items() if isinstance(meta, dict) else ()
    return {name: of["RAW_VALUES"] for name, of in series if isinstance(of, dict) and "RAW_VALUES" in of}


def _table(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = tree.get(key)
    if not isinstance(found, dict):
        raise _WrongError(f"{key}: {'is missing' if found is None else 'should be a table'}")
    return found


def _numbers(tree: Mapping[str, Any], key: str) -> list[float]:
    found = tree.get(key)
    if not isinstance(found, list):
        raise _WrongError(f"{key}: {'is missing' if found is None else 'should be a list'}")
    return [_number(f"{key}[{n}]", value) for n, value in enumerate(found)]


def _results(name: str, values: Any, length: int) -> list[float | None]:
    where = f"results of {_quoted(name)}"
    if not isinstance(values, list):
        raise _WrongError(f"{where}: should be a list")
    if len(values) != length:
        raise _WrongError(f"{where}: {len(values)} values, but x_values has {length}")
    return [None if value is None else _number(where, value) for value in values]


def _points(name: str, points: Any) -> list[dict[str, Any]]:
    where = f"raw_values of {_quoted(name)}"
    if not isinstance(points, list):
        raise _WrongError(f"{where}: should be a list")
    return [found for found in (_point(where, point) for point in points) if found]


def _point(where: str, point: Any) -> dict[str, Any]:
    """Return the numbers of a data point (None for a missing number), and whether the point's packet was
    lost.

    Text and tables that Flent's runners add to points are omitted.
    """
    if not isinstance(point, dict):
        raise _WrongError(f"{where}: {shown(point)} should be a table")
    if point and "t" not in point:
        raise _WrongError(f"{where}: a value has no time t")
    found: dict[str, Any] = {}
    for key, value in point.items():
        if key == "lost":
            found[key] = bool(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[key] = _number(f"{where}, {_quoted(key)}", value)
        elif value is None and key != "t":
            found[key] = None
        elif key in _NEEDED:
            raise _WrongError(f"{where}, {key}: {shown(value)} is not a number")
        elif isinstance(value, str) and number(value) is not None:
            found[key] = number(value)
    return found


def _number(where: str, value: Any) -> float:
    found = None if isinstance(value, str) else number(value)
    if found is None:
        raise _WrongError(f"{where}: {shown(value)} is not a number below {_LARGEST:g}")
    return found


def _quoted(name: str) -> str:
    return f'"{brief(name)}"'
