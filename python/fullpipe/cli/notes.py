"""Guesses and gaps of a derived scenario, as comments above it."""

from collections.abc import Sequence

from fullpipe.errors import visible


def notes_of(guessed: Sequence[str], unknown: Sequence[str]) -> str:
    """A line of a comment each, whatever is in the names that files have."""
    told = [("guessed", line) for line in guessed] + [("not known", line) for line in unknown]
    return "".join(f"# {word}: {visible(line)}\n" for word, line in told)
