"""A thread that samples the code of another thread and ends calls into algorithms that last too long."""

import ctypes
import sys
import threading
import time
from types import FrameType

from fullpipe.algorithms.controller import Controller

_SAMPLES = 10
"""Samples per limit. A call can exceed the limit by one sampling interval."""
_LONGEST_INTERVAL_S = 0.2


class Watch(threading.Thread):
    """A thread that periodically samples the call stack of another thread."""

    def __init__(self, watched: int, limit_s: float) -> None:
        super().__init__(daemon=True, name="overtime")
        self._watched, self._limit_s = ctypes.c_ulong(watched), limit_s
        words = f"took longer than the {limit_s:g} s that a call may take"
        self._raised: type[BaseException] = type("Overtime", (BaseException,), {"__str__": lambda _: words})
        self._over = threading.Event()

    def run(self) -> None:
        seen, since_s = None, 0.0
        while not self._over.wait(min(self._limit_s / _SAMPLES, _LONGEST_INTERVAL_S)):
            call, now_s = _call(self._watched.value), time.monotonic()
            if call is not seen:
                seen, since_s = call, now_s
            elif call is not None and now_s - since_s >= self._limit_s:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._watched, ctypes.py_object(self._raised))

    def end(self) -> None:
        """Stop watching; called by the watched thread. A pending exception is raised and caught here.

        A null exception could clear the pending exception instead. But Python 3.11 would then check for
        exceptions at every step for ever, and hang if the thread is traced.
        """
        while True:
            try:
                self._over.set()
                self.join()
                for _ in range(2):
                    pass  # a pending exception is raised when a loop jumps back
                return
            except self._raised:
                continue


def _call(thread: int) -> FrameType | None:
    """Return the frame of a thread's current call into an algorithm: the outermost method of an algorithm.

    Other code of the thread, such as a progress callback or an import, does not count.
    """
    frame, found = sys._current_frames().get(thread), None
    while frame is not None:
        if _is_method(frame):
            found = frame
        frame = frame.f_back
    return found


def _is_method(frame: FrameType) -> bool:
    """Whether a frame is a method in user code on an instance of an algorithm."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    is_ours = str(frame.f_globals.get("__name__")).startswith("fullpipe.algorithms.")
    return bool(names) and not is_ours and isinstance(frame.f_locals.get(names[0]), Controller)
