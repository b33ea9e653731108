"""Options of each queue discipline in `tc`, and the parameters of queues that they set.

Sources: manual pages of tc, and iproute2 tc/q_*.c, where 0 means the default for many options.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fullpipe.scenario.quantities import BITS, SIZE
from fullpipe.scenario.tc.units import (
    burst,
    decimal,
    microseconds,
    milliseconds,
    number,
    or_default,
    packets,
    packets_as_size,
    percent,
    rate,
    size,
    whole,
)

Table = dict[str, Any]
_US_PER_S = 10**6
TX_QUEUE_PACKETS = 1000
"""Linux's default queue length of an interface, and default limit of pfifo and bfifo."""
FULL_PACKET_BYTES = 1514


def _as_it_is(found: Table) -> Table:
    return found


@dataclass(frozen=True)
class Qdisc:
    """The mapping from words of `tc` to parameters of a queue."""

    queue: str
    """Name of the queue in a scenario."""
    options: Mapping[str, tuple[str, Callable[[str], Any]]] = field(default_factory=dict)
    """Words with a value: the parameter and the parser of the value."""
    flags: Mapping[str, Table] = field(default_factory=dict)
    """Words without a value, each with the parameters that the word sets; no parameters if the queue always
    behaves in this way."""
    not_modelled: Mapping[str, str] = field(default_factory=dict)
    """Words without a counterpart, each with advice on what to do instead."""
    usual: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words and values that are ignored, as they say what the queue does anyway, such as defaults that
    `tc qdisc show` prints."""
    needed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options that `tc` requires, each with parameters of which at least one must be set."""
    defaults: Table = field(default_factory=dict)
    finish: Callable[[Table], Table] = _as_it_is
    """Function that computes parameters that depend on several options."""
    note: str = ""
    """Note on a feature without a counterpart. Empty: none."""


_LEAVE_OUT = "leave it out"
_PACING = 'a queue has no access to sockets; for pacing, write tcp.pacing = "fq"'
_BANDS = {"bands": ("3",), "priomap": ("1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",)}
"""Default bands of pfifo_fast and fq (Linux `prio2band`, `fq_prio2band`)."""
_ECN: dict[str, Table] = {"ecn": {"ecn": True}, "noecn": {"ecn": False}}
_BYTEMODE: dict[str, Table] = {"bytemode": {"bytemode": True}, "nobytemode": {"bytemode": False}}
_ADAPTIVE: dict[str, Table] = {word: {"adaptive": True} for word in ("adaptive", "adaptative")}
_SOJOURN: dict[str, Table] = {"no_dq_rate_estimator": {}}
_ESTIMATOR = {"dq_rate_estimator": "the delay is measured packet by packet"}
_LINK = dict.fromkeys(("mpu", "overhead", "linklayer"), "tcp.link_overhead is counted for every packet")
_CODEL = {
    "limit": ("limit", or_default(packets)),
    "target": ("target_ms", or_default(milliseconds)),
    "interval": ("interval_ms", or_default(milliseconds)),
    "ce_threshold": ("ce_threshold_ms", milliseconds),
}
_PIE = {
    "limit": ("limit", or_default(packets)),
    "target": ("target_ms", or_default(milliseconds)),
    "tupdate": ("tupdate_ms", or_default(milliseconds)),
    "alpha": ("alpha", or_default(whole)),
    "beta": ("beta", or_default(whole)),
}
_FAIR = {
    "flows": ("flows", or_default(whole)),
    "quantum": ("quantum", or_default(size)),
    "memory_limit": ("memory_limit_bytes", size),
}
_BUCKET = {
    "rate": ("rate_bps", rate),
    "burst": ("burst_bytes", burst),
    "buffer": ("burst_bytes", burst),
    "maxburst": ("burst_bytes", burst),
}
_BUCKET_NEEDS = {"rate": ("rate_bps",), "burst": ("burst_bytes",)}


def _tbf(found: Table) -> Table:
    """Convert a latency to a limit: limit = burst + (bytes that the rate sends in the latency)."""
    if "peak_bps" in found and "mtu_bytes" not in found:
        raise ValueError("peakrate needs mtu (minburst), too")
    latency_us = found.pop("latency_us", None)
    if latency_us is None:
        return found
    if "limit_bytes" in found:
        raise ValueError("give one of limit and latency")
    buckets = [(found["rate_bps"], found["burst_bytes"])]
    if "peak_bps" in found:
        buckets.append((found["peak_bps"], found["mtu_bytes"]))
    limit = min(bps * latency_us // BITS // _US_PER_S + burst_bytes for bps, burst_bytes in buckets)
    return {**found, "limit_bytes": limit}


def _bfifo(found: Table) -> Table:
    return {"bytes": SIZE.format(found["bytes"])}


def _bandwidth(text: str) -> int | None:
    """Parse a rate. "unlimited", as in `tc qdisc show`, and 0 give None (`cake_parse_opt`)."""
    return None if text == "unlimited" else rate(text) or None


def _cake(found: Table) -> Table:
    if found.pop("raw", False) and found.pop("overhead", 0):
        raise ValueError("raw together with another overhead is not modelled; give the sum as overhead")
    return found


_RTT_MS = {
    "datacentre": 0.1,
    "lan": 1.0,
    "metro": 10.0,
    "regional": 30.0,
    "internet": 100.0,
    "oceanic": 300.0,
    "satellite": 1000.0,
    "interplanetary": 3_600_000.0,
}
_ATM_OVERHEADS = {
    "conservative": 48,
    "ipoa-vcmux": 8,
    "ipoa-llcsnap": 16,
    "bridged-vcmux": 24,
    "bridged-llcsnap": 32,
    "pppoa-vcmux": 10,
    "pppoa-llc": 14,
    "pppoe-vcmux": 32,
    "pppoe-llcsnap": 40,
}
_CAKE_FLAGS: dict[str, Table] = {
    "unlimited": {"bandwidth_bps": None},
    **{word: {"rtt_ms": rtt_ms} for word, rtt_ms in _RTT_MS.items()},
    **{
        word: {"diffserv": word}
        for word in ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")
    },
    "diffserv": {"diffserv": "diffserv4"},
    **{word: {"isolation": word} for word in ("flowblind", "srchost", "dsthost", "hosts", "flows")},
    **{word: {"isolation": word} for word in ("dual-srchost", "dual-dsthost", "triple-isolate")},
    **{word: {"ack_filter": word} for word in ("ack-filter", "ack-filter-aggressive", "no-ack-filter")},
    **{word: {"framing": word} for word in ("noatm", "atm", "ptm")},
    **{word: {"overhead": overhead, "framing": "atm"} for word, overhead in _ATM_OVERHEADS.items()},
    "raw": {"raw": True, "overhead": None, "mpu": None, "framing": None},
    "pppoe-ptm": {"overhead": 30, "framing": "ptm"},
    "bridged-ptm": {"overhead": 22, "framing": "ptm"},
    "docsis": {"overhead": 18, "mpu": 64, "framing": "noatm"},
    "ethernet": {"overhead": 38, "mpu": 84, "framing": "noatm"},
    "ether-vlan": {"overhead": 4},
    "wash": {"wash": True},
    "nowash": {"wash": False},
    "ingress": {"ingress": True},
    "egress": {"ingress": False},
    **{word: {} for word in ("nat", "nonat", "split-gso", "via-ethernet")},
}

ELSEWHERE = {
    "netem": "in a scenario, delay, jitter and loss are keys of the link",
    "htb": "its classes have the rate, as tc class show prints; give all lines in a file",
    "mq": "it has a child queue for each processor; write one of these queues",
    "noqueue": "for a link without a queue, leave out the queue",
    "sfq": "write fq with the same limit; when full, fq drops arrivals, sfq packets of the longest flow",
    "prio": "filters are not modelled, so packets have no bands; write the queue of one band",
    **dict.fromkeys(
        ("hfsc", "drr", "qfq", "ets", "cbq"),
        "filters are not modelled, so packets have no classes; write the queue of one class",
    ),
}
"""Queue disciplines of Linux without a counterpart, each with advice on what to write instead."""

QDISCS: dict[str, Qdisc] = {
    "pfifo": Qdisc(
        "drop_tail", {"limit": ("packets", packets_as_size)}, defaults={"packets": TX_QUEUE_PACKETS}
    ),
    "pfifo_fast": Qdisc(
        "drop_tail",
        defaults={"packets": TX_QUEUE_PACKETS},
        usual=_BANDS,
        note="pfifo_fast: one queue, like the band of unmarked packets, replaces its three bands",
    ),
    "bfifo": Qdisc(
        "drop_tail",
        {"limit": ("bytes", size)},
        defaults={"bytes": TX_QUEUE_PACKETS * FULL_PACKET_BYTES},
        finish=_bfifo,
    ),
    "tbf": Qdisc(
        "tbf",
        {
            **_BUCKET,
            "limit": ("limit_bytes", size),
            "latency": ("latency_us", or_default(microseconds)),
            "lat": ("latency_us", or_default(microseconds)),
            "peakrate": ("peak_bps", rate),
            "mtu": ("mtu_bytes", burst),
            "minburst": ("mtu_bytes", burst),
        },
        not_modelled=_LINK,
        needed={**_BUCKET_NEEDS, "limit or latency": ("limit_bytes", "latency_us")},
        finish=_tbf,
    ),
    "police": Qdisc(
        "police",
        _BUCKET,
        {"drop": {}},
        not_modelled={
            **_LINK,
            **dict.fromkeys(("mtu", "peakrate", "avrate"), _LEAVE_OUT),
            **dict.fromkeys(
                ("pass", "ok", "pipe", "continue", "reclassify", "conform-exceed"),
                "packets above the rate are always dropped",
            ),
        },
        usual={"conform-exceed": ("drop", *(f"drop/{word}" for word in ("ok", "pass", "pipe", "continue")))},
        needed=_BUCKET_NEEDS,
    ),
    "red": Qdisc(
        "red",
        {
            **{word: (word, size) for word in ("limit", "min", "max", "avpkt")},
            "burst": ("burst", whole),
            "probability": ("probability", number),
            "bandwidth": ("bandwidth_mbps", lambda text: rate(text) / 1e6),
        },
        {"ecn": {"ecn": True}, "harddrop": {"harddrop": True}, **_ADAPTIVE},
        not_modelled={"nodrop": _LEAVE_OUT, "qevent": _LEAVE_OUT},
        needed={"limit": ("limit",), "avpkt": ("avpkt",)},
    ),
    "codel": Qdisc("codel", _CODEL, _ECN),
    "fq": Qdisc(
        "fq",
        {
            "limit": ("limit", packets),
            "flow_limit": ("flow_limit", packets),
            "quantum": ("quantum", size),
            "initial_quantum": ("initial_quantum", size),
            "maxrate": ("maxrate_bps", rate),
            "low_rate_threshold": ("low_rate_threshold_bps", rate),
            "refill_delay": ("refill_delay_ms", milliseconds),
            "ce_threshold": ("ce_threshold_ms", milliseconds),
            "orphan_mask": ("orphan_mask", whole),
        },
        {"pacing": {}},
        not_modelled={
            "nopacing": "leave maxrate out",
            **dict.fromkeys(("horizon", "horizon_cap", "horizon_drop", "offload_horizon"), _PACING),
            **dict.fromkeys(("bands", "priomap", "weights"), "the defaults of the kernel are used"),
            **dict.fromkeys(("buckets", "timer_slack", "defrate"), _LEAVE_OUT),
        },
        usual={
            **_BANDS,
            "weights": ("589824 196608 65536",),
            "buckets": ("1024",),
            "timer_slack": ("10us",),
            "horizon": ("10s",),
            "horizon_drop": ("",),
        },
    ),
    "fq_codel": Qdisc(
        "fq_codel",
        {**_CODEL, **_FAIR},
        _ECN,
        not_modelled={
            "ce_threshold_selector": "ce_threshold is for all packets",
            "drop_batch": "it is always 64",
        },
        usual={"drop_batch": ("64",)},
    ),
    "pie": Qdisc("pie", _PIE, {**_ECN, **_BYTEMODE, **_SOJOURN}, not_modelled=_ESTIMATOR),
    "fq_pie": Qdisc(
        "fq_pie",
        {**_PIE, **_FAIR, "ecn_prob": ("ecn_prob_percent", or_default(percent))},
        {**_ECN, **_BYTEMODE, **_SOJOURN},
        not_modelled=_ESTIMATOR,
    ),
    "dualpi2": Qdisc(
        "dualpi2",
        {
            "limit": ("limit", or_default(packets)),
            "coupling_factor": ("coupling_factor", number),
            "step_thresh": ("step_thresh_ms", or_default(milliseconds)),
            "classic_protection": ("classic_protection_percent", percent),
            "target": ("target_ms", or_default(milliseconds)),
            "tupdate": ("tupdate_ms", or_default(milliseconds)),
            "alpha": ("alpha", number),
            "beta": ("beta", number),
        },
        {
            "drop_on_overload": {"drop_on_overload": True},
            "overflow": {"drop_on_overload": False},
            "l4s_ect": {"any_ect": False},
            "any_ect": {"any_ect": True},
            "drop_dequeue": {},
            "split_gso": {},
        },
        not_modelled={
            **dict.fromkeys(("max_rtt", "typical_rtt"), "give target, tupdate, alpha and beta"),
            "drop_enqueue": "packets are dropped as they leave",
            "no_split_gso": "packets are always single",
            **dict.fromkeys(("memlimit", "min_qlen_step"), _LEAVE_OUT),
        },
    ),
    "cake": Qdisc(
        "cake",
        {
            "bandwidth": ("bandwidth_bps", _bandwidth),
            "rtt": ("rtt_ms", or_default(milliseconds)),
            "overhead": ("overhead", decimal),
            "mpu": ("mpu", decimal),
            "memlimit": ("memlimit_bytes", or_default(size)),
        },
        _CAKE_FLAGS,
        not_modelled={
            **dict.fromkeys(("autorate-ingress", "autorate_ingress"), "give a bandwidth"),
            "no-split-gso": "packets are always single",
            "fwmark": "classes follow the dscp of flows",
        },
        finish=_cake,
    ),
}
QDISCS["cake_mq"] = replace(
    QDISCS["cake"], note="cake_mq: one queue replaces the queues of all processors, which share the rate"
)
