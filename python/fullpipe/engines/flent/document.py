"""A file of Flent's, read without trust: bounded, and with every value of the kind that it should be."""

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
from fullpipe.errors import InputFileError, brief

MOST_BYTES = 64_000_000
"""Unpacked."""
MOST_VALUES = 2_000_000
"""Lists, tables and what they hold: a byte of text may become a hundred in memory."""
NEWEST = 4
"""The format that Flent 2 writes."""
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_LARGEST = 1e15
"""No number of a test is beyond that; times since 1970 are below 1e11 s."""

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Document:
    """What a file says, with times and values that are finite numbers."""

    version: int
    metadata: Mapping[str, Any]
    x_values: Sequence[float]
    results: Mapping[str, Sequence[float | None]]
    raw_values: Mapping[str, Sequence[Point]]

    def number(self, key: str) -> float | None:
        """A number of the metadata, if it is one."""
        return number(self.metadata.get(key))

    def text(self, key: str) -> str:
        """Text of the metadata, safe to print; empty if there is none."""
        value = self.metadata.get(key)
        return brief(value) if isinstance(value, str) else ""

    def table(self, *keys: str) -> Mapping[str, Any]:
        """A table within the metadata; empty if there is none."""
        found: Any = self.metadata
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def series_meta(self, series: str) -> Mapping[str, Any]:
        """What is said of a series."""
        return self.table("SERIES_META", series)


def number(value: object) -> float | None:
    """A finite number that a test may have; netperf's unset code points and the like are kept."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) < _LARGEST else None


def read(path: Path) -> Document:
    """A file, packed or not.

    Raises:
        InputFileError: If it cannot be read, is too large, or is not what Flent writes, in one line.
    """
    try:
        return _checked(_parsed(_unpacked(path)))
    except _WrongError as error:
        raise InputFileError(f"{path}: {error}") from None
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None


class _WrongError(Exception):
    """What is wrong with a file."""


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
    try:
        return json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _WrongError("is not JSON as Flent writes it") from None


def _no_number(word: str) -> NoReturn:
    raise _WrongError(f"{word} stands where a number should be; Flent writes null")


def _checked(tree: Any) -> Document:
    if not isinstance(tree, dict):
        raise _WrongError("is not a file of Flent's: there is no table at its top")
    version = tree.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _WrongError(f"version: {brief(repr(version))} is no version of the format")
    if version > NEWEST:
        raise _WrongError(f"version: {brief(str(version))} of the format is unknown; known are 1 to {NEWEST}")
    metadata = _table(tree, "metadata")
    if not isinstance(metadata.get("NAME"), str) or not metadata["NAME"].strip():
        raise _WrongError("metadata.NAME: is missing; it says which test this is")
    x_values = _numbers(tree, "x_values")
    results = {
        name: _results(name, values, len(x_values)) for name, values in _table(tree, "results").items()
    }
    raw = tree.get("raw_values", {}) if version == 1 else _table(tree, "raw_values")
    if version == 1 and not raw:
        raw = _raw_of_old(metadata)
    checked = {name: _points(name, points) for name, points in raw.items()}
    return Document(version, metadata, x_values, results, checked)


def _raw_of_old(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Raw values where version 1 of the format has them."""
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
        raise _WrongError(f"{where}: {len(values)} values, and there are {length} x_values")
    return [None if value is None else _number(where, value) for value in values]


def _points(name: str, points: Any) -> list[dict[str, Any]]:
    """The points of a series: `t` is a time, and what is called like a value is a number or nothing."""
    where = f"raw_values of {_quoted(name)}"
    if not isinstance(points, list):
        raise _WrongError(f"{where}: should be a list")
    for point in points:
        if not isinstance(point, dict):
            raise _WrongError(f"{where}: {brief(str(point))} should be a table")
        if point and "t" not in point:
            raise _WrongError(f"{where}: a value has no time t")
        for key, value in point.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                _number(f"{where}, {_quoted(key)}", value)
            elif key in ("t", "val", "dur") and (value is not None or key == "t"):
                raise _WrongError(f"{where}, {key}: {brief(str(value))} is no number")
    return [point for point in points if point]


def _number(where: str, value: Any) -> float:
    found = None if isinstance(value, str) else number(value)
    if found is None:
        raise _WrongError(f"{where}: {brief(str(value)[:200])} is no number that a test could have")
    return found


def _quoted(name: str) -> str:
    return f'"{brief(name)}"'
