"""Queues of a scenario as queue disciplines of Linux: names, and options as the kernel reads them."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fullpipe.engines.linux.attributes import attribute, u8, u32, u64
from fullpipe.scenario import catalogue
from fullpipe.scenario.topology import Discipline, DropTail

Params = Mapping[str, Any]

_OPTIONS, _STAB, _NESTED = 2, 8, 0x8000
_ETHERNET_BYTES = 14
_PLENTY_BYTES = 2**30
_PLENTY_PACKETS = 2**30
_MOST_U32 = 2**32 - 1
_HTB_VERSION, _HTB_R2Q = 3, 10
_US_PER_MS = 1_000
BITS = 8


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
    parms = 2 * _rate(rate_bps) + struct.pack("<IIIII", 1, 1, frame_bytes, 0, 0)
    return Qdisc("htb", attribute(1, parms) + _rate64(6, rate_bps) + _rate64(7, rate_bps))


def shaper(
    rate_bps: int, burst_bytes: int, limit_bytes: int = _PLENTY_BYTES, peak: tuple[int, int] | None = None
) -> Qdisc:
    """A token bucket: `tbf`. `peak` is a second rate and its bucket."""
    peak_bps, peak_bytes = peak or (0, 0)
    parms = _rate(rate_bps) + _rate(peak_bps) + struct.pack("<III", limit_bytes, burst_bytes, peak_bytes)
    options = attribute(1, parms) + u32(6, burst_bytes) + _rate64(4, rate_bps)
    if peak:
        options += u32(7, peak_bytes) + _rate64(5, peak_bps)
    return Qdisc("tbf", options)


def _rate(rate_bps: int) -> bytes:
    """A tc_ratespec on Ethernet, in bytes per second."""
    return struct.pack("<BBHhHI", 0, 1, 0, 0, 0, min(rate_bps // BITS, _MOST_U32))


def _rate64(kind: int, rate_bps: int) -> bytes:
    return u64(kind, rate_bps // BITS) if rate_bps // BITS > _MOST_U32 else b""


def fifo(packets: int | None, limit_bytes: int | None) -> Qdisc:
    """A drop-tail queue."""
    if limit_bytes is not None:
        return Qdisc("bfifo", struct.pack("<I", min(limit_bytes, _MOST_U32)), nested=False)
    limit = _PLENTY_PACKETS if packets is None else packets
    return Qdisc("pfifo", struct.pack("<I", limit), nested=False)


def fq() -> Qdisc:
    """The pacing queue of a sending host, with its defaults."""
    return Qdisc("fq")


def of(queue: DropTail | Discipline) -> Qdisc:
    """The queue discipline of a queue, without the rate of its link."""
    if isinstance(queue, DropTail):
        return fifo(queue.packets, queue.limit_bytes)
    known = catalogue.queue(queue.kind).params
    return MAKERS[queue.kind]({key: param.default for key, param in known.items()} | dict(queue.params))


def _us(params: Params, key: str) -> int:
    return round(float(params[key]) * _US_PER_MS)


def _tbf(p: Params) -> Qdisc:
    peak = None if p["peak_bps"] is None else (int(p["peak_bps"]), int(p["mtu_bytes"]))
    return shaper(int(p["rate_bps"]), int(p["burst_bytes"]), peak=peak)


def _codel(p: Params) -> Qdisc:
    options = u32(1, _us(p, "target_ms")) + u32(2, p["limit"]) + u32(3, _us(p, "interval_ms"))
    return Qdisc("codel", options + u32(4, p["ecn"]) + _threshold(5, p))


def _threshold(kind: int, p: Params) -> bytes:
    return b"" if p["ce_threshold_ms"] is None else u32(kind, _us(p, "ce_threshold_ms"))


def _fq_codel(p: Params) -> Qdisc:
    options = u32(1, _us(p, "target_ms")) + u32(2, p["limit"]) + u32(3, _us(p, "interval_ms"))
    options += u32(4, p["ecn"]) + u32(5, p["flows"]) + u32(6, p["quantum"]) + _threshold(7, p)
    return Qdisc("fq_codel", options + u32(9, p["memory_limit_bytes"]))


def _pie(p: Params) -> Qdisc:
    options = u32(1, _us(p, "target_ms")) + u32(2, p["limit"]) + u32(3, _us(p, "tupdate_ms"))
    return Qdisc(
        "pie", options + u32(4, p["alpha"]) + u32(5, p["beta"]) + u32(6, p["ecn"]) + u32(7, p["bytemode"])
    )


def _fq_pie(p: Params) -> Qdisc:
    options = (
        u32(1, p["limit"]) + u32(2, p["flows"]) + u32(3, _us(p, "target_ms")) + u32(4, _us(p, "tupdate_ms"))
    )
    options += u32(5, p["alpha"]) + u32(6, p["beta"]) + u32(7, p["quantum"]) + u32(8, p["memory_limit_bytes"])
    return Qdisc(
        "fq_pie", options + u32(9, p["ecn_prob_percent"]) + u32(10, p["ecn"]) + u32(11, p["bytemode"])
    )


_ECT1_MASK, _ANY_ECT_MASK = 1, 3
_DUALPI2_SCALE = 256


def _dualpi2(p: Params) -> Qdisc:
    options = u32(1, p["limit"]) + u32(3, _us(p, "target_ms")) + u32(4, _us(p, "tupdate_ms"))
    options += u32(5, round(p["alpha"] * _DUALPI2_SCALE)) + u32(6, round(p["beta"] * _DUALPI2_SCALE))
    options += u32(8, _us(p, "step_thresh_ms")) + u8(10, round(p["coupling_factor"]))
    options += u8(11, p["drop_on_overload"]) + u8(13, p["classic_protection_percent"])
    return Qdisc("dualpi2", options + u8(14, _ANY_ECT_MASK if p["any_ect"] else _ECT1_MASK))


_DIFFSERV = ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")
_ISOLATION = (
    "flowblind",
    "srchost",
    "dsthost",
    "hosts",
    "flows",
    "dual-srchost",
    "dual-dsthost",
    "triple-isolate",
)
_FRAMING = ("noatm", "atm", "ptm")
_ACK_FILTER = ("no-ack-filter", "ack-filter", "ack-filter-aggressive")


def _cake(p: Params) -> Qdisc:
    options = u64(2, int(p["bandwidth_bps"] or 0) // BITS)
    options += u32(3, _DIFFSERV.index(p["diffserv"])) + u32(4, _FRAMING.index(p["framing"]))
    options += u32(5, _ISOLATION.index(p["isolation"])) + u32(14, p["mpu"])
    options += u32(7, _us(p, "rtt_ms")) + u32(8, max(1, _us(p, "rtt_ms") // 20))
    options += b"" if p["overhead"] is None else attribute(6, struct.pack("<i", p["overhead"]))
    options += b"" if p["memlimit_bytes"] is None else u32(10, p["memlimit_bytes"])
    options += u32(13, p["wash"]) + u32(15, p["ingress"]) + u32(16, _ACK_FILTER.index(p["ack_filter"]))
    return Qdisc("cake", options)


MAKERS: Mapping[str, Callable[[Params], Qdisc]] = {
    "tbf": _tbf,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "dualpi2": _dualpi2,
    "cake": _cake,
}
"""Queues other than drop-tail."""
