"""How long a chunk may be held without a sign of life, by the clock of the file system.

Clocks of machines differ, so none of them is read: a claim is renewed by setting the time of its file to
"now", which the file system fills in, and "now" is the time of another file that has just been touched in the
same way. Files are opened before their time is read, since NFS asks its server only then.
"""

import os
import time
from pathlib import Path
from typing import Protocol

LEASE_S = 30.0
"""After so long without being renewed, a claim may be taken over."""
RENEW_S = 5.0
"""Between two renewals: five may be late before a claim is lost."""


class Clock(Protocol):
    """Times for leases."""

    def touch(self, path: Path) -> None:
        """Set the time of a file to now.

        Raises:
            FileNotFoundError: If it is gone.
        """

    def age_s(self, path: Path) -> float:
        """How long ago a file was touched.

        Raises:
            FileNotFoundError: If it is gone.
        """

    def passed_s(self) -> float:
        """A time of this process that never goes back, to know when to ask again."""


class FileSystemClock:
    """The clock of the file system that holds a folder; `name` is a file of our own in it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ours = folder / name

    def touch(self, path: Path) -> None:
        """Set the time of a file to now."""
        os.utime(path)

    def age_s(self, path: Path) -> float:
        """How long ago a file was touched."""
        touched_s = _changed_s(path)
        self._ours.touch()
        return _changed_s(self._ours) - touched_s

    def passed_s(self) -> float:
        """A time that never goes back."""
        return time.monotonic()


def _changed_s(path: Path) -> float:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.fstat(descriptor).st_mtime
    finally:
        os.close(descriptor)
