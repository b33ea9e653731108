"""Paths that fail for a while, lose packets in bursts, or deliver them out of order."""

from __future__ import annotations

from collections.abc import Iterator

from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.regimes import lost_in_bursts, outage, reordered


def outages() -> Iterator[Case]:
    """Nothing arrives for a while: timeouts, and what is undone after them."""
    for cca, lasts_s in (("cubic", 0.15), ("cubic", 1.3), ("bbr1", 1.3), ("reno", 0.6)):
        yield outage("outages", cca, 20, 40, lasts_s)


def bursty_loss() -> Iterator[Case]:
    """A bad time begins at one packet in a thousand."""
    for cca in ("cubic", "bbr1", "reno"):
        yield lost_in_bursts("bursty loss", cca, 20, 40, 0.001)


def reordering() -> Iterator[Case]:
    """Less and more than a quarter of the RTT, which is what RACK waits at first."""
    for cca, spread_ms in (("cubic", 3), ("bbr1", 3), ("reno", 12), ("bbr1", 12)):
        yield reordered("reordering", cca, 20, 40, spread_ms)


FAMILIES = (outages, bursty_loss, reordering)
