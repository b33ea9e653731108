"""Time limits of runs, and threads."""

import math
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import get_ident
from types import FrameType

# Number of threads of one run, for engines that can execute a run on several threads.


MAX_THREADS = 64
"""Largest number of threads. With more threads, threads would mostly wait for each other."""

_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Context in which runs started by this thread can use `count` threads. Results do not change.

    Raises:
        ValueError: If `count` is not from 1 to 64.
    """
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"threads: {count} is out of range; give 1 to {MAX_THREADS}")
    before = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(before)


def threads() -> int:
    """Return the number of threads for runs that are started in this context."""
    return _threads.get()


# Time limit for calls into algorithms written in Python.


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """Context that limits the real time of each call of this thread into an algorithm; None: no limit.

    A longer call is ended by an exception, which becomes a `ControllerError` like any other exception. If the
    algorithm catches the exception, it is raised again. A call of C code ends only after the C code has
    returned to Python. The limit does not slow the algorithm down.

    Raises:
        ValueError: If the limit is not positive and finite.
    """
    if limit_s is None:
        yield
        return
    if not 0 < limit_s < math.inf:
        raise ValueError(f"cca_timeout_s: {limit_s} is not valid; give a finite time in s, more than 0")
    watch = Watch(get_ident(), limit_s)
    watch.start()
    try:
        yield
    finally:
        watch.end()


_SAMPLES = 10
"""Samples of the call stack during a time limit. A call can exceed the limit by one sampling interval."""
_LONGEST_INTERVAL_S = 0.2


class Watch(threading.Thread):
    """A thread that periodically samples the call stack of another thread."""

    def __init__(self, watched: int, limit_s: float) -> None:
        # imported here, because most runs have no limit
        from ctypes import c_ulong, py_object, pythonapi

        from fullpipe.algorithms.controller import Controller

        super().__init__(daemon=True, name="overtime")
        self._watched, self._limit_s, self._base = watched, limit_s, Controller
        words = f"took longer than the {limit_s:g} s that a call may take"
        self._raised: type[BaseException] = type("Overtime", (BaseException,), {"__str__": lambda _: words})
        self._end_call = partial(
            pythonapi.PyThreadState_SetAsyncExc, c_ulong(watched), py_object(self._raised)
        )
        self._over = threading.Event()

    def run(self) -> None:
        seen, since_s = None, 0.0
        while not self._over.wait(min(self._limit_s / _SAMPLES, _LONGEST_INTERVAL_S)):
            call, now_s = _call(self._watched, self._base), time.monotonic()
            if call is not seen:
                seen, since_s = call, now_s
            elif call is not None and now_s - since_s >= self._limit_s:
                self._end_call()

    def end(self) -> None:
        """Stop watching; called by the watched thread. A pending exception is raised and caught here.

        Setting a null exception would also clear the pending exception, but Python 3.11 would then check for
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


def _call(thread: int, base: type) -> FrameType | None:
    """Return the frame of a thread's current call into an algorithm: the outermost method of
    a subclass of `base`.

    Other code of the thread, such as a progress callback or an import, does not count.
    """
    frame, found = sys._current_frames().get(thread), None
    while frame is not None:
        if _is_method(frame, base):
            found = frame
        frame = frame.f_back
    return found


def _is_method(frame: FrameType, base: type) -> bool:
    """Whether a frame is a method in user code on an instance of `base`."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    is_ours = str(frame.f_globals.get("__name__")).startswith("fullpipe.algorithms.")
    return bool(names) and not is_ours and isinstance(frame.f_locals.get(names[0]), base)
