"""Classification of segments that fill a hole: retransmitted after a loss, or overtaken (reordered).

Timestamps decide it, or IPv4 identifications that count packets. Without them, time decides: no
retransmission is captured within an RTT after the hole was seen, so that an earlier segment was overtaken. A
later segment was retransmitted, unless reordering takes as long.
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
"""P(random IDs decrease at most once in 23 steps) is about 3e-6. Some decreases are allowed, as a
retransmission beyond all earlier segments can overtake others, which is rare."""
_LEAST_OWN = 0.5
"""Smallest share of a range of IDs that captured packets have, if IDs count the packets of the connection.
The other packets were dropped before the point of capture."""
_HALF = 1 << 15
"""Half the range of 16-bit numbers: the later of two numbers is ahead by less (RFC 1982, section 3.2)."""
_STEP = 1 / 4
"""Step in which waits are counted, as a share of the RTT."""
_FEW = 0.05
"""Largest relative error of a reported count of retransmissions."""


@dataclass(frozen=True)
class Holes:
    """Classification of segments, shape (n,) each."""

    is_again: Booleans
    """Whether a segment was retransmitted although its bytes were not captured before."""
    is_doubtful: Booleans
    """Whether a segment was retransmitted or overtaken, without evidence of which."""
    is_original: Booleans
    """Whether a segment is an original that its retransmission overtook."""


@dataclass(frozen=True)
class Arrivals:
    """Segments with payload in the order of capture."""

    data: Sent
    """Segments of the sender."""
    rows: Ints
    """Indices of the segments with payload in `data`, shape (n,)."""
    packets: Ints
    """Packets that each segment counts as, shape (n,)."""
    overtaking: Ints
    """First segment that reaches beyond each segment, shape (n,)."""
    first: Ints
    """First earlier segment with any of a segment's bytes, shape (n,); -1 if there is none."""

    @cached_property
    def ends(self) -> Ints:
        """Sequence number after the payload of each segment."""
        return self.data.seq[self.rows] + self.data.payload[self.rows]

    @cached_property
    def fills(self) -> Booleans:
        """Whether a segment fills a hole: it is below the highest byte seen, and not seen before."""
        known = np.concatenate([self.ends[:1], np.maximum.accumulate(self.ends)[:-1]])
        return np.asarray((self.ends < known) & (self.first < 0))

    @cached_property
    def came(self) -> Ints:
        """Number of the sender's packets captured up to each segment, shape (n,)."""
        packets = np.ones(self.data.identity.size, dtype=np.int64)
        packets[self.rows] = self.packets
        return np.cumsum(packets)[self.rows]

    @cached_property
    def counts(self) -> bool:
        """Whether IPv4 identifications count the packets of the connection, as in Linux (`inet_id`).

        RFC 6864 does not require it, so it is tested. Segments that advance the highest byte were sent in
        that order, and captured packets have most of the IDs of 23 such steps. A counter for all connections
        of a host gives no order, as it can wrap while this connection pauses.
        """
        advances = np.diff(np.maximum.accumulate(self.ends), prepend=-1) > 0
        numbers, came = self.data.identity[self.rows][advances], self.came[advances]
        steps = np.diff(numbers)
        if steps.size < _STEPS or float((~_is_ahead(steps)).mean()) > _BACK:
            return False
        counted = _signed(numbers[_STEPS:] - numbers[:-_STEPS])
        return float(np.median(counted * _LEAST_OWN - (came[_STEPS:] - came[:-_STEPS]))) <= 0

    def sent_after(self, one: Ints, other: Ints) -> tuple[Booleans, Booleans]:
        """Return whether segments were sent after others, by their indices, and whether that is known."""
        stamps, numbers = self.data.ts_val[self.rows], self.data.identity[self.rows]
        stamped = (stamps[one] != NONE) & (stamps[other] != NONE)
        by_stamp = (stamps[one] - stamps[other]).astype(np.int32) > 0
        early, late = np.minimum(one, other), np.maximum(one, other)
        numbered = self.counts & (self.came[late] - self.came[early] < _HALF)
        overtaken_by = _signed(numbers[early] - numbers[late])
        numbered &= overtaken_by * _LEAST_OWN <= self.came[late]  # by no more packets than captured so far
        return np.where(stamped, by_stamp, _is_ahead(numbers[one] - numbers[other])), stamped | numbered

    def told(self, rtt_s: float | None) -> Holes:
        """Classify segments that fill holes, and segments that were captured twice.

        Args:
            rtt_s: The smallest RTT, or None if it is unknown.
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
        """Return the copies that were sent before the copy captured first."""
        copies = np.flatnonzero(self.first >= 0)
        is_older, known = self.sent_after(self.first[copies], copies)
        found = np.zeros(self.rows.size, dtype=bool)
        found[copies] = is_older & known
        return found


def _signed(steps: Ints) -> Ints:
    """Return differences of 16-bit numbers, from -32,768 to 32,767."""
    return (steps + _HALF & 0xFFFF) - _HALF


def _is_ahead(steps: Ints) -> Booleans:
    """Whether a 16-bit number is later than another, from their difference."""
    return np.asarray(_signed(steps) > 0)


def _most_wrong(waits: Floats) -> int:
    """Return an upper bound of segments misclassified by their waits, in RTTs since the hole was seen.

    Longer reordering is rarer, so that no later step has more overtaken segments than the last step of the
    first RTT. The segments in that step can be retransmissions, if the true RTT is shorter.
    """
    last = int(((waits >= 1 - _STEP) & (waits < 1)).sum())
    _, beyond = np.unique((waits[waits >= 1] / _STEP).astype(np.int64), return_counts=True)
    return last + int(np.minimum(beyond, last).sum())
