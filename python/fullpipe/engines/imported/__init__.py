"""Import of measurement files as runs: the readers of all formats, and what they share.

A reader is a package in `fullpipe.engines` with the name of its engine in `READERS`.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from fullpipe.runs.meta import READERS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fullpipe.engines.imported.measurement import Twin
    from fullpipe.runs import Run

FILE, NAMES = "file", "names"
"""Keys in the metadata of an imported run: the file, and the algorithms given for names in the file, as a
list in JSON."""


class Reader(Protocol):
    """A reader of one format of measurement files."""

    ENGINE: str
    """Name of the engine of the runs that the reader returns."""

    def is_file(self, path: Path) -> bool:
        """Whether a file begins like a file of this format; False if the file cannot be read."""

    def read_run(self, path: Path, algorithms: Mapping[str, str] | None = None) -> Run:
        """Return a file as a run with seed 1.

        Args:
            path: A file of this format.
            algorithms: Fullpipe's algorithms by their names in the file, or by the names of flows.

        Raises:
            InputFileError: If the file has another format or no flow; the message has one line.
        """

    def read_twin(self, path: Path, algorithms: Mapping[str, str] | None = None) -> Twin:
        """Return the scenario that would reproduce a file.

        Raises:
            InputFileError: If the file has another format, or lacks the data from which a path is estimated;
                the message has one line.
        """


def names_given(stored: str) -> list[str]:
    """Return the algorithms in the metadata of an imported run, as words of `--cca`.

    Earlier versions stored the words with spaces between them, and shortened long texts. The words of a
    shortened text have "..." among them.

    >>> names_given('["my flow=bbr3"]'), names_given("bbr=bbr3 reno=cubic")
    (['my flow=bbr3'], ['bbr=bbr3', 'reno=cubic'])
    """
    try:
        found = json.loads(stored)
    except (ValueError, RecursionError):
        return stored.split()
    is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return found if is_list else stored.split()


def reader_of(path: Path) -> Reader | None:
    """Return the reader of a file, or None if the file has no known format."""
    return next((reader for reader in map(_reader, READERS) if reader.is_file(path)), None)


def read_run(path: Path, algorithms: Mapping[str, str] | None = None) -> Run:
    """Return a file of any format as a run with seed 1. For a file of unknown format, the last reader raises
    the error.

    Raises:
        InputFileError: If the file cannot be read as a run; the message has one line.
    """
    return (reader_of(path) or _last()).read_run(path, algorithms)


def read_twin(path: Path, algorithms: Mapping[str, str] | None = None) -> Twin:
    """Return the scenario that would reproduce a file of any format.

    Raises:
        InputFileError: If the file cannot be read, or lacks the data from which a path is estimated; the
            message has one line.
    """
    return (reader_of(path) or _last()).read_twin(path, algorithms)


def _last() -> Reader:
    return _reader([*READERS][-1])


def _reader(name: str) -> Reader:
    return cast("Reader", import_module(f"fullpipe.engines.{name}"))
