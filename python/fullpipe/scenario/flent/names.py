"""Names of Flent's series, and the flows that they are of."""

import re
from collections.abc import Mapping

_PLAIN = re.compile(r"[^\w.+ -]+", re.ASCII)
_LONGEST = 100
COMPUTED = re.compile(r" (avg|sum|fairness)$|^TCP totals$|^VoIP::induced_delay$")
"""Series that Flent computes of others."""
_CLASS = re.compile(r"(BK)\d*|\(?(CS[1-7])(_BK)?\)?|(EF)|(PRIO)|(Torrent)(::\d+)?")
"""The words for classes other than best effort."""
_MEANT: Mapping[str, int | str] = {"BK": "cs1", "Torrent": "cs1", "PRIO": 0x10 >> 2}
"""BK is for background. PRIO is the octet 0x10, low delay by RFC 1349, of which a code point is the upper 6
bits."""


def flow_of(series: str) -> str:
    """The name of the flow that a series is of: what a flow cannot be called by is left out.

    >>> flow_of("TCP upload::1"), flow_of("Ping (ms) UDP EF")
    ('TCP upload 1', 'Ping UDP EF')
    """
    plain = _PLAIN.sub(" ", series.replace("(ms)", " "))
    return " ".join(plain.split())[:_LONGEST].strip() or "series"


def mark_of(series: str) -> int | str | None:
    """The code point that the name of a series tells of; None for best effort.

    >>> mark_of("TCP upload BK"), mark_of("TCP upload::1")
    ('cs1', None)
    """
    found = next(filter(None, map(_CLASS.fullmatch, series.split())), None)
    if found is None:
        return None
    word: str = next(filter(None, found.groups()))
    return _MEANT.get(word, word.lower())
