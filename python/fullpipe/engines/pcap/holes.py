"""Whether a segment that fills a hole was retransmitted after a loss, or overtaken on its way.

Timestamps tell it, and so do identifications of IPv4 that count packets. Else time does: no retransmission
comes by within an RTT after the hole was seen, so that an earlier segment was overtaken. A later one was
retransmitted, unless overtaking takes as long.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import Floats, Sent
from fullpipe.engines.pcap.headers import NONE

Booleans = npt.NDArray[np.bool_]
_STEPS, _BACK = 23, 0.05
"""P(random numbers decrease at most once in 23 steps) is about 3e-6. A retransmission that reaches beyond all
segments before may be ahead of those that it overtook, which is rare."""
_LEAST_OWN = 0.5
"""Share of the numbers that are of packets that came by, if the packets of the connection are counted. Others
were lost before the point of capture."""
_HALF = 1 << 15
"""Of two numbers of 16 bits the later one is ahead by less (RFC 1982, section 3.2)."""
_STEP = 1 / 4
"""Of the RTT, in which waits are counted."""
_FEW = 0.05
"""Largest relative error with which a count of retransmissions is given."""


@dataclass(frozen=True)
class Holes:
    """What is known of segments, shape (n,) each."""

    is_again: Booleans
    """Sent again, though none of their bytes was seen before."""
    is_doubtful: Booleans
    """Likewise, or overtaken: it cannot be told."""
    is_original: Booleans
    """Overtaken by what sent their bytes again."""


@dataclass(frozen=True)
class Arrivals:
    """Segments with payload as they came by."""

    data: Sent
    """What the sender sent."""
    rows: Ints
    """Those with payload, by their places in `data`, shape (n,)."""
    packets: Ints
    """That each of them makes, shape (n,)."""
    overtaking: Ints
    """Of every segment the first one that reaches beyond it, shape (n,)."""
    first: Ints
    """First segment with some of the bytes of each segment, shape (n,); -1 if there is none before it."""

    @cached_property
    def ends(self) -> Ints:
        """The bytes behind their payload."""
        return self.data.seq[self.rows] + self.data.payload[self.rows]

    @cached_property
    def fills(self) -> Booleans:
        """Below what was seen before, and not seen before."""
        known = np.concatenate([self.ends[:1], np.maximum.accumulate(self.ends)[:-1]])
        return np.asarray((self.ends < known) & (self.first < 0))

    @cached_property
    def came(self) -> Ints:
        """Packets of the sender that had come by with every segment, shape (n,)."""
        packets = np.ones(self.data.identity.size, dtype=np.int64)
        packets[self.rows] = self.packets
        return np.cumsum(packets)[self.rows]

    @cached_property
    def counts(self) -> bool:
        """Whether identifications count the packets of the connection, as Linux does (`inet_id`). RFC 6864
        leaves them open, so it is looked at: what reaches beyond all before was sent in that order, and most
        of the numbers of 23 such steps are of packets that came by. A counter of all connections of a host
        may wrap while this one pauses, so that it tells no order."""
        advances = np.diff(np.maximum.accumulate(self.ends), prepend=-1) > 0
        numbers, came = self.data.identity[self.rows][advances], self.came[advances]
        steps = np.diff(numbers)
        if steps.size < _STEPS or float((~_is_ahead(steps)).mean()) > _BACK:
            return False
        counted = _signed(numbers[_STEPS:] - numbers[:-_STEPS])
        return float(np.median(counted * _LEAST_OWN - (came[_STEPS:] - came[:-_STEPS]))) <= 0

    def sent_after(self, one: Ints, other: Ints) -> tuple[Booleans, Booleans]:
        """Whether segments were sent after others, by their places, and whether that is known."""
        stamps, numbers = self.data.ts_val[self.rows], self.data.identity[self.rows]
        stamped = (stamps[one] != NONE) & (stamps[other] != NONE)
        by_stamp = (stamps[one] - stamps[other]).astype(np.int32) > 0
        early, late = np.minimum(one, other), np.maximum(one, other)
        numbered = self.counts & (self.came[late] - self.came[early] < _HALF)
        overtaken_by = _signed(numbers[early] - numbers[late])
        numbered &= overtaken_by * _LEAST_OWN <= self.came[late]  # by no more than came by until then
        return np.where(stamped, by_stamp, _is_ahead(numbers[one] - numbers[other])), stamped | numbered

    def told(self, rtt_s: float | None) -> Holes:
        """What is known of those that fill holes, and of those that come twice.

        Args:
            rtt_s: The smallest RTT; None if it is not known.
        """
        newer, known = self.sent_after(np.arange(self.rows.size), self.overtaking)
        waited_s = self.data.time_s[self.rows] - self.data.time_s[self.rows[self.overtaking]]
        by_time = self.fills & ~known
        is_again = self.fills & np.where(known, newer, waited_s >= (rtt_s or 0.0))
        is_original = self._is_original()
        is_again[self.first[is_original]] = True
        is_doubtful = np.zeros_like(by_time)
        if rtt_s is None or rtt_s <= 0:
            is_doubtful = by_time
        elif _most_wrong(waited_s[by_time] / rtt_s) > _FEW * (is_again | (self.first >= 0)).sum():
            is_doubtful = by_time & (waited_s >= (1 - _STEP) * rtt_s)
        return Holes(is_again & ~is_doubtful, is_doubtful, is_original)

    def _is_original(self) -> Booleans:
        """Copies that were sent before the one that came first."""
        copies = np.flatnonzero(self.first >= 0)
        is_older, known = self.sent_after(self.first[copies], copies)
        found = np.zeros(self.rows.size, dtype=bool)
        found[copies] = is_older & known
        return found


def _signed(steps: Ints) -> Ints:
    """Differences of numbers of 16 bits, from -32,768 to 32,767."""
    return (steps + _HALF & 0xFFFF) - _HALF


def _is_ahead(steps: Ints) -> Booleans:
    """Whether a number of 16 bits is later than another, by how much larger it is."""
    return np.asarray(_signed(steps) > 0)


def _most_wrong(waits: Floats) -> int:
    """Return how many segments their waits may misjudge, in RTTs since the hole was seen.

    Overtaking by more is rarer, so that no step has more overtaken segments than the last one of the first
    RTT. Those in it may be retransmissions, if the RTT is shorter than was seen.
    """
    last = int(((waits >= 1 - _STEP) & (waits < 1)).sum())
    _, beyond = np.unique((waits[waits >= 1] / _STEP).astype(np.int64), return_counts=True)
    return last + int(np.minimum(beyond, last).sum())
