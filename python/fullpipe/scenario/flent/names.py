"""Names of Flent's series, and the flows that they are of."""

import re

_PLAIN = re.compile(r"[^\w.+ -]+", re.ASCII)
_LONGEST = 100
COMPUTED = re.compile(r" (avg|sum|fairness)$|^TCP totals$|^VoIP::induced_delay$")
"""Series that Flent computes of others."""
_CLASS = re.compile(r"(BK)\d*|(CS[1-7])(_BK)?|(EF)")
"""The words for classes other than best effort. BK, for background, is CS1."""


def flow_of(series: str) -> str:
    """The name of the flow that a series is of: what a flow cannot be called by is left out.

    >>> flow_of("TCP upload::1"), flow_of("Ping (ms) UDP EF")
    ('TCP upload 1', 'Ping UDP EF')
    """
    plain = _PLAIN.sub(" ", series.replace("(ms)", " "))
    return " ".join(plain.split())[:_LONGEST].strip() or "series"


def mark_of(series: str) -> str | None:
    """The code point that the name of a series tells of; None for best effort.

    >>> mark_of("TCP upload BK"), mark_of("TCP upload::1")
    ('cs1', None)
    """
    words = [word for word in series.split() if _CLASS.fullmatch(word)]
    if not words:
        return None
    return "cs1" if words[0].startswith("BK") else words[0].partition("_")[0].lower()
