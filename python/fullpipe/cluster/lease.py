"""Leases of chunks, timed by the clock of the file system.

The clocks of machines differ, so none of them is read. A claim is renewed by setting the time of its file to
the file system's current time. To measure its age, another file is touched in the same way and the two times
are compared. Files are opened before their time is read, since otherwise NFS would not ask its server.
"""

import os
import time
from pathlib import Path
from typing import Protocol

LEASE_S = 30.0
"""Time since the last renewal after which a claim may be taken over."""
RENEW_S = 5.0
"""Interval of renewals. Five may be missed before a claim is lost."""


class Clock(Protocol):
    """Times for leases."""

    def touch(self, path: Path) -> None:
        """Set the time of a file to now.

        Raises:
            FileNotFoundError: If it no longer exists.
        """

    def age_s(self, path: Path) -> float:
        """Return the time since a file was touched.

        Raises:
            FileNotFoundError: If it no longer exists.
        """

    def passed_s(self) -> float:
        """Return a time of this process that never decreases, for deciding when to check again."""


class FileSystemClock:
    """The clock of the file system of a folder. `name` is this process's file in it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ours = folder / name

    def touch(self, path: Path) -> None:
        """Set the time of a file to now."""
        os.utime(path)

    def age_s(self, path: Path) -> float:
        """Return the time since a file was touched."""
        touched_s = _changed_s(path)
        self._ours.touch()
        return _changed_s(self._ours) - touched_s

    def passed_s(self) -> float:
        """Return a time that never decreases."""
        return time.monotonic()


def _changed_s(path: Path) -> float:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)
