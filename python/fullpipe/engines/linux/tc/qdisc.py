"""A queue discipline, class or filter, its options, and where on a device it stands."""

import struct
from dataclasses import dataclass

from fullpipe.engines.linux.tc.attributes import attribute, u64
from fullpipe.scenario.quantities import BITS

_OPTIONS, _STAB, _NESTED = 2, 8, 0x8000
ETHERNET_BYTES = 14
MOST_U32 = 2**32 - 1
ROOT, OUTER, INNER = "ffffffff", "10000", "20000"
"""Handles: that of any device, those of a qdisc at the root and of one below it."""
INGRESS, ARRIVALS = "fffffff1", "ffff0000"
"""Those of what a device receives, and of the qdisc that sees it."""
CLASS, FILTER = "10001", "1"
"""Those of the one class of the qdisc at the root, and of the one filter of a qdisc."""


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline with its options; also a class or a filter, which are written the same way."""

    kind: str
    options: bytes = b""
    nested: bool = True
    """Whether the options are attributes, and not a bare structure."""

    def written(self, link_overhead_bytes: int = ETHERNET_BYTES) -> str:
        """The name, and in hexadecimal what follows it in a message; sizes include the overhead."""
        kind = _OPTIONS | (_NESTED if self.nested else 0)
        message = attribute(kind, self.options) if self.options else b""
        extra = link_overhead_bytes - ETHERNET_BYTES
        if extra:
            message += attribute(_STAB, attribute(1, struct.pack("<BBhiIIII", 0, 0, 0, extra, 1, 0, 0, 0)))
        return f"{self.kind} {message.hex()}".rstrip()


@dataclass(frozen=True)
class TcObject:
    """A queue discipline, class or filter, and where on a device it stands."""

    parent: str
    handle: str
    qdisc: Qdisc
    command: str = "qdisc"
    """That of tc: qdisc, class or filter."""


@dataclass(frozen=True)
class QdiscTree:
    """All that is set on one device, from the root down."""

    objects: tuple[TcObject, ...]
    queues: bool
    """Whether packets that are here wait for the link; otherwise they are on their way."""


def ratespec(rate_bps: int, cell_log: int = 0) -> bytes:
    """A rate on Ethernet as `tc_ratespec`, in bytes per second."""
    return struct.pack("<BBHhHI", cell_log, 1, 0, 0, 0, min(rate_bps // BITS, MOST_U32))


def rate64(kind: int, rate_bps: int) -> bytes:
    """An attribute for a rate that needs more than 32 bits, if this does."""
    return u64(kind, rate_bps // BITS) if rate_bps // BITS > MOST_U32 else b""
