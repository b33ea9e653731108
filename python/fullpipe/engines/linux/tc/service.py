"""Queue disciplines that serve, shape and queue packets: htb, tbf, pfifo, bfifo, and the fq of a host."""

import struct

from fullpipe.engines.linux.tc.attributes import attribute, u32
from fullpipe.engines.linux.tc.qdisc import MOST_U32, Qdisc, rate64, ratespec

_PLENTY_BYTES = 2**30
_PLENTY_PACKETS = 2**30
_HTB_VERSION, _HTB_R2Q = 3, 10


def htb() -> Qdisc:
    """Return the qdisc that contains a link's class."""
    return Qdisc("htb", attribute(2, struct.pack("<IIIII", _HTB_VERSION, _HTB_R2Q, 1, 0, 0)))


def htb_class(rate_bps: int, frame_bytes: int) -> Qdisc:
    """Return the class that serves a link's queue at a rate.

    It has no burst, so a packet leaves the queue when the one before it has been sent. A new rate applies
    from the next packet on, and does not add tokens.
    """
    parms = 2 * ratespec(rate_bps) + struct.pack("<IIIII", 1, 1, frame_bytes, 0, 0)
    return Qdisc("htb", attribute(1, parms) + rate64(6, rate_bps) + rate64(7, rate_bps))


def tbf(
    rate_bps: int, burst_bytes: int, limit_bytes: int = _PLENTY_BYTES, peak: tuple[int, int] | None = None
) -> Qdisc:
    """Return a token bucket. `peak` is a second rate and the size of its bucket."""
    peak_bps, peak_bytes = peak or (0, 0)
    parms = (
        ratespec(rate_bps) + ratespec(peak_bps) + struct.pack("<III", limit_bytes, burst_bytes, peak_bytes)
    )
    options = attribute(1, parms) + u32(6, burst_bytes) + rate64(4, rate_bps)
    if peak:
        options += u32(7, peak_bytes) + rate64(5, peak_bps)
    return Qdisc("tbf", options)


def fifo(packets: int | None, limit_bytes: int | None) -> Qdisc:
    """Return a drop-tail queue: pfifo, or bfifo if bytes are limited."""
    if limit_bytes is not None:
        return Qdisc("bfifo", struct.pack("<I", min(limit_bytes, MOST_U32)), nested=False)
    limit = _PLENTY_PACKETS if packets is None else packets
    return Qdisc("pfifo", struct.pack("<I", limit), nested=False)


def fq() -> Qdisc:
    """Return the pacing queue of a sending host, with its defaults."""
    return Qdisc("fq")
