"""Jitter as netem draws it: a spread, and a table of quantiles in units of the spread.

The kernel multiplies the spread with a random entry of the table (`tabledist` in net/sched/sch_netem.c).
Without a table, the extra delay is uniform.
"""

import math
import struct
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from fullpipe.scenario.model.link.impairments import Impairment, Impairments
from fullpipe.scenario.quantities import to_nanoseconds

LONGEST_NS = 2**31 - 1
"""Largest spread. The kernel reduces larger spreads to this value."""
_TABLE = 2048
"""Entries of a table of quantiles. The guest reads lines of up to 16,384 characters, four per entry."""
_SIGMA = 8192
"""Entry of a table for an extra delay of one spread."""
_MOST_S16 = 2**15 - 1


@dataclass(frozen=True)
class Jitter:
    """Random extra delay of every packet."""

    least_ns: int
    """Constant part of the delay. A uniform delay is drawn from `least_ns` ± `spread_ns`."""
    spread_ns: int
    table: bytes
    """Extra delays in units of `spread_ns / 8192`, each with the same probability. Empty: uniform."""
    reorder: bool


def jitter_of(impairments: Impairments) -> Jitter | None:
    """Return the jitter of a link; None if the link has none."""
    if impairments.jitter:
        return _by_shape(impairments.jitter)
    if impairments.wifi_jitter_s is not None:
        return _of_delays(quantiles_of_wifi(to_nanoseconds(impairments.wifi_jitter_s)), reorder=False)
    if impairments.recorded_jitter:
        recorded = impairments.recorded_jitter
        delays = _recorded(sorted(recorded.delays_ns), interpolated=recorded.draw == "interpolated")
        return _of_delays(delays, reorder=recorded.reorder)
    return None


def _by_shape(jitter: Impairment) -> Jitter:
    spread_ns = to_nanoseconds(jitter.spread_s)
    match jitter.shape:
        case "normal":
            return Jitter(0, spread_ns, _half_normal(), jitter.reorder)
        case "uniform":
            return Jitter(spread_ns // 2, spread_ns // 2, b"", jitter.reorder)
        case shape:
            raise ValueError(f"netem has no options for jitter with shape {shape}")


def _half_normal() -> bytes:
    """Return the table of quantiles of a standard normal variable's absolute value."""
    quantiles = (NormalDist().inv_cdf(0.5 + share / 2) for share in _shares(_TABLE))
    return _packed(min(_MOST_S16, round(_SIGMA * q)) for q in quantiles)


def _shares(count: int) -> Iterator[float]:
    """Yield the centres of `count` equal parts of the range from 0 to 1."""
    return ((i + 0.5) / count for i in range(count))


def _packed(entries: Iterable[int]) -> bytes:
    return b"".join(struct.pack("<h", entry) for entry in entries)


def _of_delays(delays_ns: Sequence[float], *, reorder: bool) -> Jitter:
    """Return jitter that draws one of the given delays. The largest delay gets the largest entry."""
    spread_ns = math.ceil(max(delays_ns) * _SIGMA / _MOST_S16)
    scale = _SIGMA / max(1, spread_ns)
    return Jitter(0, spread_ns, _packed(round(delay * scale) for delay in delays_ns), reorder)


def _recorded(delays_ns: Sequence[int], *, interpolated: bool) -> Sequence[float]:
    """Return the entries of the table for sorted recorded delays: all delays, or their quantiles."""
    count = len(delays_ns)
    if not interpolated and count <= _TABLE:
        return delays_ns
    if not interpolated:
        return [delays_ns[int(share * count)] for share in _shares(_TABLE)]
    found = []
    for place in (share * (count - 1) for share in _shares(_TABLE)):
        low, high = delays_ns[int(place)], delays_ns[min(count - 1, int(place) + 1)]
        found.append(low + (high - low) * (place - int(place)))
    return found


# Wi-Fi jitter (draft-huitema-ccwg-c4-test-04, section 2.3): N1 ms - r + N2 * 7.5 ms. N1 is Poisson with mean
# 1, and r is uniform from 0 to 1 ms if N1 is not 0. N2 is Poisson with mean 12 for a share of the packets,
# else 0. All bounds of the uniform parts are multiples of 0.5 ms.


_CELL_NS = 500_000
_SHORT_CELLS, _LONG_CELLS = 2, 15
"""Cells of 0.5 ms per interval of collision avoidance and of retransmission."""
_DEFERRALS, _RETRANSMISSIONS = 1.0, 12.0
_MOST_DEFERRALS, _MOST_RETRANSMISSIONS = 12, 48
"""Numbers whose probabilities are below 1e-9 and 1e-13."""


def quantiles_of_wifi(mean_ns: int) -> list[float]:
    """Return quantiles of Wi-Fi jitter in ns, each with the same probability. The law has the target
    `mean_ns`."""
    delayed = (mean_ns - _SHORT_CELLS * _CELL_NS) / (_RETRANSMISSIONS * _LONG_CELLS * _CELL_NS)
    cells = _LONG_CELLS * _MOST_RETRANSMISSIONS + _SHORT_CELLS * _MOST_DEFERRALS
    atoms, uniform = [0.0] * (cells + 1), [0.0] * (cells + 1)
    for long in range(_MOST_RETRANSMISSIONS):
        weight = delayed * _poisson(_RETRANSMISSIONS, long) + (0 if long else 1 - delayed)
        begin = long * _LONG_CELLS
        atoms[begin] += weight * _poisson(_DEFERRALS, 0)
        for short in range(1, _MOST_DEFERRALS):
            for cell in range(begin + (short - 1) * _SHORT_CELLS, begin + short * _SHORT_CELLS):
                uniform[cell] += weight * _poisson(_DEFERRALS, short) / _SHORT_CELLS
    found, reached, waiting = list[float](), 0.0, deque(_shares(_TABLE))
    for cell in range(cells + 1):
        for mass, width_ns in ((atoms[cell], 0), (uniform[cell], _CELL_NS)):
            while waiting and waiting[0] <= reached + mass:
                found.append(cell * _CELL_NS + width_ns * (waiting.popleft() - reached) / mass)
            reached += mass
    return found


def _poisson(mean: float, count: int) -> float:
    return math.exp(-mean) * mean**count / math.factorial(count)
