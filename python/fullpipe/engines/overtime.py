"""Ends an algorithm written in Python that takes too long over one call, which may be one that never ends."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """While the context lasts, a call of this thread into an algorithm may take so long in real time.

    A longer one is ended by an exception, of which a `ControllerError` is made as of any other, and by
    further ones if it catches them. What does not return to Python, such as a call into C, is ended when it
    does. None: no limit. It costs the algorithm nothing.

    Raises:
        ValueError: If the limit is no time.
    """
    if limit_s is None:
        yield
        return
    if not 0 < limit_s < math.inf:
        raise ValueError(f"cca_timeout_s: {limit_s} is no limit; give seconds, more than 0")
    from fullpipe.engines.watch import Watch  # here: most runs have no limit

    watch = Watch(get_ident(), limit_s)
    watch.start()
    try:
        yield
    finally:
        watch.end()
