"""Check of lists that must be in the order of time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise


def in_order(path: str, times_s: Sequence[float]) -> Iterator[str]:
    """Yield every entry that is earlier than the previous one."""
    for n, (before_s, at_s) in enumerate(pairwise(times_s), start=1):
        if at_s < before_s:
            yield f"{path}[{n}].at: {at_s:g} s is before {before_s:g} s, the entry above it"
