"""What was measured of a line, whichever program wrote it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Way = Literal["up", "down"]
WAYS: tuple[Way, Way] = ("down", "up")
SINCE_1970_S = 1e9
"""Times beyond that are taken to count from 1970, and those of all files are then times of one clock."""


@dataclass(frozen=True)
class Pings:
    """Round-trip times of pings."""

    sent_s: Floats
    """When each was sent, shape (n,)."""
    rtts_s: Floats
    """Shape (n,), ascending in time."""
    lost: int = 0
    """Those without a reply between the first with one and the last, as far as that is known."""


@dataclass(frozen=True)
class Rates:
    """What streams of one direction delivered together: payload."""

    ends_s: Floats
    """The ends of the samples, shape (n,)."""
    lasts_s: Floats
    """How long each lasted, shape (n,)."""
    bps: Floats
    """Shape (n,)."""
    ccas: frozenset[str] = frozenset()
    """The algorithms of the senders, as far as they are known."""
    mss: int | None = None
    """Payload of a segment, bytes; None if that is not said."""
    resent: int | None = None
    """Segments that were retransmitted; None if that is not said."""
    told: tuple[str, ...] = ()
    """One line each: what reading had to take for granted."""
    held_bits: float = 0.0
    """What a socket held, so that samples of what is written to it differ by as much from what arrived."""

    @property
    def begin_s(self) -> float:
        """When the first began."""
        return float(self.ends_s[0] - self.lasts_s[0])

    @property
    def end_s(self) -> float:
        """When the last ended."""
        return float(self.ends_s[-1])

    def busy(self) -> "Rates":
        """Time from the first sample that delivered something to the last."""
        busy = np.flatnonzero(self.bps > 0)
        if not busy.size:
            return self
        kept = slice(busy[0], busy[-1] + 1)
        return replace(self, ends_s=self.ends_s[kept], lasts_s=self.lasts_s[kept], bps=self.bps[kept])


@dataclass(frozen=True)
class Known:
    """What the reader of a file knows of its directions by itself."""

    values: Mapping[Way, tuple[float, float | None, str]]
    """Rate in bit/s with headers, the wait in a full buffer in s, None if that is not known, and a queue that
    stands for what is not known, empty if none does."""
    guessed: Sequence[str]
    unknown: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """The pings and the rates of one line."""

    pings: Pings
    rates: Mapping[Way, Rates]
    one_clock: bool
    """Whether the times of pings and of rates count from the same moment."""
    told: Sequence[str] = field(default_factory=tuple)
    """One line each: what reading had to take for granted."""
    least_rtt_s: float | None = None
    """The RTT of an empty queue, if it is known: of a handshake, or of the first segments."""
    known: Known | None = None
    """Rates and buffers, if they are known otherwise than by single directions."""
    echo: tuple[int, int] = (98, 98)
    """Bytes of what RTTs are of, there and back: a ping with all headers."""
    has_unsure: bool = False
    """Whether waits may be longer than pings show: some may never have met an empty queue."""

    @property
    def both_at_once(self) -> bool:
        """Whether both directions were busy at the same time."""
        if len(self.rates) < 2:
            return False
        down, up = self.rates["down"], self.rates["up"]
        together_s = min(down.end_s, up.end_s) - max(down.begin_s, up.begin_s)
        return together_s > 0.5 * min(down.end_s - down.begin_s, up.end_s - up.begin_s)
