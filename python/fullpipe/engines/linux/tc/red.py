"""RED in the kernel's fixed point, from parameters in natural units."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullpipe.engines.linux.tc.attributes import attribute, u32
from fullpipe.engines.linux.tc.qdisc import Qdisc

_ECN, _HARDDROP, _ADAPTIVE = 1, 2, 4
_MOST_SHIFT, _KERNEL_BITS = 31, 32
_TABLE = 256
_CERTAIN = 2**32 - 1


@dataclass(frozen=True)
class Thresholds:
    """Thresholds in bytes between which RED drops at random, and the weight 2 ** -shift of its average."""

    least: int
    most: int
    shift: int

    @property
    def fit(self) -> bool:
        """Whether they fit into the kernel's fixed point."""
        return self.most.bit_length() + self.shift < _KERNEL_BITS


def thresholds(p: Mapping[str, Any]) -> Thresholds:
    """Return the thresholds of a queue. Missing ones are derived as in the native engine and in `tc`."""
    most = max(2, int(p["max"] or (3 * p["min"] if p["min"] else p["limit"] // 4)))
    least = min(max(1, int(p["min"] or most // 3)), most - 1)
    burst = max(1, int(p["burst"] or (2 * least + most) // (3 * p["avpkt"])))
    return Thresholds(least, most, _shift(least, burst, p["avpkt"]))


def _shift(least: int, burst: int, packet: int) -> int:
    """Return the shift for the largest weight with which a burst passes below the lower threshold."""
    needed = burst + 1 - least / packet
    found = (s for s in range(1, _MOST_SHIFT + 1) if (1 - (1 - 0.5**s) ** burst) / 0.5**s >= needed)
    return next(found, _MOST_SHIFT)


def red(p: Mapping[str, Any]) -> Qdisc:
    """Return RED. Its table for idle times is empty, as qdiscs below a class are not notified of them."""
    at = thresholds(p)
    flags = _ECN * p["ecn"] | _HARDDROP * p["harddrop"] | _ADAPTIVE * p["adaptive"]
    options = struct.pack("<IIIBBBB", p["limit"], at.least, at.most, at.shift, 0, 0, flags)
    most = max(1, round(p["probability"] * _CERTAIN))
    return Qdisc("red", attribute(1, options) + attribute(2, bytes(_TABLE)) + u32(3, most))
