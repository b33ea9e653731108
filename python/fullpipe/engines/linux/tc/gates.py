"""Gates of links: qdiscs and packets that stop a link during an outage, and wake the link after a change.

A qdisc of Linux cannot have a rate of 0. At a very low rate, htb sends one more packet and waits for the end
of its transmission, even if the rate rises earlier (`htb_charge_class`). tbf, too, waits for a time that it
computed at the old rate, unless another packet arrives (`tbf_dequeue`, `tbf_change`).

A link with a gate has two htb qdiscs above its queue. The class of the outer htb has the rate of the link.
The inner htb has two classes without a limit: one with priority for gate packets, and one for the queue. At
the begin of an outage, the outer class gets the rate at which the gate packets take as long as the outage.
They leave when the packet in transmission has left, and occupy the link until the end of the outage. A second
gate holds the packet in transmission, which netem would deliver in the outage.

A gate packet that takes no time wakes the link after a change of a token bucket. The next namespace discards
gate packets, because no program there receives their protocol.
"""

from dataclasses import dataclass

from fullpipe.engines.linux.tc.qdisc import ROOT, TcObject, htb, htb_class
from fullpipe.scenario.quantities import BITS, NANOSECONDS

DATA_CLASS, FIRST_CLASS = "40001", "40002"
"""Hexadecimal handles of the inner classes: for the queue, and for gate packets."""
_GATE, _GATE_CLASS, _SPLIT = "30000", "30001", "40000"
_OPEN_BPS = 10**15
"""Rate of a class without a limit: the kernel rounds transmission times to 0 ns."""
_FEW_PACKETS, _PER_SECOND, _MOST_PACKETS = 16, 8, 1000
"""Gate packets of a short outage, per second of a long outage, and at most, which the kernel's queue holds.
The kernel's rates are whole bytes per second. More packets need a higher rate, so that rounding has a smaller
effect: at most 0.1 ms in an outage of up to 10 s, and 1 ms in an outage of up to 100 s."""
_LONGEST_NS = 30 * NANOSECONDS
"""Maximum time of one gate packet. A packet can occupy a class of htb for at most 60 s."""
_SMALLEST_BYTES = 60


@dataclass(frozen=True)
class GatePackets:
    """Gate packets that enter a link at one time."""

    at_ns: int
    size_bytes: int
    """Size on the wire of each packet."""
    count: int = 1


def tree(rate_bps: int | None, frame_bytes: int) -> tuple[TcObject, ...]:
    """Return both htb qdiscs and their classes for a link with this rate. The queue belongs to the class
    `DATA_CLASS`."""
    return (
        TcObject(ROOT, _GATE, htb()),
        outer_class(rate_bps, frame_bytes),
        TcObject(_GATE_CLASS, _SPLIT, htb()),
        TcObject(_SPLIT, DATA_CLASS, htb_class(_OPEN_BPS, frame_bytes, priority=1), "class"),
        TcObject(_SPLIT, FIRST_CLASS, htb_class(_OPEN_BPS, frame_bytes), "class"),
    )


def outer_class(rate_bps: int | None, frame_bytes: int) -> TcObject:
    """Return the class of the outer htb, which serves the link at this rate."""
    return TcObject(_GATE, _GATE_CLASS, htb_class(rate_bps or _OPEN_BPS, frame_bytes), "class")


def wake(at_ns: int) -> GatePackets:
    """Return a gate packet that makes the kernel read a changed rate."""
    return GatePackets(at_ns, _SMALLEST_BYTES)


@dataclass(frozen=True)
class Gate:
    """An outage in the guest."""

    packets: GatePackets
    rate_bps: int
    """Rate of the outer class from the begin of the outage."""
    restored_ns: int
    """Time at which the outer class gets the rate of the link again: after the departure of the last gate
    packet, and before the end of the outage."""


def gate(begin_ns: int, end_ns: int, rate_bps: int | None, frame_bytes: int) -> Gate:
    """Return an outage of a link with this rate. A packet in transmission at the begin is no longer than
    `frame_bytes`."""
    span_ns = end_ns - begin_ns
    packet_ns = max(1, frame_bytes * BITS * NANOSECONDS // (rate_bps or _OPEN_BPS))
    fine = min(_MOST_PACKETS, max(_FEW_PACKETS, span_ns * _PER_SECOND // NANOSECONDS))
    count = max(1, min(fine, span_ns // (4 * packet_ns)), -(-span_ns // _LONGEST_NS))
    last_ns = span_ns // count

    def rate(size: int) -> int:
        return max(1, round(count * size * NANOSECONDS / span_ns))

    def error(size: int) -> float:
        return abs(count * size * NANOSECONDS / rate(size) - span_ns)

    size = min(range(_SMALLEST_BYTES, frame_bytes + 1), key=error)
    restored_ns = end_ns - last_ns // 2 if last_ns > 2 * packet_ns else end_ns
    return Gate(GatePackets(begin_ns, size, count), rate(size) * BITS, restored_ns)
