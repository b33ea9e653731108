"""What theory expects of the bulk flows of a scenario, from its links and delays alone; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass

from fullpipe.analysis.theory import bbr_share
from fullpipe.scenario import Network, RoutedFlow, catalogue
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.network.parts import Hop
from fullpipe.scenario.quantities import BITS, NANOSECONDS

_FILLS_THE_BUFFER = frozenset({"cubic", "reno"})
"""Algorithms that the model of `bbr_share` is about, beside BBRv1."""


@dataclass(frozen=True)
class Expected:
    """Of a link that is the narrowest on the path of bulk flows."""

    link: str
    rate_bps: int
    """What it carries, with all headers."""
    flows: int
    """Bulk flows that it holds back."""
    rtt_s: float
    """The longest of their round trips while no packet waits, without serialisation."""
    bdp_bytes: float
    """Bandwidth-delay product: what fills the path once, by the longest round trip."""
    bdp_packets: float
    """The same in packets of the largest size."""
    datagrams_bps: float
    """What calls, pings, probes and UDP send over it in any case, replies too, with all headers."""
    fair_share_bps: float
    """Payload per bulk flow if all get the same of what datagrams leave, without retransmissions."""
    window_packets: float
    """Of each flow, if together they fill the path and no packet waits."""
    buffer_packets: float | None
    """What may wait; None if the queue does not count packets or bytes up to a limit and drop the rest."""
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

    Links are taken as they are at the beginning. Flows are taken as starting together.
    """
    held: dict[int, list[RoutedFlow]] = {}
    for routed in network.flows:
        narrowest = _narrowest(network, routed)
        if routed.flow.cca is not None and routed.flow.workload is None and narrowest is not None:
            held.setdefault(narrowest, []).append(routed)
    return [_expected(network, hop, flows) for hop, flows in held.items()]


def _datagrams_bps(network: Network, hop: int) -> float:
    """The rate of all datagrams that cross a hop at the beginning."""
    return sum(
        _rate_bps(routed) * (routed.forward.count(hop) + workload.echo * routed.reverse.count(hop))
        for routed in network.flows
        if (workload := routed.flow.datagrams)
    )


def _rate_bps(routed: RoutedFlow) -> float:
    """Of a flow of datagrams on the wire, in the mean."""
    workload = routed.flow.datagrams
    assert workload is not None
    size_bytes = workload.payload_bytes + workload.headers_bytes + routed.tcp.link_overhead_bytes
    return size_bytes * BITS * NANOSECONDS / workload.interval_ns * workload.active


def datagrams_per_s(network: Network) -> float:
    """How many all flows of datagrams send, in the mean, with replies."""
    flows = filter(None, (routed.flow.datagrams for routed in network.flows))
    return sum((1 + of.echo) * of.active * NANOSECONDS / of.interval_ns for of in flows)


def narrow_hops(network: Network) -> list[Hop]:
    """The narrowest link or port on the path of each flow, each once, in the order of the flows."""
    found = dict.fromkeys(_narrowest(network, routed) for routed in network.flows)
    return [network.hops[hop] for hop in found if hop is not None]


def _narrowest(network: Network, routed: RoutedFlow) -> int | None:
    """The first of the slowest hops that the data crosses; None if none has a rate."""
    limits = [(limit, hop) for hop in routed.forward if (limit := network.hops[hop].limit_bps)]
    return min(limits, key=lambda each: each[0])[1] if limits else None


def _expected(network: Network, number: int, flows: list[RoutedFlow]) -> Expected:
    hop = network.hops[number]
    rate_bps = hop.limit_bps or 0
    datagrams_bps = _datagrams_bps(network, number)
    left = max(0.0, 1 - datagrams_bps / rate_bps)
    rtt_s = max(network.base_rtt_s(routed) for routed in flows)
    tcp = flows[0].tcp
    packet_bytes = max(routed.tcp.segment_bytes for routed in flows)
    bdp_bytes = rate_bps * rtt_s / BITS
    buffer_packets = _buffer_packets(hop, packet_bytes)
    part = left / len(flows)
    full = None if buffer_packets is None else bdp_bytes / packet_bytes + buffer_packets
    return Expected(
        link=hop.name,
        rate_bps=rate_bps,
        flows=len(flows),
        rtt_s=rtt_s,
        bdp_bytes=bdp_bytes,
        bdp_packets=bdp_bytes / packet_bytes,
        datagrams_bps=datagrams_bps,
        fair_share_bps=rate_bps * tcp.mss_bytes / tcp.segment_bytes * part,
        window_packets=bdp_bytes / packet_bytes * part,
        buffer_packets=buffer_packets,
        full_window_packets=None if full is None else full * part,
        full_wait_s=None if buffer_packets is None else buffer_packets * packet_bytes * BITS / rate_bps,
        target_wait_s=_target_s(hop),
        bbr1_share=_bbr1_share(flows, buffer_packets, rate_bps, rtt_s, packet_bytes),
    )


def _buffer_packets(hop: Hop, packet_bytes: int) -> float | None:
    """What a queue that drops at its tail holds; None if it is another one, or has no limit."""
    if not isinstance(hop.queue, DropTail):
        return None
    if hop.queue.packets is not None:
        return float(hop.queue.packets)
    return None if hop.queue.limit_bytes is None else hop.queue.limit_bytes / packet_bytes


def _target_s(hop: Hop) -> float | None:
    if hop.queue is None or isinstance(hop.queue, DropTail):
        return None
    target = catalogue.queue(hop.queue.kind).params.get("target_ms")
    return None if target is None else float(hop.queue.params.get("target_ms", target.default)) / 1e3


def _bbr1_share(
    flows: list[RoutedFlow], buffer_packets: float | None, rate_bps: int, rtt_s: float, packet_bytes: int
) -> float | None:
    kinds = [routed.flow.cca.kind for routed in flows if routed.flow.cca]
    bbr = kinds.count("bbr1")
    others = set(kinds) - {"bbr1"}
    if not (bbr and others and others <= _FILLS_THE_BUFFER and buffer_packets and rtt_s):
        return None
    bdp_packets = rate_bps * rtt_s / BITS / packet_bytes
    return bbr_share(buffer_packets / bdp_packets, rate_bps, rtt_s, flows=bbr, packet_bytes=packet_bytes)
