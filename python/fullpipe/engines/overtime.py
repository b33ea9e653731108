"""Time limit for calls into algorithms written in Python."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """Within this context, limit the real time of each call of this thread into an algorithm.

    A longer call is ended by an exception, which becomes a `ControllerError` as any other; if the call
    catches it, the exception is repeated. Code that does not return to Python, such as a call into C, ends
    when it returns. The limit does not slow the algorithm down. None: no limit.

    Raises:
        ValueError: If the limit is not positive and finite.
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
