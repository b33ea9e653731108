"""Encodes qdiscs, classes and filters with their options as netlink messages of traffic control (tc)."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.quantities import BITS, NANOSECONDS

# Attributes of netlink messages: length, type and value, padded to a multiple of 4 B.


def attribute(kind: int, value: bytes) -> bytes:
    """Encode a netlink attribute with the type `kind`."""
    return struct.pack("<HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def u8(kind: int, value: int) -> bytes:
    """Encode an attribute with an unsigned 8-bit integer."""
    return attribute(kind, struct.pack("<B", value))


def u32(kind: int, value: int) -> bytes:
    """Encode an attribute with an unsigned 32-bit integer."""
    return attribute(kind, struct.pack("<I", value))


def u64(kind: int, value: int) -> bytes:
    """Encode an attribute with an unsigned 64-bit integer."""
    return attribute(kind, struct.pack("<Q", value))


def s64(kind: int, value: int) -> bytes:
    """Encode an attribute with a signed 64-bit integer."""
    return attribute(kind, struct.pack("<q", value))


# Qdiscs, classes and filters, with their options and their positions on a device.


_OPTIONS, _STAB, _NESTED = 2, 8, 0x8000
ETHERNET_BYTES = 14
MOST_U32 = 2**32 - 1
ROOT, OUTER, INNER = "ffffffff", "10000", "20000"
"""Hexadecimal handles of a device's root, of the qdisc at the root, and of a child of the root qdisc."""
INGRESS, ARRIVALS = "fffffff1", "ffff0000"
"""Hexadecimal handles of a device's ingress hook, and of the qdisc for incoming packets at this hook."""
CLASS, FILTER = "10001", "1"
"""Hexadecimal handles of the only class of the root qdisc, and of the only filter of a qdisc."""


@dataclass(frozen=True)
class Qdisc:
    """The kind and the options of a qdisc, class or filter. Qdiscs, classes and filters are encoded in the
    same way."""

    kind: str
    options: bytes = b""
    nested: bool = True
    """Whether the options are netlink attributes. If false, the options are a bare C structure."""

    def written(self, link_overhead_bytes: int = ETHERNET_BYTES) -> str:
        """Return the kind, and the attributes of the netlink message in hexadecimal.

        The qdisc counts `link_overhead_bytes` as part of every packet's size.
        """
        kind = _OPTIONS | (_NESTED if self.nested else 0)
        message = attribute(kind, self.options) if self.options else b""
        extra = link_overhead_bytes - ETHERNET_BYTES
        if extra:
            message += attribute(_STAB, attribute(1, struct.pack("<BBhiIIII", 0, 0, 0, extra, 1, 0, 0, 0)))
        return f"{self.kind} {message.hex()}".rstrip()


@dataclass(frozen=True)
class TcObject:
    """A qdisc, class or filter with its options, and its position on a device."""

    parent: str
    handle: str
    qdisc: Qdisc
    command: str = "qdisc"
    """Type of the object: "qdisc", "class" or "filter", as in commands of tc."""


@dataclass(frozen=True)
class QdiscTree:
    """All qdiscs, classes and filters on a device. Every object comes after its parent."""

    objects: tuple[TcObject, ...]
    queues: bool
    """Whether packets in the tree wait for the link. If false, the packets are propagating."""


def ratespec(rate_bps: int, cell_log: int = 0) -> bytes:
    """Encode a rate in bytes per second as the kernel's `tc_ratespec` for Ethernet."""
    return struct.pack("<BBHhHI", cell_log, 1, 0, 0, 0, min(rate_bps // BITS, MOST_U32))


def rate64(kind: int, rate_bps: int) -> bytes:
    """Encode an attribute with a rate in bytes per second. Empty if the rate fits into 32 bits of
    `tc_ratespec`."""
    return u64(kind, rate_bps // BITS) if rate_bps // BITS > MOST_U32 else b""


# Filters that match all packets (`matchall`), with an action that polices or counts the packets.


_PASS, _DROP = 0, 2
_DETERMINISTIC = 2
_TICK_NS = 64
_ANY_SIZE = 2**31 - 1
_RATE_TABLE_BYTES, _CELL_LOG = 1024, 3
"""Size in bytes and cell log of the rate table, which the kernel requires but no longer reads."""
MOST_EVERY = 2**16 - 1


def policer(p: Mapping[str, Any], class_id: int) -> Qdisc:
    """Return a filter that drops packets exceeding a token bucket and passes all other packets to a class."""
    rate_bps = int(p["rate_bps"])
    spec = ratespec(rate_bps, _CELL_LOG)
    parms = struct.pack("<IiIII", 0, _DROP, 0, burst_ticks(p), _ANY_SIZE)
    parms += spec + ratespec(0) + struct.pack("<iiI", 0, 0, 0)
    options = (
        attribute(1, parms) + attribute(2, bytes(_RATE_TABLE_BYTES)) + u32(5, _PASS) + rate64(8, rate_bps)
    )
    return _matchall("police", options, u32(1, class_id))


def burst_ticks(p: Mapping[str, Any]) -> int:
    """Return the time to fill the bucket of a policer, in ticks of the packet scheduler (64 ns)."""
    return round(int(p["burst_bytes"]) * BITS * NANOSECONDS / int(p["rate_bps"]) / _TICK_NS)


def holds(p: Mapping[str, Any]) -> bool:
    """Whether the time to fill a policer's bucket fits into the kernel's 32 bits."""
    return burst_ticks(p) <= MOST_U32


def every(count: int) -> Qdisc:
    """Return a filter that drops exactly every `count`-th packet."""
    parms = struct.pack("<IIiii", 0, 0, _PASS, 0, 0)
    now_and_then = struct.pack("<HHi", _DETERMINISTIC, count, _DROP)
    return _matchall("gact", attribute(2, parms) + attribute(3, now_and_then))


def _matchall(action: str, options: bytes, leads: bytes = b"") -> Qdisc:
    one = attribute(1, f"{action}\0".encode()) + attribute(2, options)
    return Qdisc("matchall", leads + attribute(2, attribute(1, one)))


# Qdiscs that serve a link (htb), limit the rate (tbf), and store packets (pfifo, bfifo, and fq at a host).


_PLENTY_BYTES = 2**30
_PLENTY_PACKETS = 2**30
_HTB_VERSION, _HTB_R2Q = 3, 10


def htb() -> Qdisc:
    """Return the root qdisc htb of a link, which contains the class of the link (`htb_class`)."""
    return Qdisc("htb", attribute(2, struct.pack("<IIIII", _HTB_VERSION, _HTB_R2Q, 1, 0, 0)))


def htb_class(rate_bps: int, frame_bytes: int, priority: int = 0) -> Qdisc:
    """Return the htb class that serves a link's queue at a rate. Classes with lower `priority` come first.

    The class has no burst, so a packet leaves the queue when the previous packet has been sent. A changed
    rate applies from the next packet on. A change of the rate does not add tokens.
    """
    parms = 2 * ratespec(rate_bps) + struct.pack("<IIIII", 1, 1, frame_bytes, 0, priority)
    return Qdisc("htb", attribute(1, parms) + rate64(6, rate_bps) + rate64(7, rate_bps))


def tbf(
    rate_bps: int, burst_bytes: int, limit_bytes: int = _PLENTY_BYTES, peak: tuple[int, int] | None = None
) -> Qdisc:
    """Return the token bucket filter tbf. `peak` is the peak rate in bit/s and the size of its bucket in
    bytes."""
    peak_bps, peak_bytes = peak or (0, 0)
    parms = (
        ratespec(rate_bps) + ratespec(peak_bps) + struct.pack("<III", limit_bytes, burst_bytes, peak_bytes)
    )
    options = attribute(1, parms) + u32(6, burst_bytes) + rate64(4, rate_bps)
    if peak:
        options += u32(7, peak_bytes) + rate64(5, peak_bps)
    return Qdisc("tbf", options)


def fifo(packets: int | None, limit_bytes: int | None) -> Qdisc:
    """Return a drop-tail queue: bfifo if the limit is in bytes, otherwise pfifo."""
    if limit_bytes is not None:
        return Qdisc("bfifo", struct.pack("<I", min(limit_bytes, MOST_U32)), nested=False)
    limit = _PLENTY_PACKETS if packets is None else packets
    return Qdisc("pfifo", struct.pack("<I", limit), nested=False)


def fq() -> Qdisc:
    """Return the qdisc fq with its default options, which paces the flows of a sending host."""
    return Qdisc("fq")


# RED: converts its parameters to the kernel's fixed-point numbers.


_ECN, _HARDDROP, _ADAPTIVE = 1, 2, 4
_MOST_SHIFT, _KERNEL_BITS = 31, 32
_RED_TABLE_BYTES = 256
_CERTAIN = MOST_U32


@dataclass(frozen=True)
class Thresholds:
    """Thresholds in bytes between which RED drops at random, and the weight 2 ** -shift of its average."""

    least: int
    most: int
    shift: int

    @property
    def fit(self) -> bool:
        """Whether the upper threshold, shifted left by `shift`, fits into the kernel's 32 bits."""
        return self.most.bit_length() + self.shift < _KERNEL_BITS


def thresholds(p: Mapping[str, Any]) -> Thresholds:
    """Return RED's thresholds. Missing thresholds get the same defaults as in the native engine and in
    `tc`."""
    most = max(2, int(p["max"] or (3 * p["min"] if p["min"] else p["limit"] // 4)))
    least = min(max(1, int(p["min"] or most // 3)), most - 1)
    burst = max(1, int(p["burst"] or (2 * least + most) // (3 * p["avpkt"])))
    return Thresholds(least, most, _shift(least, burst, p["avpkt"]))


def _shift(least: int, burst: int, packet: int) -> int:
    """Return the shift of the average: the smallest shift with which the average stays below the lower
    threshold during a burst of `burst` packets."""
    needed = burst + 1 - least / packet
    found = (s for s in range(1, _MOST_SHIFT + 1) if (1 - (1 - 0.5**s) ** burst) / 0.5**s >= needed)
    return next(found, _MOST_SHIFT)


def red(p: Mapping[str, Any]) -> Qdisc:
    """Return the qdisc RED. RED's table for idle times (TCA_RED_STAB) is all zeros and has no effect.

    RED is below an htb class, and htb does not dequeue from an empty qdisc, so RED never detects an idle
    time.
    """
    at = thresholds(p)
    flags = _ECN * p["ecn"] | _HARDDROP * p["harddrop"] | _ADAPTIVE * p["adaptive"]
    options = struct.pack("<IIIBBBB", p["limit"], at.least, at.most, at.shift, 0, 0, flags)
    most = max(1, round(p["probability"] * _CERTAIN))
    return Qdisc("red", attribute(1, options) + attribute(2, bytes(_RED_TABLE_BYTES)) + u32(3, most))


# Converts the queues of a scenario to qdiscs of Linux with all their options.


Params = Mapping[str, Any]

_US_PER_MS = 1_000
_NEVER_US = 1_000_000_000
"""A time in µs that exceeds every queueing delay and fits into CoDel's 32-bit clock."""


def qdisc_for(queue: DropTail | Discipline) -> Qdisc:
    """Return the qdisc for a queue of a scenario. The qdisc does not include the link rate."""
    if isinstance(queue, DropTail):
        return fifo(queue.packets, queue.limit_bytes)
    return MAKERS[queue.kind](all_params(queue.kind, queue.params))


def all_params(kind: str, given: Params) -> Params:
    """Return all parameters of a queue. Parameters that are not in `given` have their defaults."""
    return {**defaults_of(kind), **given}


def defaults_of(kind: str) -> dict[str, Any]:
    """Return the default of every parameter of a queue."""
    return {key: param.default for key, param in catalogue.queue(kind).params.items()}


def _us(params: Params, key: str) -> int:
    return round(float(params[key]) * _US_PER_MS)


def _tbf(p: Params) -> Qdisc:
    peak_bps, mtu_bytes = p["peak_bps"], int(p["mtu_bytes"])
    peak = None if peak_bps is None else (int(peak_bps), mtu_bytes)
    return tbf(int(p["rate_bps"]), int(p["burst_bytes"]), peak=peak)


def _police(p: Params) -> Qdisc:
    """Return the drop-tail queue after a policer. The policer itself is a filter (`policer`)."""
    return fifo(p["packets"], None)


def _step(p: Params) -> Qdisc:
    """Return a CoDel that never enters its dropping state, so that only its marking threshold has an
    effect."""
    options = u32(1, _NEVER_US) + u32(2, p["limit"]) + u32(3, _NEVER_US)
    return Qdisc("codel", options + u32(5, _us(p, "mark_ms")))


def _fq(p: Params) -> Qdisc:
    options = u32(1, p["limit"]) + u32(2, p["flow_limit"]) + u32(3, p["quantum"])
    options += u32(4, p["initial_quantum"]) + u32(9, _us(p, "refill_delay_ms")) + u32(10, p["orphan_mask"])
    if p["maxrate_bps"] is not None:
        options += u32(7, int(p["maxrate_bps"]) // BITS)
    options += u32(11, min(MOST_U32, int(p["low_rate_threshold_bps"]) // BITS)) + _threshold(12, p)
    return Qdisc("fq", options + u32(13, 0))


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
    "police": _police,
    "step": _step,
    "red": red,
    "codel": _codel,
    "fq": _fq,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "dualpi2": _dualpi2,
    "cake": _cake,
}
"""Functions that make a qdisc from the parameters of a queue, by the kind of queue. Drop-tail is not
included. The engine refuses a parameter that the queue's function does not read (`check.py`)."""
