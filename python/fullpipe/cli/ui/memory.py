"""Memory of the page's process: how much it has now, and how freed memory goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from contextlib import suppress

_STATM = "/proc/self/statm"
_RESIDENT = 1
"""Field of `_STATM`, in pages (proc(5))."""
_PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of `ru_maxrss` (getrusage(2))."""


def resident_bytes() -> int:
    """Memory that this process has now; where the kernel does not say that, the most that it ever had."""
    with suppress(OSError), open(_STATM, "rb") as file:
        return int(file.read().split()[_RESIDENT]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT_BYTES


def settled_bytes(most_bytes: int) -> int:
    """Memory of this process after it gave freed memory back, if it had more than half of what it may have.

    Args:
        most_bytes: What it may have.
    """
    if resident_bytes() > most_bytes / 2:
        _give_back()
    return resident_bytes()


def _give_back() -> None:
    """Free what only cycles hold, and return freed memory, which glibc keeps otherwise (malloc_trim(3))."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(ctypes.c_size_t(0))
