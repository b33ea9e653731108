"""Queue disciplines, classes and filters, with their options and positions on a device."""

import struct
from dataclasses import dataclass

from fullpipe.engines.linux.tc.attributes import attribute, u64
from fullpipe.scenario.quantities import BITS

_OPTIONS, _STAB, _NESTED = 2, 8, 0x8000
ETHERNET_BYTES = 14
MOST_U32 = 2**32 - 1
ROOT, OUTER, INNER = "ffffffff", "10000", "20000"
"""Handles of a device, of a qdisc at its root, and of a qdisc below that."""
INGRESS, ARRIVALS = "fffffff1", "ffff0000"
"""Handles of a device's incoming packets, and of the qdisc for them."""
CLASS, FILTER = "10001", "1"
"""Handles of the only class of the qdisc at the root, and of the only filter of a qdisc."""


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline with its options, or a class or filter, which are encoded the same way."""

    kind: str
    options: bytes = b""
    nested: bool = True
    """Whether the options are attributes. If not, they are a bare structure."""

    def written(self, link_overhead_bytes: int = ETHERNET_BYTES) -> str:
        """Return the name, and the rest of the message in hexadecimal. Sizes include the overhead."""
        kind = _OPTIONS | (_NESTED if self.nested else 0)
        message = attribute(kind, self.options) if self.options else b""
        extra = link_overhead_bytes - ETHERNET_BYTES
        if extra:
            message += attribute(_STAB, attribute(1, struct.pack("<BBhiIIII", 0, 0, 0, extra, 1, 0, 0, 0)))
        return f"{self.kind} {message.hex()}".rstrip()


@dataclass(frozen=True)
class TcObject:
    """A queue discipline, class or filter, and its position on a device."""

    parent: str
    handle: str
    qdisc: Qdisc
    command: str = "qdisc"
    """Command of tc: qdisc, class or filter."""


@dataclass(frozen=True)
class QdiscTree:
    """All objects on a device, from the root down."""

    objects: tuple[TcObject, ...]
    queues: bool
    """Whether packets in it are waiting for the link. If not, they are on their way."""


def ratespec(rate_bps: int, cell_log: int = 0) -> bytes:
    """Encode a rate on Ethernet as `tc_ratespec`, in bytes per second."""
    return struct.pack("<BBHhHI", cell_log, 1, 0, 0, 0, min(rate_bps // BITS, MOST_U32))


def rate64(kind: int, rate_bps: int) -> bytes:
    """Encode an attribute for a rate, if it needs more than 32 bits."""
    return u64(kind, rate_bps // BITS) if rate_bps // BITS > MOST_U32 else b""
