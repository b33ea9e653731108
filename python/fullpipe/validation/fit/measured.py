"""Measurements of a line, and their noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

# What was measured of a line, whichever program wrote it.


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


# Distributions of what was measured without the noise of the measurement.
#
# Noise widens a distribution, so that its largest and smallest values, which tell a full and an empty
# queue, are those of the noise. It is known, as pings of an idle line differ by nothing else, and is taken
# out.


_LEAST = 0.002
"""Relative noise that is always there: queues differ by a packet."""
_MOST = 0.3
_STEPS_OF_NOISE = 3.0
"""Points of the grid per standard deviation of the noise."""
_MOST_POINTS = 2_000
_MOST_VALUES = 2_000
"""Of more values, so many at equal distances of their ranks say the same."""
_ROUNDS = 400
"""A choice: with 100 to 1,600 no buffer of 57 directions is off by more than 13.4 %, at 100 by 9.4 %."""
_MAD_OF_NORMAL = 0.6745
"""The median absolute value of a normal variable of standard deviation 1."""
_FAR = 3.0
"""Standard deviations. A choice: from 2 to 4.5 no RTT of 50 lines moves by more than 0.8 %."""


def relative_noise(values: Floats) -> float:
    """How much values that should be the same differ, relatively: the standard deviation of their logarithms,
    without those that are far above the median, which met a queue.

    Args:
        values: Above 0, shape (n,).
    """
    logs = np.log(values)
    off = logs - np.median(logs)
    near = off[off <= _FAR * float(np.median(np.abs(off))) / _MAD_OF_NORMAL]
    return float(np.clip(near.std(), _LEAST, _MOST))


def noise_of_steps(values: Floats) -> float:
    """How much values that change slowly differ from one to the next, relatively, beside that change.

    Formula: the median of |ln x[i+1] - ln x[i]| / (0.6745 sqrt(2)).
    Source: von Neumann, Kent, Bellinson and Hart, "The mean square successive difference", Annals of
    Mathematical Statistics 12, 1941, with the median in place of the mean, so that jumps do not count.

    Args:
        values: In the order of time, above 0, shape (n,).
    """
    if values.size < 3:
        return _LEAST
    steps = np.abs(np.diff(np.log(values)))
    return float(np.clip(np.median(steps) / (_MAD_OF_NORMAL * math.sqrt(2)), _LEAST, _MOST))


@dataclass(frozen=True)
class Distribution:
    """Shares of time at values."""

    values: Floats
    """Ascending, shape (m,)."""
    shares: Floats
    """Adding up to 1, shape (m,)."""

    def quantile(self, share: float) -> float:
        """The value below which a share lies."""
        place = int(np.searchsorted(np.cumsum(self.shares), share))
        return float(self.values[min(place, self.values.size - 1)])

    def mean_within(self, low: float, high: float) -> float:
        """The mean of what lies between two values, both included."""
        inside = (self.values >= low) & (self.values <= high)
        return float(np.average(self.values[inside], weights=self.shares[inside]))


def without_noise(values: Floats, noise: float) -> Distribution:
    """The distribution that, with noise of that relative size, makes what was measured most likely.

    Formula: the maximum of the likelihood over all distributions on a grid, by expectation and maximization.
    Source: Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 73, 1978.

    Args:
        values: Above 0, shape (n,), at least one.
        noise: Standard deviation, relative to the values.
    """
    return _most_likely(values.astype(np.float64).tobytes(), noise)


@lru_cache(maxsize=16)
def _most_likely(values: bytes, noise: float) -> Distribution:
    """See `without_noise`. A line and its buffer are found by several quantiles of the same pings."""
    logs = np.log(np.frombuffer(values))
    if logs.size > _MOST_VALUES:
        logs = np.sort(logs)[np.linspace(0, logs.size - 1, _MOST_VALUES).round().astype(int)]
    low, high = float(logs.min()) - noise, float(logs.max()) + noise
    points = min(max(2, math.ceil((high - low) / noise * _STEPS_OF_NOISE)), _MOST_POINTS)
    grid = np.linspace(low, high, points)
    near = np.exp(-0.5 * ((logs[:, None] - grid[None, :]) / max(noise, (high - low) / points)) ** 2)
    shares = np.full(points, 1 / points)
    parts = np.empty_like(near)
    for _ in range(_ROUNDS):
        np.multiply(near, shares, out=parts)
        np.divide(parts, np.maximum(parts.sum(axis=1, keepdims=True), 1e-300), out=parts)
        shares = parts.mean(axis=0)
    return Distribution(np.exp(grid), shares)
