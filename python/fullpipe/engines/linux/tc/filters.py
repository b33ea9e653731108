"""Filters of Linux that match all packets and police or count them: `matchall` with an action."""

import struct
from collections.abc import Mapping
from typing import Any

from fullpipe.engines.linux.tc.attributes import attribute, u32
from fullpipe.engines.linux.tc.qdisc import Qdisc, rate64, ratespec
from fullpipe.scenario.quantities import BITS, NANOSECONDS

_PASS, _DROP = 0, 2
_DETERMINISTIC = 2
_TICK_NS = 64
_ANY_SIZE = 2**31 - 1
_TABLE, _CELL_LOG = 1024, 3
"""A table of times that kernels require but no longer read."""
MOST_EVERY = 2**16 - 1
_MOST_TICKS = 2**32 - 1


def policer(p: Mapping[str, Any], class_id: int) -> Qdisc:
    """Return a filter that drops packets exceeding a token bucket and passes the rest to a class."""
    rate_bps = int(p["rate_bps"])
    spec = ratespec(rate_bps, _CELL_LOG)
    parms = struct.pack("<IiIII", 0, _DROP, 0, burst_ticks(p), _ANY_SIZE)
    parms += spec + ratespec(0) + struct.pack("<iiI", 0, 0, 0)
    options = attribute(1, parms) + attribute(2, bytes(_TABLE)) + u32(5, _PASS) + rate64(8, rate_bps)
    return _matchall("police", options, u32(1, class_id))


def burst_ticks(p: Mapping[str, Any]) -> int:
    """Return the time that the bucket takes to fill, in units of the kernel."""
    return round(int(p["burst_bytes"]) * BITS * NANOSECONDS / int(p["rate_bps"]) / _TICK_NS)


def holds(p: Mapping[str, Any]) -> bool:
    """Whether the kernel supports a bucket of this size."""
    return burst_ticks(p) <= _MOST_TICKS


def every(count: int) -> Qdisc:
    """Return a filter that drops exactly every `count`-th packet."""
    parms = struct.pack("<IIiii", 0, 0, _PASS, 0, 0)
    now_and_then = struct.pack("<HHi", _DETERMINISTIC, count, _DROP)
    return _matchall("gact", attribute(2, parms) + attribute(3, now_and_then))


def _matchall(action: str, options: bytes, leads: bytes = b"") -> Qdisc:
    one = attribute(1, f"{action}\0".encode()) + attribute(2, options)
    return Qdisc("matchall", leads + attribute(2, attribute(1, one)))
