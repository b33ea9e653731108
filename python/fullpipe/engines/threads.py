"""Number of threads of one run, for engines that can execute a run on several."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_THREADS = 64
"""Largest number of threads. More would only wait for each other in every window."""

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
