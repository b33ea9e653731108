"""Predictions of theory: formulas of congestion control, and their values for a scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from math import cbrt, isclose, log2
from typing import Literal

from fullpipe.analysis.metrics.groups import is_bulk
from fullpipe.analysis.metrics.paths import base_rtts_s, narrowest, rate_varies
from fullpipe.scenario import Network, RoutedFlow, catalogue
from fullpipe.scenario.model.link.changes import states_of
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.network.parts import Hop, Port
from fullpipe.scenario.quantities import BITS, NANOSECONDS

# Theoretical shares and rates as functions of link rates, RTTs, buffers and routes.


def bbr_share(
    buffer_bdp: float, rate_bps: float, rtt_s: float, *, flows: int = 1, packet_bytes: int = 1514
) -> float:
    """Share of a link that BBRv1 flows get together beside flows that fill the buffer, such as CUBIC's.

    In the model every BBR flow is limited by its cap of two estimated bandwidth-delay products in flight. The
    other flows hold a share p of the buffer. In ProbeRTT, the queue contains p q packets of the other flows
    and four packets of each BBR flow. BBR flows then measure the RTT (p q + 4 N) / c + l, so that the cap of
    all BBR flows is 2 (1 - p) c ((p q + 4 N) / c + l). This cap equals the data in flight of the BBR flows,
    (1 - p) (q + c l), so that p = 1/2 - 1/(2 X) - 4 N / q. In a ProbeRTT, once per 10 s, BBR flows send
    nothing for q/c + 0.2 s + l. The number of flows that fill the buffer does not change the share.

    Source: Ware, Mukerjee, Seshan and Sherry, "Modeling BBR's interactions with loss-based congestion
    control", IMC 2019, equations 9 to 11.

    Args:
        buffer_bdp: Buffer X, in bandwidth-delay products; q is the buffer in packets.
        rate_bps: Rate of the link; c is this rate in packets per second.
        rtt_s: Round-trip time l of the empty path.
        flows: BBR flows N.
        packet_bytes: Size of a packet on the wire.

    Returns:
        The share, from 0 to 1.

    Raises:
        ValueError: If there is no buffer, no link, no delay or no flow.

    >>> round(bbr_share(4, 50e6, 0.04), 3)
    0.606
    """
    if min(buffer_bdp, rate_bps, rtt_s, flows, packet_bytes) <= 0:
        raise ValueError("buffer, rate, round-trip time, flows and packet must all be above zero")
    packets_per_s = rate_bps / 8 / packet_bytes
    buffer_packets = buffer_bdp * rtt_s * packets_per_s
    others = max(0.0, 1 / 2 - 1 / (2 * buffer_bdp) - 4 * flows / buffer_packets)
    probing_s = buffer_packets / packets_per_s + 0.2 + rtt_s
    return (1 - others) * max(0.0, 1 - probing_s / 10)


def max_min(
    capacities_bps: Mapping[int, float], routes: Sequence[Collection[int]]
) -> list[tuple[int, float]]:
    """Max-min fair rates of flows that share links: a flow can get more only if a flow with the same or a
    lower rate gets less.

    The link with the least capacity per flow limits all flows that cross it. The rates of these flows are
    subtracted from the capacities of all other links that the flows cross. The remaining flows follow in the
    same way.

    Source: Bertsekas and Gallager, "Data Networks", second edition, 1992, section 6.5.2.

    Args:
        capacities_bps: Capacity of every link, by its number.
        routes: Links that each flow crosses, one or more, each once.

    Returns:
        For each flow, the link that limits it and its rate in bit/s.

    Raises:
        ValueError: If a flow crosses no link.

    >>> max_min({0: 30.0, 1: 10.0}, [{0}, {0, 1}])
    [(0, 20.0), (1, 10.0)]
    """
    if not all(routes):
        raise ValueError("routes: a flow crosses no link; give each flow one link or more")
    left_bps = dict(capacities_bps)
    crossing: dict[int, set[int]] = {}
    for flow, route in enumerate(routes):
        for link in route:
            crossing.setdefault(link, set()).add(flow)
    found: dict[int, tuple[int, float]] = {}
    waiting = [(left_bps[link] / len(flows), link) for link, flows in crossing.items()]
    heapify(waiting)
    while waiting:
        least_bps, link = heappop(waiting)
        flows = list(crossing[link])
        if not flows:
            continue
        rate_bps = left_bps[link] / len(flows)
        if rate_bps > least_bps:  # some flows of this link have since been limited by other links
            heappush(waiting, (rate_bps, link))
            continue
        for flow in flows:
            found[flow] = link, rate_bps
            for other in routes[flow]:
                left_bps[other] = max(0.0, left_bps[other] - rate_bps)
                crossing[other].discard(flow)
    return [found[flow] for flow in range(len(routes))]


# Time that congestion control takes to adapt.


_INITIAL_WINDOW = 10
_BETA, _C = 0.7, 0.4
_BBR1_ROUNDS, _BBR3_ROUNDS, _BBR3_WAIT_S = 8, 62, 3.0
_PROBE_RTT_S = {
    **dict.fromkeys(("bbr1", "bbq", "da_bbr", "ad_bbr"), 10.0),
    **dict.fromkeys(("bbr2", "bbr3", "bbr_n_plus"), 5.0),
}
"""Time between two PROBE_RTT phases of each version of BBR, s."""


def cycle_s(cca: str, window: float, rtt_s: float, *, is_shared: bool) -> float:
    """Length of an algorithm's adaptation cycle, s.

    CUBIC: from one loss to the next, K = ((W - beta W) / C)^(1/3), or (W - beta W) / alpha round trips as in
    the Reno-friendly region, whichever is sooner; alpha = 3 (1 - beta) / (1 + beta).
    Source: RFC 9438, sections 4.2 and 4.3.

    BBR: if flows share a queue, from one PROBE_RTT to the next, because BBR's estimate of the smallest RTT
    includes the queueing delay of other flows; if no flows share a queue, a cycle of PROBE_BW. BBRv1 has
    PROBE_RTT every 10 s, and cycles of 8 round trips. BBRv2 and BBRv3 have PROBE_RTT every 5 s, and cycles of
    3 s or min(W, 62) round trips, whichever is sooner.
    Source: draft-cardwell-iccrg-bbr-congestion-control-00, draft-ietf-ccwg-bbr-02, section 5.3.3.

    Other algorithms: W / 2 round trips, as for a window that halves and grows by a packet per round trip.
    Source: RFC 5681, section 3.1.

    Args:
        cca: The algorithm.
        window: W, packets.
        rtt_s: Mean RTT, queueing delay included, s.
        is_shared: Whether flows wait for each other in one queue.

    >>> round(cycle_s("cubic", 1000, 0.1, is_shared=True), 1), cycle_s("reno", 1000, 0.1, is_shared=True)
    (9.1, 50.0)
    """
    if cca in _PROBE_RTT_S:
        if is_shared:
            return _PROBE_RTT_S[cca]
        if _PROBE_RTT_S[cca] == _PROBE_RTT_S["bbr1"]:
            return _BBR1_ROUNDS * rtt_s
        return min(_BBR3_WAIT_S, min(window, _BBR3_ROUNDS) * rtt_s)
    if cca == "cubic":
        alpha = 3 * (1 - _BETA) / (1 + _BETA)
        lost = (1 - _BETA) * window
        return min(cbrt(lost / _C), lost / alpha * rtt_s)
    return window / 2 * rtt_s


def start_up_s(window: float, rtt_s: float) -> float:
    """Time in which slow start reaches a window, s: the window doubles every round trip from 10 packets on.

    Source: RFC 5681, section 3.1, and RFC 6928.
    """
    return rtt_s * log2(max(window / _INITIAL_WINDOW, 2))


# Theoretical values for the bulk flows of a scenario, computed from links and delays without a run.


_FILLS_THE_BUFFER = frozenset({"cubic", "reno"})
"""Competitors of BBRv1 for which the model of `bbr_share` holds."""
Unknown = Literal["", "cell", "rate", "routes", "relay", "traffic"]
"""Reason for which a fair share is unknown: a cell's rate depends on air time, signal and load; the rate of a
link varies; routes change; a host relays connections; other traffic takes an unknown part. Empty if the fair
share is known."""


@dataclass(frozen=True)
class Expected:
    """Theoretical values of a link that limits bulk flows; None if the links do not determine a value."""

    link: str
    rate_bps: int
    """Largest rate, with all headers. For a cell: while no other port sends. For a trace: its mean. For a
    link that changes: the rate at the beginning."""
    flows: int
    """Bulk flows that this link limits."""
    unknown: Unknown
    """Reason for which the fair share is unknown; empty if it is known."""
    rtt_s: float | None
    """The longest base RTT of the flows, without serialisation."""
    bdp_bytes: float | None
    """Bandwidth-delay product: `rate_bps` times the longest base RTT."""
    bdp_packets: float | None
    """Bandwidth-delay product in packets of the largest size."""
    datagrams_bps: float
    """Mean rate of calls, pings, probes and UDP over the link, replies included, with all headers."""
    fair_share_bps: float | None
    """Max-min fair payload rate per bulk flow, of the capacity that the datagrams leave; retransmissions and
    ACKs are ignored."""
    window_packets: float | None
    """Window of each flow at its fair share with an empty queue; None if base RTTs or packet sizes differ."""
    buffer_packets: float | None
    """Packets that fit into the queue; None unless the queue is drop-tail with one limit in packets or
    bytes."""
    full_window_packets: float | None
    """Window of each flow when path and buffer are full: the next packet is dropped."""
    full_wait_s: float | None
    """Queueing delay of a packet that arrives when the buffer is full."""
    target_wait_s: float | None
    """Target delay of the queue discipline; None without a target."""
    bbr1_share: float | None
    """Share of all BBRv1 flows against CUBIC or Reno: see `fullpipe.analysis.expected.bbr_share`."""


def expected(network: Network) -> list[Expected]:
    """Return the theoretical values of a network, one row per link that limits bulk flows.

    All flows are assumed to start together. If the rate of a flow is unknown, the rates of all flows that
    share a link with it are unknown, too.
    """
    return _Paths(network).expected()


def buffer_packets(hop: Hop, packet_bytes: int) -> float | None:
    """Return how many packets of a size fit into a drop-tail queue. None for other queues, for a queue
    without a limit or with a changing limit, and for a queue that feeds a device with a queue of its own."""
    if not isinstance(hop.queue, DropTail) or _limit_varies(hop):
        return None
    if hop.queue.packets is not None:
        return float(hop.queue.packets)
    return None if hop.queue.limit_bytes is None else hop.queue.limit_bytes / packet_bytes


def datagrams_per_s(network: Network) -> float:
    """Return the mean packet rate of all datagram flows, replies included."""
    flows = filter(None, (routed.flow.datagrams for routed in network.flows))
    return sum((1 + of.echo) * of.active * NANOSECONDS / of.interval_ns for of in flows)


def narrow_hops(network: Network) -> list[Hop]:
    """Return the narrowest link or port of every flow's path, without repetition, in the order of the
    flows."""
    limits_bps = [hop.limit_bps for hop in network.hops]
    found = dict.fromkeys(narrowest(routed, limits_bps) for routed in network.flows)
    return [network.hops[hop] for hop in found if hop is not None]


class _Paths:
    """Paths of all flows over the hops of a network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._limits_bps = [hop.limit_bps for hop in network.hops]
        self._varies = [rate_varies(hop) for hop in network.hops]
        self._rtts_s = base_rtts_s(network)
        self._crossing: dict[int, list[int]] = {}
        """Indices of the flows with congestion control whose data crosses a hop, by hop; only hops with a
        rate."""
        for number, routed in enumerate(network.flows):
            for hop in self._rated(routed) if routed.flow.cca else ():
                self._crossing.setdefault(hop, []).append(number)
        self._datagrams_bps = self._all_datagrams_bps()
        self._unknown = self._all_unknown()

    def expected(self) -> list[Expected]:
        """Return the rows of `expected`."""
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
        """Return the hops with a rate on any route of a flow's data, each once."""
        ways = [routed.forward, *(way.forward for way in routed.later if way.forward)]
        return [hop for hop in dict.fromkeys(chain(*ways)) if self._limits_bps[hop]]

    def _all_datagrams_bps(self) -> dict[int, float]:
        """Return the mean rate on the wire of all datagrams over each hop, on the routes at the start of the
        run."""
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
        """Return the reason for which the fair share of each flow is unknown."""
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
        """Return the reason, in the flow's own path or application, for which its fair share is unknown; ""
        for datagrams, whose rate is given."""
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
        if any(each.relayed for each in flows[number : number + 2]):  # this flow, or the next one
            return "relay"
        return "" if is_bulk(routed.flow) else "traffic"

    def _fair_shares(self) -> dict[int, tuple[int, float]]:
        """Return the link that limits each flow and the flow's rate on the wire, for flows with a known fair
        share."""
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
        """Return the theoretical values of a hop and of the flows that it limits."""
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
    """Return the value that all elements have; None if values differ, a value is unknown, or there are no
    values."""
    first = values[0] if values else None
    if first is None or any(value is None or not isclose(value, first) for value in values):
        return None
    return first


def _limit_varies(hop: Hop) -> bool:
    """Whether the limit of a queue changes, or the queue feeds a device with a queue of its own."""
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
