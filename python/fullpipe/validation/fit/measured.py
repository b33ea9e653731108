"""Measurements of a line, and their noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

# Measurements of a line, in one form for all programs.


Floats = npt.NDArray[np.float64]
Way = Literal["up", "down"]
WAYS: tuple[Way, Way] = ("down", "up")
SINCE_1970_S = 1e9
"""Larger times are taken for seconds since 1970. All files with such times share one clock."""


@dataclass(frozen=True)
class Pings:
    """Round-trip times of pings."""

    sent_s: Floats
    """Send times, shape (n,)."""
    rtts_s: Floats
    """RTTs in the order of time, shape (n,)."""
    lost: int = 0
    """Pings without a reply between the first and the last reply, as far as known."""


@dataclass(frozen=True)
class Rates:
    """Total payload rate of the streams of one direction."""

    ends_s: Floats
    """Ends of the samples, shape (n,)."""
    lasts_s: Floats
    """Durations of the samples, shape (n,)."""
    bps: Floats
    """Payload rates, shape (n,)."""
    ccas: frozenset[str] = frozenset()
    """Algorithms of the senders, as far as known."""
    mss: int | None = None
    """Payload of a segment, bytes; None if unknown."""
    resent: int | None = None
    """Retransmitted segments; None if unknown."""
    told: tuple[str, ...] = ()
    """Assumptions of the reader of the file, one line each."""
    held_bits: float = 0.0
    """Bits that were written, but were in a socket buffer at the end and not delivered."""

    @property
    def begin_s(self) -> float:
        """Start of the first sample."""
        return float(self.ends_s[0] - self.lasts_s[0])

    @property
    def end_s(self) -> float:
        """End of the last sample."""
        return float(self.ends_s[-1])

    def busy(self) -> "Rates":
        """Return the rates from the first to the last sample in which data was delivered."""
        busy = np.flatnonzero(self.bps > 0)
        if not busy.size:
            return self
        kept = slice(busy[0], busy[-1] + 1)
        return replace(self, ends_s=self.ends_s[kept], lasts_s=self.lasts_s[kept], bps=self.bps[kept])


@dataclass(frozen=True)
class Known:
    """Estimates of the directions, if the reader of a file makes its own estimates."""

    values: Mapping[Way, tuple[float, float | None, str]]
    """Rate in bit/s with headers; queueing delay of a full buffer in s, None if unknown; and a queue that
    represents the unknown queue, empty if no queue does."""
    guessed: Sequence[str]
    unknown: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """The pings and the rates of one line."""

    pings: Pings
    rates: Mapping[Way, Rates]
    one_clock: bool
    """Whether the times of pings and of rates come from the same clock."""
    told: Sequence[str] = field(default_factory=tuple)
    """Assumptions of the reader of the files, one line each."""
    least_rtt_s: float | None = None
    """RTT of an empty queue, from a handshake or the first segments; None if unknown."""
    known: Known | None = None
    """Rates and buffers, if the reader of a file has estimated both directions together."""
    echo: tuple[int, int] = (98, 98)
    """Sizes of the request and the reply of an RTT, bytes with all headers; the default is a ping."""
    has_unsure: bool = False
    """Whether queueing delays may be longer than the RTTs show, because some pings may never have met an
    empty queue."""

    @property
    def both_at_once(self) -> bool:
        """Whether both directions were busy at the same time."""
        if len(self.rates) < 2:
            return False
        down, up = self.rates["down"], self.rates["up"]
        together_s = min(down.end_s, up.end_s) - max(down.begin_s, up.begin_s)
        return together_s > 0.5 * min(down.end_s - down.begin_s, up.end_s - up.begin_s)


# Distributions of measured values, with the noise of the measurement removed.
#
# Noise widens a distribution. The smallest and largest values, which should show the empty and the full
# queue, are then due to noise. The noise is known from pings of an idle line, which differ by noise only, and
# is removed.


_LEAST = 0.002
"""Least relative noise: queues differ by a packet."""
_MOST = 0.3
_STEPS_OF_NOISE = 3.0
"""Points of the grid per standard deviation of the noise."""
_MOST_POINTS = 2_000
_MOST_VALUES = 2_000
"""Maximum number of values that are used. If there are more, the used values are evenly spaced by rank."""
_ROUNDS = 400
"""Iterations of `without_noise`. A choice: with 100 to 1,600 iterations, the largest error of the buffers of
57 directions is at most 13.4 %; with 100 it is 9.4 %."""
_MAD_OF_NORMAL = 0.6745
"""The median absolute value of a normal variable of standard deviation 1."""
_FAR = 3.0
"""Distance from the median beyond which values are left out, in standard deviations. A choice: from 2 to 4.5,
no RTT of 50 lines changes by more than 0.8 %."""


def relative_noise(values: Floats) -> float:
    """Relative noise of values that should be equal: the standard deviation of their logarithms. Values far
    above the median, which met a queue, are left out.

    Args:
        values: Above 0, shape (n,).
    """
    logs = np.log(values)
    off = logs - np.median(logs)
    near = off[off <= _FAR * float(np.median(np.abs(off))) / _MAD_OF_NORMAL]
    return float(np.clip(near.std(), _LEAST, _MOST))


def noise_of_steps(values: Floats) -> float:
    """Relative noise of values that change slowly, from the differences of successive values.

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
    """A discrete distribution: the share of time of each value."""

    values: Floats
    """Values in ascending order, shape (m,)."""
    shares: Floats
    """Shares of the values, with the sum 1, shape (m,)."""

    def quantile(self, share: float) -> float:
        """The quantile of a share."""
        place = int(np.searchsorted(np.cumsum(self.shares), share))
        return float(self.values[min(place, self.values.size - 1)])

    def mean_within(self, low: float, high: float) -> float:
        """The mean of the values between two bounds, both included."""
        inside = (self.values >= low) & (self.values <= high)
        return float(np.average(self.values[inside], weights=self.shares[inside]))


def without_noise(values: Floats, noise: float) -> Distribution:
    """The distribution that, with noise of this relative size, makes the measured values most likely.

    Formula: the maximum of the likelihood over all distributions on a grid, by expectation and maximization.
    Source: Laird, "Nonparametric maximum likelihood estimation of a mixing distribution", JASA 73, 1978.

    Args:
        values: Above 0, shape (n,), at least one value.
        noise: Standard deviation of the noise, relative to the values.
    """
    return _most_likely(values.astype(np.float64).tobytes(), noise)


@lru_cache(maxsize=16)
def _most_likely(values: bytes, noise: float) -> Distribution:
    """Do the work of `without_noise`. Results are cached: a fit takes several quantiles of the same pings."""
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
