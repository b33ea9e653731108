"""Files named in the scenario of a finished run. Their recorded digests are used; the files are not read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_recorded: ContextVar[Mapping[str, str]] = ContextVar("recorded")


@contextmanager
def recorded(digests: Mapping[str, str]) -> Iterator[None]:
    """Within this context, files named in scenarios are neither read nor checked.

    Args:
        digests: SHA-256 of every file by its path in the scenario.
    """
    token = _recorded.set(digests)
    try:
        yield
    finally:
        _recorded.reset(token)


def recorded_digest(file: str) -> str | None:
    """Return the recorded SHA-256 of a file, or None if the file itself must be read."""
    return _recorded.get({}).get(file)


def are_recorded() -> bool:
    """Whether recorded digests are in use."""
    return bool(_recorded.get({}))
