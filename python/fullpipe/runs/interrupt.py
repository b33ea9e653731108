"""Interruption of threads that run algorithms of users, which can loop for ever."""

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_GRACE_S = 0.5
"""Time for a thread to stop by itself, which it does between two slices of a run."""


class Interruptible:
    """The threads that currently run an algorithm written in Python."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def thread(self, is_own: bool) -> Iterator[None]:
        """Within this context, allow this thread to be interrupted if it runs code of a user."""
        if not is_own:
            yield
            return
        me = threading.get_ident()
        with self._lock:
            self._threads.add(me)
        try:
            yield
        finally:
            with self._lock:
                self._threads.discard(me)

    def _running(self) -> set[int]:
        """Return registered threads that still run. Exceptions can prevent threads from unregistering."""
        return self._threads & {thread.ident or 0 for thread in threading.enumerate()}

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in threads that still run after 0.5 s, and wait until all have ended."""
        end_s = time.monotonic() + _GRACE_S
        while self._running():
            time.sleep(0.05)
            if time.monotonic() < end_s:
                continue
            end_s = time.monotonic() + _GRACE_S
            with self._lock:  # no thread can unregister now, so that none is interrupted after its run
                for thread in self._running():
                    raised = ctypes.py_object(KeyboardInterrupt)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
