"""Names of Flent's series and of the flows that they belong to."""

import re
from collections.abc import Mapping

_PLAIN = re.compile(r"[^\w.+ -]+", re.ASCII)
_LONGEST = 100
COMPUTED = re.compile(r" (avg|sum|fairness)$|^TCP totals$|^VoIP::induced_delay$")
"""Series that Flent computes from others."""
_CLASS = re.compile(r"(BK)\d*|\(?(CS[1-7])(_BK)?\)?|(EF)|(PRIO)|(Torrent)(::\d+)?")
"""Words for classes other than best effort."""
_MEANT: Mapping[str, int | str] = {"BK": "cs1", "Torrent": "cs1", "PRIO": 0x10 >> 2}
"""Code points of words that are not names of code points. BK means background. PRIO is the octet 0x10 (low
delay, RFC 1349), whose upper 6 bits are the code point."""


def flow_of(series: str) -> str:
    """Return the name of a series' flow, without characters that names of flows cannot have.

    >>> flow_of("TCP upload::1"), flow_of("Ping (ms) UDP EF")
    ('TCP upload 1', 'Ping UDP EF')
    """
    plain = _PLAIN.sub(" ", series.replace("(ms)", " "))
    return " ".join(plain.split())[:_LONGEST].strip() or "series"


def mark_of(series: str) -> int | str | None:
    """Return the code point in the name of a series, or None for best effort.

    >>> mark_of("TCP upload BK"), mark_of("TCP upload::1")
    ('cs1', None)
    """
    found = next(filter(None, map(_CLASS.fullmatch, series.split())), None)
    if found is None:
        return None
    word: str = next(filter(None, found.groups()))
    return _MEANT.get(word, word.lower())
