"""Paces at which the application of a connection writes data, in the guest's form.

The guest writes a packet after each interval of a pace, and the simulator also writes one at its beginning.
In the guest, a pace after silence therefore begins one interval earlier. Before any other pace, a pace of one
packet per nanosecond is inserted.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.workloads.writers import Cbr, OnOff
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

MOST_PACES = 64
"""Maximum number of a flow's paces in the guest."""
UNLIMITED_BPS = -1
_AT_ONCE_NS = 2


class Pace(NamedTuple):
    """A start time, and the payload rate in bits per second from then on."""

    at_ns: int
    rate_bps: int


def paces(flow: Flow, tcp: Tcp, start_ns: int, end_ns: int) -> tuple[Pace, ...]:
    """Compute the guest's paces. Empty if the application never limits the flow."""
    segment_bits = tcp.mss_bytes * BITS
    found, before = list[Pace](), Pace(start_ns, 0)
    for at_ns, rate_bps in _begun(_of_flow(flow, start_ns, end_ns), start_ns):
        if rate_bps > 0:
            interval_ns = segment_bits * NANOSECONDS // rate_bps
            if before.rate_bps == 0 and before.at_ns + interval_ns <= at_ns:
                found.append(Pace(at_ns - interval_ns, rate_bps))
            else:
                found += [Pace(at_ns, segment_bits * NANOSECONDS), Pace(at_ns + _AT_ONCE_NS, rate_bps)]
        else:
            found.append(Pace(at_ns, rate_bps))
        before = found[-1]
    return tuple(found)


def _begun(wanted: Iterator[Pace], start_ns: int) -> Iterator[Pace]:
    """Yield the paces from the start on. Only the last of the earlier ones still applies."""
    known = list(wanted)
    for pace, following in pairwise([*known, None]):
        if pace and (following is None or following.at_ns > start_ns):
            yield Pace(max(pace.at_ns, start_ns), pace.rate_bps)


def _of_flow(flow: Flow, start_ns: int, end_ns: int) -> Iterator[Pace]:
    """Yield the paces in the scenario."""
    for pace in flow.application or ():
        yield Pace(to_nanoseconds(pace.at_s), UNLIMITED_BPS if pace.rate_bps is None else pace.rate_bps)
    match flow.workload:
        case Cbr(rate_bps=rate_bps):
            yield Pace(start_ns, rate_bps)
        case OnOff(rate_bps=rate_bps, on_s=on_s, off_s=off_s):
            at_ns = start_ns
            while at_ns < end_ns:
                yield Pace(at_ns, UNLIMITED_BPS if rate_bps is None else rate_bps)
                yield Pace(at_ns + to_nanoseconds(on_s), 0)
                at_ns += to_nanoseconds(on_s) + to_nanoseconds(off_s)
