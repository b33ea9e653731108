"""The simulator's random number streams, so that other engines draw the same random values."""

import math

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


class Stream:
    """The random number stream of a seed and a name. It equals the simulator's `Rng::stream`."""

    def __init__(self, seed: int, name: str) -> None:
        state = 0xCBF29CE484222325
        for byte in name.encode():
            state = ((state ^ byte) * 0x100000001B3) & _MASK
        self._state = state ^ (seed * _STEP) & _MASK
        self.next()

    def next(self) -> int:
        """Return 64 random bits."""
        self._state = (self._state + _STEP) & _MASK
        z = ((self._state ^ (self._state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        return float(self.next() >> 11) / 2**53

    def exponential_ns(self, mean_ns: int) -> int:
        """Return an exponentially distributed time with this mean, at least 1 ns."""
        return max(1, int(-math.log(1.0 - self.unit()) * mean_ns))


def bits(seed: int, name: str) -> int:
    """Return 53 bits that depend only on the seed and the name."""
    return Stream(seed, name).next() >> 11


def start_ns(start_ns: int, jitter_ns: int, seed: int, stream: str) -> int:
    """Return the start of a flow with a random number stream; it is the same in every engine."""
    return start_ns + int(Stream(seed, f"start/{stream}").unit() * jitter_ns)
