"""Files of a finished run: taken to hold what they held when it was made, wherever they are now."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_recorded: ContextVar[Mapping[str, str]] = ContextVar("recorded")


@contextmanager
def recorded(digests: Mapping[str, str]) -> Iterator[None]:
    """Within, scenarios that are read name files that are neither read nor checked.

    Args:
        digests: SHA-256 of every file by its path in the scenario.
    """
    token = _recorded.set(digests)
    try:
        yield
    finally:
        _recorded.reset(token)


def recorded_digest(file: str) -> str | None:
    """Return the SHA-256 of a file that is not read; None of a file that is."""
    return _recorded.get({}).get(file)


def are_recorded() -> bool:
    """Whether the scenario is that of a finished run with files."""
    return bool(_recorded.get({}))
