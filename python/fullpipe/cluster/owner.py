"""Identifies the process that holds a chunk by host name, kernel and PID namespace, and process ID."""

import hashlib
import os
import platform
import re
from dataclasses import dataclass
from functools import cache

from fullpipe import files

_WRITTEN = re.compile(r"([\w.-]{1,64})-([0-9a-f]{8})-(\d{1,10})", re.ASCII)


@dataclass(frozen=True)
class Owner:
    """A process on any machine."""

    host: str
    kernel: str
    """Hash of the running kernel and the PID namespace. Processes with the same value see each other."""
    pid: int

    @classmethod
    def here(cls) -> "Owner":
        """Return this process."""
        host = re.sub(r"[^\w.-]", "_", platform.node(), flags=re.ASCII)[:64]
        return cls(host or "unknown", _namespace(), os.getpid())

    @classmethod
    def read(cls, text: str) -> "Owner | None":
        """Parse the text that `str` returns. None if it is not valid."""
        found = _WRITTEN.fullmatch(text)
        return cls(found[1], found[2], int(found[3])) if found else None

    @property
    def is_dead(self) -> bool:
        """Whether it has certainly ended. Only processes of this machine can be checked."""
        if self.kernel != _namespace():
            return False
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:  # a process of another user
            return False
        return False

    def __str__(self) -> str:
        return f"{self.host}-{self.kernel}-{self.pid}"


@cache
def _namespace() -> str:
    try:
        processes = os.readlink("/proc/self/ns/pid")
    except OSError:
        processes = ""
    return hashlib.sha256(f"{files.kernel()} {processes}".encode()).hexdigest()[:8]
