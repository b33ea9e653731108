"""Queue disciplines of Linux that serve, shape and hold packets, with options as the kernel reads them."""

import struct
from dataclasses import dataclass

from fullpipe.engines.linux.tc.attributes import attribute, u32, u64
from fullpipe.scenario.quantities import BITS

_OPTIONS, _STAB, _NESTED = 2, 8, 0x8000
_ETHERNET_BYTES = 14
_PLENTY_BYTES = 2**30
_PLENTY_PACKETS = 2**30
MOST_U32 = 2**32 - 1
_HTB_VERSION, _HTB_R2Q = 3, 10


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline with its options."""

    kind: str
    options: bytes = b""
    nested: bool = True
    """Whether the options are attributes, and not a bare structure."""

    def written(self, link_overhead_bytes: int = _ETHERNET_BYTES) -> str:
        """The name, and in hexadecimal what follows it in a message; sizes include the overhead."""
        kind = _OPTIONS | (_NESTED if self.nested else 0)
        message = attribute(kind, self.options) if self.options else b""
        extra = link_overhead_bytes - _ETHERNET_BYTES
        if extra:
            message += attribute(_STAB, attribute(1, struct.pack("<BBhiIIII", 0, 0, 0, extra, 1, 0, 0, 0)))
        return f"{self.kind} {message.hex()}".rstrip()


def server() -> Qdisc:
    """What holds the class of a link that serves its queue at a rate: `htb`."""
    return Qdisc("htb", attribute(2, struct.pack("<IIIII", _HTB_VERSION, _HTB_R2Q, 1, 0, 0)))


def service(rate_bps: int, frame_bytes: int) -> Qdisc:
    """That class. It has no burst, so a packet leaves the queue when the one before it has been sent.

    A new rate takes over from the packet after the one that is being sent, and adds nothing to spend.
    """
    parms = 2 * ratespec(rate_bps) + struct.pack("<IIIII", 1, 1, frame_bytes, 0, 0)
    return Qdisc("htb", attribute(1, parms) + rate64(6, rate_bps) + rate64(7, rate_bps))


def shaper(
    rate_bps: int, burst_bytes: int, limit_bytes: int = _PLENTY_BYTES, peak: tuple[int, int] | None = None
) -> Qdisc:
    """A token bucket: `tbf`. `peak` is a second rate and its bucket."""
    peak_bps, peak_bytes = peak or (0, 0)
    parms = (
        ratespec(rate_bps) + ratespec(peak_bps) + struct.pack("<III", limit_bytes, burst_bytes, peak_bytes)
    )
    options = attribute(1, parms) + u32(6, burst_bytes) + rate64(4, rate_bps)
    if peak:
        options += u32(7, peak_bytes) + rate64(5, peak_bps)
    return Qdisc("tbf", options)


def ratespec(rate_bps: int, cell_log: int = 0) -> bytes:
    """A rate on Ethernet as `tc_ratespec`, in bytes per second."""
    return struct.pack("<BBHhHI", cell_log, 1, 0, 0, 0, min(rate_bps // BITS, MOST_U32))


def rate64(kind: int, rate_bps: int) -> bytes:
    """An attribute for a rate that needs more than 32 bits, if this does."""
    return u64(kind, rate_bps // BITS) if rate_bps // BITS > MOST_U32 else b""


def fifo(packets: int | None, limit_bytes: int | None) -> Qdisc:
    """A drop-tail queue."""
    if limit_bytes is not None:
        return Qdisc("bfifo", struct.pack("<I", min(limit_bytes, MOST_U32)), nested=False)
    limit = _PLENTY_PACKETS if packets is None else packets
    return Qdisc("pfifo", struct.pack("<I", limit), nested=False)


def fq() -> Qdisc:
    """The pacing queue of a sending host, with its defaults."""
    return Qdisc("fq")
