"""Algorithms and queues that ns-3 has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullpipe.engines.lacks import DROP_TAIL, with_ignored
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.link.queues import Discipline, DropTail

# Congestion control algorithms of ns-3 that correspond to Fullpipe's, with the parameters that ns-3 supports.


Value = Callable[[Any], str]
"""Function that converts a value of Fullpipe to the text of an ns-3 attribute."""


def _number(value: Any) -> str:
    return f"{float(value):.17g}"


def _count(value: Any) -> str:
    return str(int(value))


def _switch(value: Any) -> str:
    return "true" if value else "false"


def _ms(value: Any) -> str:
    return f"{round(float(value) * 1e6)}ns"


def _power(value: Any) -> str:
    return _number(0.5 ** int(value))


@dataclass(frozen=True)
class Counterpart:
    """A congestion control algorithm of ns-3: its type, and its attributes for Fullpipe's parameters."""

    type: str
    attributes: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Fullpipe's parameters for which ns-3 has a fixed value."""

    def knows(self, key: str, value: Any) -> bool:
        """Whether ns-3 supports one of Fullpipe's parameters with this value."""
        return key in self.attributes or (key in self.fixed and self.fixed[key] == value)


COUNTERPARTS: Mapping[str, Counterpart] = {
    "reno": Counterpart("ns3::TcpNewReno"),
    "cubic": Counterpart(
        "ns3::TcpCubic",
        {"beta": ("Beta", _number), "c": ("C", _number), "fast_convergence": ("FastConvergence", _switch)},
        fixed={"hystart": "ns3"},
    ),
    "bic": Counterpart(
        "ns3::TcpBic",
        {
            "beta": ("Beta", _number),
            "max_increment": ("MaxIncr", _count),
            "low_window": ("LowWnd", _count),
            "fast_convergence": ("FastConvergence", _switch),
        },
    ),
    "highspeed": Counterpart("ns3::TcpHighSpeed"),
    "htcp": Counterpart("ns3::TcpHtcp"),
    "hybla": Counterpart("ns3::TcpHybla"),
    "illinois": Counterpart(
        "ns3::TcpIllinois", {"win_thresh": ("WinThresh", _count), "theta": ("Theta", _count)}
    ),
    "scalable": Counterpart(
        "ns3::TcpScalable", {"per_increment": ("AIFactor", _count), "decrease_shift": ("MDFactor", _power)}
    ),
    "westwood": Counterpart("ns3::TcpWestwoodPlus"),
    "vegas": Counterpart(
        "ns3::TcpVegas", {"alpha": ("Alpha", _count), "beta": ("Beta", _count), "gamma": ("Gamma", _count)}
    ),
    "veno": Counterpart("ns3::TcpVeno", {"beta": ("Beta", _count)}),
    "yeah": Counterpart(
        "ns3::TcpYeah",
        {
            "alpha": ("Alpha", _count),
            "phy": ("Phy", _count),
            "rho": ("Rho", _count),
            "zeta": ("Zeta", _count),
            "delta": ("Delta", _count),
        },
    ),
    "lp": Counterpart("ns3::TcpLp"),
    "ledbat": Counterpart(
        "ns3::TcpLedbat",
        {
            "target_ms": ("TargetDelay", _ms),
            "gain": ("Gain", _number),
            "base_history": ("BaseHistoryLen", _count),
            "current_filter": ("NoiseFilterLen", _count),
            "slow_start": ("SSParam", lambda value: "yes" if value else "no"),
        },
    ),
    "bbr1": Counterpart(
        "ns3::TcpBbr",
        {
            "startup_gain": ("HighGain", _number),
            "bw_window_rounds": ("BwWindowLength", _count),
            "min_rtt_window_s": ("RttWindowLength", lambda value: _ms(1e3 * value)),
            "probe_rtt_ms": ("ProbeRttDuration", _ms),
        },
        fixed={"policer": False},
    ),
    "dctcp": Counterpart(
        "ns3::TcpDctcp",
        {
            "shift_g": ("DctcpShiftG", _power),
            "alpha_on_init": ("DctcpAlphaOnInit", lambda value: _number(value / 1024)),
        },
    ),
}
"""ns-3's congestion control algorithms by Fullpipe's names."""


def counterpart(kind: str, ours: bool) -> Counterpart | None:
    """Return ns-3's congestion control algorithm for a name, or None if Fullpipe's implementation is used."""
    return None if ours else COUNTERPARTS.get(kind)


def attributes(chosen: Counterpart, params: Mapping[str, Any]) -> dict[str, str]:
    """Convert Fullpipe's parameters to attributes of ns-3. Unsupported parameters are omitted."""
    known = ((chosen.attributes[key], value) for key, value in params.items() if key in chosen.attributes)
    return {name: write(value) for (name, write), value in known}


# Queue disciplines of ns-3 that correspond to Fullpipe's, with equivalent parameters.


_NO_LIMIT = "4294967295p"
_MAX_BYTES = 2**32 - 1
Params = Mapping[str, Any]


@dataclass(frozen=True)
class Ns3Queue:
    """A queue discipline of ns-3 with its attributes. `quantum` is 0 except for fair queues."""

    type: str
    attributes: Mapping[str, str]
    quantum: int = 0


class NoCounterpartError(ValueError):
    """Error if ns-3 has no equivalent of a queue discipline or of one of its parameters."""


def ns3_queue(queue: DropTail | Discipline | None) -> Ns3Queue:
    """Return ns-3's equivalent of a queue. The limits of the returned queue exclude the packet in
    transmission.

    Raises:
        NoCounterpartError: If ns-3 has no such queue, or a parameter has no equivalent.
    """
    if queue is None:
        return Ns3Queue("ns3::FifoQueueDisc", {"MaxSize": _NO_LIMIT})
    if isinstance(queue, DropTail):
        for key in sorted(queue.model_fields_set - DROP_TAIL):
            raise NoCounterpartError(f"ns-3's drop_tail has no {key}; leave it out")
        return Ns3Queue("ns3::FifoQueueDisc", {"MaxSize": _limit(queue.packets, queue.limit_bytes)})
    if queue.kind not in MAKERS:
        raise NoCounterpartError(f"ns-3 has no {queue.kind}; it has {', '.join(sorted(QUEUES))}")
    defaults = {key: param.default for key, param in catalogue.queue(queue.kind).params.items()}
    made, ignored = with_ignored(MAKERS[queue.kind], {**defaults, **queue.params}, defaults)
    if ignored:
        raise NoCounterpartError(f"ns-3's {queue.kind} has no {ignored[0]}; leave it out")
    return made


def _limit(packets: int | None, size: int | None) -> str:
    if packets is not None and size is not None:
        raise NoCounterpartError(
            "a queue in ns-3 has a limit in packets or in bytes; leave out one of the two"
        )
    if size is not None:
        if size > _MAX_BYTES:
            raise NoCounterpartError("a limit in ns-3 is at most 4 GiB; give a limit in packets instead")
        return f"{size}B"
    return _NO_LIMIT if packets is None or packets > _MAX_BYTES else f"{packets}p"


def _codel_law(params: Params) -> dict[str, str]:
    law = {
        "Target": _ms(params["target_ms"]),
        "Interval": _ms(params["interval_ms"]),
        "UseEcn": _switch(params["ecn"]),
    }
    threshold = params.get("ce_threshold_ms")  # mac80211 has no such parameter
    return law if threshold is None else {**law, "CeThreshold": _ms(threshold)}


def _pie_law(params: Params) -> dict[str, str]:
    return {
        "QueueDelayReference": _ms(params["target_ms"]),
        "Tupdate": _ms(params["tupdate_ms"]),
        "A": f"{params['alpha'] / 16:.17g}",
        "B": f"{params['beta'] / 16:.17g}",
        "UseEcn": _switch(params["ecn"]),
    }


def _codel(params: Params) -> Ns3Queue:
    return Ns3Queue("ns3::CoDelQueueDisc", {"MaxSize": _limit(params["limit"], None), **_codel_law(params)})


def _fq_codel(params: Params) -> Ns3Queue:
    shape = {"MaxSize": _limit(params["limit"], None), "Flows": str(params["flows"])}
    return Ns3Queue("ns3::FqCoDelQueueDisc", {**shape, **_codel_law(params)}, params["quantum"])


def _mac80211(params: Params) -> Ns3Queue:
    """Return FQ-CoDel alone: ns-3 has neither airtime fairness nor a limit on queued airtime."""
    return _fq_codel(params)


def _pie(params: Params) -> Ns3Queue:
    return Ns3Queue("ns3::PieQueueDisc", {"MaxSize": _limit(params["limit"], None), **_pie_law(params)})


def _fq_pie(params: Params) -> Ns3Queue:
    shape = {"MaxSize": _limit(params["limit"], None), "Flows": str(params["flows"])}
    marks = {"MarkEcnThreshold": f"{params['ecn_prob_percent'] / 100:.17g}"}
    return Ns3Queue("ns3::FqPieQueueDisc", {**shape, **_pie_law(params), **marks}, params["quantum"])


def _red(params: Params) -> Ns3Queue:
    """Return RED. Missing thresholds and the weight are derived as in the native engine."""
    packet = params["avpkt"]
    most = max(params["max"] or params["limit"] // 4, 2)
    least = min(max(params["min"] or most // 3, 1), most - 1)
    burst = max(params["burst"] or (2 * least + most) // (3 * packet), 1)
    return Ns3Queue(
        "ns3::RedQueueDisc",
        {
            "MaxSize": _limit(None, params["limit"]),
            "MinTh": str(least),
            "MaxTh": str(most),
            "QW": f"{red_weight(least, burst, packet):.17g}",
            "LInterm": f"{1 / params['probability']:.17g}" if params["probability"] else "1e12",
            "MeanPktSize": str(packet),
            "LinkBandwidth": f"{round(params['bandwidth_mbps'] * 1e6)}bps",
            "LinkDelay": "0ns",
            "Gentle": "false",
            "Wait": "true",
            "UseEcn": _switch(params["ecn"]),
            "UseHardDrop": _switch(params["harddrop"]),
            "AdaptMaxP": _switch(params["adaptive"]),
        },
    )


def red_weight(least: int, burst: int, packet: int) -> float:
    """Return the largest weight (a power of 1/2) with which the average queue length stays below `least`
    bytes while `burst` packets arrive at an empty queue."""
    needed = burst + 1 - least / packet
    weights = (0.5**shift for shift in range(1, 32))
    return next((w for w in weights if (1 - (1 - w) ** burst) / w >= needed), 0.5**31)


def _tbf(params: Params) -> Ns3Queue:
    shape = {
        "MaxSize": _limit(params["packets"], params["limit_bytes"]),
        "Rate": f"{int(params['rate_bps'])}bps",
        "Burst": str(int(params["burst_bytes"])),
    }
    peak_bps, mtu_bytes = params["peak_bps"], params["mtu_bytes"]
    if peak_bps is not None:
        shape |= {"PeakRate": f"{int(peak_bps)}bps", "Mtu": str(int(mtu_bytes))}
    return Ns3Queue("ns3::TbfQueueDisc", shape)


MAKERS: Mapping[str, Callable[[Params], Ns3Queue]] = {
    "tbf": _tbf,
    "red": _red,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "mac80211": _mac80211,
    "pie": _pie,
    "fq_pie": _fq_pie,
}
"""Functions that make ns-3's queues, by Fullpipe's names. `ns3_queue` makes drop_tail itself. `ns3_queue`
refuses a parameter that the queue's function does not read, because ns-3 lacks it."""
QUEUES = frozenset({"drop_tail", *MAKERS})
