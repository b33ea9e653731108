"""Ends threads that run a user's own algorithms: one that loops for ever never checks whether to stop."""

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_GRACE_S = 0.5
"""How long a thread may take to stop by itself, as it does between two slices of a run."""


class Interruptible:
    """The threads in which an algorithm written in Python runs at the moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()

    @contextmanager
    def thread(self, is_own: bool) -> Iterator[None]:
        """This thread may be interrupted, for as long as the context lasts, if it runs code of the user's."""
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
        """Those that have not ended: an exception may have kept one from saying that it has."""
        return self._threads & {thread.ident or 0 for thread in threading.enumerate()}

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in those that still run after a moment. Waits until they have ended."""
        end_s = time.monotonic() + _GRACE_S
        while self._running():
            time.sleep(0.05)
            if time.monotonic() < end_s:
                continue
            end_s = time.monotonic() + _GRACE_S
            with self._lock:  # no thread leaves while it is held, so that none is interrupted later on
                for thread in self._running():
                    raised = ctypes.py_object(KeyboardInterrupt)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
