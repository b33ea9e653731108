"""What theory expects of the bulk flows of a scenario, from its links and delays alone; nothing is run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isclose
from typing import Literal

from fullpipe.analysis.metrics.connections import is_bulk
from fullpipe.analysis.metrics.paths import base_rtts_s, narrowest, rate_varies
from fullpipe.analysis.theory import bbr_share, max_min
from fullpipe.scenario import Network, RoutedFlow, catalogue
from fullpipe.scenario.model.link.changes import states_of
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.network.parts import Hop, Port
from fullpipe.scenario.quantities import BITS, NANOSECONDS

_FILLS_THE_BUFFER = frozenset({"cubic", "reno"})
"""Algorithms that the model of `bbr_share` is about, beside BBRv1."""
Unknown = Literal["", "cell", "rate", "routes", "relay", "traffic"]
"""Why a fair share is unknown: a cell's rate depends on air time, signal and load; the rate of a link
varies; routes change; a host relays connections; other traffic takes an unknown part. "": it is known."""


@dataclass(frozen=True)
class Expected:
    """Theory of a link that holds bulk flows back; None where the links do not determine a value."""

    link: str
    rate_bps: int
    """Most that it carries, with all headers: of a cell while no other port sends, of a trace its mean,
    of a link that changes at the beginning."""
    flows: int
    """Bulk flows that it holds back."""
    unknown: Unknown
    """Why there is no fair share; "": there is one."""
    rtt_s: float | None
    """The longest of their round trips while no packet waits, without serialisation."""
    bdp_bytes: float | None
    """Bandwidth-delay product, by the longest round trip."""
    bdp_packets: float | None
    """The same in packets of the largest size."""
    datagrams_bps: float
    """What calls, pings, probes and UDP send over it in any case, replies too, with all headers."""
    fair_share_bps: float | None
    """Max-min fair payload per bulk flow of what datagrams leave, without retransmissions and ACKs."""
    window_packets: float | None
    """Value of each flow at its fair share, if no packet waits; None if round trips or packets differ."""
    buffer_packets: float | None
    """Most that may wait; None if the queue does not drop what exceeds one limit in packets or bytes."""
    full_window_packets: float | None
    """Of each flow, when path and buffer are full: the next packet is dropped."""
    full_wait_s: float | None
    """Of a packet behind a full buffer."""
    target_wait_s: float | None
    """The wait that the queue discipline aims at, if it has one."""
    bbr1_share: float | None
    """Of BBRv1's flows together, against CUBIC's or Reno's: see `fullpipe.analysis.theory.bbr_share`."""


def expected(network: Network) -> list[Expected]:
    """What theory expects on a network, a row per link that holds bulk flows back.

    Flows are taken as starting together. What is unknown of a flow is unknown of all flows that share a link
    with it: they would get what it leaves.
    """
    return _Paths(network).expected()


def buffer_packets(hop: Hop, packet_bytes: int) -> float | None:
    """Packets of a size that may wait at a queue that drops at its tail; None if it is another queue, has no
    limit or several ones, or has a device below it."""
    if not isinstance(hop.queue, DropTail) or _limit_varies(hop):
        return None
    if hop.queue.packets is not None:
        return float(hop.queue.packets)
    return None if hop.queue.limit_bytes is None else hop.queue.limit_bytes / packet_bytes


def datagrams_per_s(network: Network) -> float:
    """How many all flows of datagrams send, in the mean, with replies."""
    flows = filter(None, (routed.flow.datagrams for routed in network.flows))
    return sum((1 + of.echo) * of.active * NANOSECONDS / of.interval_ns for of in flows)


def narrow_hops(network: Network) -> list[Hop]:
    """The narrowest link or port on the path of each flow, each once, in the order of the flows."""
    limits_bps = [hop.limit_bps for hop in network.hops]
    found = dict.fromkeys(narrowest(routed, limits_bps) for routed in network.flows)
    return [network.hops[hop] for hop in found if hop is not None]


def capacity_bps(network: Network, flows: Collection[str]) -> float | None:
    """The most that flows can deliver together, bit/s with all headers: the rates of their narrowest links.

    Every narrowest link counts once, however many of the flows cross it.

    Returns:
        None if a flow takes several routes, or its narrowest link or port has no single limit.
    """
    limits_bps = [hop.limit_bps for hop in network.hops]
    crossed: dict[int, int] = {}
    for routed in network.flows:
        if routed.name not in flows:
            continue
        hop = None if routed.later else narrowest(routed, limits_bps)
        limit_bps = None if hop is None or _limit_moves(network.hops[hop]) else limits_bps[hop]
        if hop is None or limit_bps is None:
            return None
        crossed[hop] = limit_bps
    return float(sum(crossed.values())) if crossed else None


def _limit_moves(hop: Hop) -> bool:
    """Whether a link may carry more for a time than its limit, which is then that of a moment or a mean."""
    return not isinstance(hop, Port) and (rate_varies(hop) or hop.frames is not None)


class _Paths:
    """The paths of all flows over the hops of a network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._limits_bps = [hop.limit_bps for hop in network.hops]
        self._varies = [rate_varies(hop) for hop in network.hops]
        self._rtts_s = base_rtts_s(network)
        self._crossing: dict[int, list[int]] = {}
        """Connections by the hops with a rate that their data crosses."""
        for number, routed in enumerate(network.flows):
            for hop in self._rated(routed) if routed.flow.cca else ():
                self._crossing.setdefault(hop, []).append(number)
        self._datagrams_bps = self._all_datagrams_bps()
        self._unknown = self._all_unknown()

    def expected(self) -> list[Expected]:
        """See `expected`."""
        held: dict[int, list[int]] = {}
        shares_bps: dict[int, float] = {}
        unknown: dict[int, Unknown] = {}
        found = self._fair_shares()
        for number, routed in enumerate(self._network.flows):
            hop, share_bps = found.get(number, (narrowest(routed, self._limits_bps), None))
            if hop is None or not is_bulk(routed.flow):
                continue
            held.setdefault(hop, []).append(number)
            unknown[hop] = unknown.get(hop) or self._unknown[number]
            if share_bps is not None:
                shares_bps[hop] = share_bps
        return [
            self._row(hop, flows, unknown[hop], None if unknown[hop] else shares_bps[hop])
            for hop, flows in held.items()
        ]

    def _rated(self, routed: RoutedFlow) -> list[int]:
        """The hops with a rate that the data of a flow crosses, now or later, each once."""
        ways = [routed.forward, *(way.forward for way in routed.later if way.forward)]
        return [hop for hop in dict.fromkeys(chain(*ways)) if self._limits_bps[hop]]

    def _all_datagrams_bps(self) -> dict[int, float]:
        """The rate of all datagrams that cross each hop at the beginning, in the mean, on the wire."""
        found: dict[int, float] = defaultdict(float)
        for routed in self._network.flows:
            workload = routed.flow.datagrams
            if workload is None:
                continue
            size_bytes = workload.payload_bytes + workload.headers_bytes + routed.tcp.link_overhead_bytes
            rate_bps = size_bytes * BITS * NANOSECONDS / workload.interval_ns * workload.active
            for hop in (*routed.forward, *(routed.reverse if workload.echo else ())):
                found[hop] += rate_bps
        return found

    def _all_unknown(self) -> list[Unknown]:
        """Reason why the fair share of a flow is unknown, by flow."""
        flows, crossing = self._network.flows, dict(self._crossing)
        found = [self._own_unknown(number) for number in range(len(flows))]
        waiting = [number for number, why in enumerate(found) if why]
        while waiting:
            for hop in self._rated(flows[waiting.pop()]):
                beside = [other for other in crossing.pop(hop, ()) if not found[other]]
                waiting += beside
                for other in beside:
                    found[other] = "traffic"
        return found

    def _own_unknown(self, number: int) -> Unknown:
        """The same from its own path and application; "" of datagrams, whose rate is given."""
        flows = self._network.flows
        routed = flows[number]
        if routed.flow.cca is None:
            return ""
        if any(isinstance(self._network.hops[hop], Port) for hop in routed.forward):
            return "cell"
        if routed.later:
            return "routes"
        if any(self._varies[hop] for hop in routed.forward):
            return "rate"
        if any(each.relayed for each in flows[number : number + 2]):  # it, or what relays it
            return "relay"
        return "" if is_bulk(routed.flow) else "traffic"

    def _fair_shares(self) -> dict[int, tuple[int, float]]:
        """Link that holds a flow back, and its rate on the wire, by flow, where they are known."""
        routes = {
            number: route
            for number, routed in enumerate(self._network.flows)
            if routed.flow.cca and not self._unknown[number] and (route := self._rated(routed))
        }
        crossed = {hop for route in routes.values() for hop in route}
        left_bps = {hop: (self._limits_bps[hop] or 0) - self._datagrams_bps[hop] for hop in crossed}
        fair = max_min({hop: max(0.0, bps) for hop, bps in left_bps.items()}, [*routes.values()])
        return dict(zip(routes, fair, strict=True))

    def _row(self, number: int, held: list[int], unknown: Unknown, share_bps: float | None) -> Expected:
        """Return the theory of a hop and of the flows that it holds back."""
        flows = [self._network.flows[flow] for flow in held]
        hop, rate_bps = self._network.hops[number], self._limits_bps[number] or 0
        is_steady = not self._varies[number]
        packet_bytes = max(routed.tcp.segment_bytes for routed in flows)
        payloads = [routed.tcp.mss_bytes / routed.tcp.segment_bytes for routed in flows]
        rtts_s = [self._rtts_s[flow] for flow in held]
        rtt_s = None if None in rtts_s else max(rtt for rtt in rtts_s if rtt is not None)
        bdp_bytes = rate_bps * rtt_s / BITS if is_steady and rtt_s is not None else None
        bdp_packets = None if bdp_bytes is None else bdp_bytes / packet_bytes
        queued = buffer_packets(hop, packet_bytes)
        are_alike = common(rtts_s) is not None and len({routed.tcp.segment_bytes for routed in flows}) == 1
        part = None if share_bps is None or not are_alike else share_bps / rate_bps
        window = None if bdp_packets is None or part is None else bdp_packets * part
        are_all = len(self._crossing[number]) == len(flows)
        full = None if window is None or queued is None or not are_all else window + queued * (part or 0)
        return Expected(
            link=hop.name,
            rate_bps=rate_bps,
            flows=len(flows),
            unknown=unknown,
            rtt_s=rtt_s,
            bdp_bytes=bdp_bytes,
            bdp_packets=bdp_packets,
            datagrams_bps=self._datagrams_bps[number],
            fair_share_bps=None if share_bps is None or common(payloads) is None else share_bps * payloads[0],
            window_packets=window,
            buffer_packets=queued,
            full_window_packets=full,
            full_wait_s=queued * packet_bytes * BITS / rate_bps if queued is not None and is_steady else None,
            target_wait_s=_target_s(hop),
            bbr1_share=None if full is None else _bbr1_share(flows, queued, rate_bps, rtt_s, packet_bytes),
        )


def common(values: Sequence[float | None]) -> float | None:
    """The value that all have; None if there is none, or one is unknown."""
    first = values[0] if values else None
    if first is None or any(value is None or not isclose(value, first) for value in values):
        return None
    return first


def _limit_varies(hop: Hop) -> bool:
    """Whether the limit of a queue changes, or a device below it holds packets, too."""
    if isinstance(hop, Port):
        return False
    states = [state for shape in hop.shapes for _, state in states_of(shape)]
    is_changed = any("limit" in values for _, values in hop.steps)
    is_shaped = any(state.packets is not None or state.limit_bytes is not None for state in states)
    return hop.device_packets is not None or is_changed or is_shaped


def _target_s(hop: Hop) -> float | None:
    if hop.queue is None or isinstance(hop.queue, DropTail):
        return None
    target = catalogue.queue(hop.queue.kind).params.get("target_ms")
    return None if target is None else float(hop.queue.params.get("target_ms", target.default)) / 1e3


def _bbr1_share(
    flows: list[RoutedFlow], queued: float | None, rate_bps: int, rtt_s: float | None, packet_bytes: int
) -> float | None:
    kinds = [routed.flow.cca.kind for routed in flows if routed.flow.cca]
    bbr = kinds.count("bbr1")
    others = set(kinds) - {"bbr1"}
    if not (bbr and others and others <= _FILLS_THE_BUFFER and queued and rtt_s):
        return None
    bdp_packets = rate_bps * rtt_s / BITS / packet_bytes
    return bbr_share(queued / bdp_packets, rate_bps, rtt_s, flows=bbr, packet_bytes=packet_bytes)
