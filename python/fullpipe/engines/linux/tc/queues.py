"""Converts a scenario's queues to queue disciplines of Linux with all their options."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

from fullpipe.engines.linux.tc.attributes import attribute, u8, u32, u64
from fullpipe.engines.linux.tc.qdisc import MOST_U32, Qdisc
from fullpipe.engines.linux.tc.red import red
from fullpipe.engines.linux.tc.service import fifo, tbf
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.quantities import BITS

Params = Mapping[str, Any]

_US_PER_MS = 1_000
_NEVER_US = 1_000_000_000
"""Longer than any packet waits, and short enough for CoDel's 32-bit clock."""


def qdisc_for(queue: DropTail | Discipline) -> Qdisc:
    """Return the queue discipline of a queue, without the rate of its link."""
    if isinstance(queue, DropTail):
        return fifo(queue.packets, queue.limit_bytes)
    return MAKERS[queue.kind](all_params(queue.kind, queue.params))


def all_params(kind: str, given: Params) -> Params:
    """Return all parameters of a queue, with defaults for those that are not given."""
    known = catalogue.queue(kind).params
    return {key: param.default for key, param in known.items()} | dict(given)


def _us(params: Params, key: str) -> int:
    return round(float(params[key]) * _US_PER_MS)


def _tbf(p: Params) -> Qdisc:
    peak = None if p["peak_bps"] is None else (int(p["peak_bps"]), int(p["mtu_bytes"]))
    return tbf(int(p["rate_bps"]), int(p["burst_bytes"]), peak=peak)


def _police(p: Params) -> Qdisc:
    """Return the queue behind a policer. The policer itself is a filter."""
    return fifo(p["packets"], None)


def _step(p: Params) -> Qdisc:
    """Return a CoDel that never enters its dropping state, so that only its threshold has an effect."""
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
"""Functions that make the queue disciplines of all queues except drop-tail."""
