"""On how many threads one run is executed, by engines that can do that."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_THREADS = 64
"""More are refused: they wait for each other in every window."""

_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """While the context lasts, a run that this thread starts may be executed on so many. Same results.

    Raises:
        ValueError: If there are none or more than 64.
    """
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"threads: {count} is out of range; give 1 to {MAX_THREADS}")
    before = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(before)


def threads() -> int:
    """On how many threads a run that starts here may be executed."""
    return _threads.get()
