"""Requested metrics without a value."""

from collections.abc import Collection, Iterable

from fullpipe.analysis.metrics import BY_NAME


def unanswered(asked: Iterable[str], known: Collection[str]) -> list[str]:
    """Return a line for every requested metric without a value, with its meaning.

    >>> unanswered(["goodput", "jain"], {"goodput", "jain"})
    []
    """
    missing = [name for name in dict.fromkeys(asked) if name not in known]
    return [f"no run has a value of {name} ({BY_NAME[name].meaning})" for name in missing]
