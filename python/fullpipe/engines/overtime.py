"""Time limits of runs, and threads."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import get_ident

# Number of threads of one run, for engines that can execute a run on several threads.


MAX_THREADS = 64
"""Largest number of threads. Further threads would only wait for each other."""

_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Within this context, runs started by this thread can use `count` threads. Results do not change.

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
    """Return the number of threads for runs started here."""
    return _threads.get()


# Time limit for calls into algorithms written in Python.


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """Within this context, limit the real time of each call of this thread into an algorithm; None: no limit.

    A longer call is ended by an exception, which becomes a `ControllerError` as any other exception does. If
    the algorithm catches the exception, the exception is raised again. A call into C ends only after C code
    returns to Python. The limit does not slow the algorithm down.

    Raises:
        ValueError: If the limit is not positive and finite.
    """
    if limit_s is None:
        yield
        return
    if not 0 < limit_s < math.inf:
        raise ValueError(f"cca_timeout_s: {limit_s} is not valid; give a finite time in s, more than 0")
    from fullpipe.engines.watch import Watch  # imported here, as most runs have no limit

    watch = Watch(get_ident(), limit_s)
    watch.start()
    try:
        yield
    finally:
        watch.end()
