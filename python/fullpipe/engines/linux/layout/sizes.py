"""Sizes of packets, and flows that cross a link."""

from collections.abc import Iterator, Sequence

from fullpipe.engines.linux.tc.qdisc import ETHERNET_BYTES
from fullpipe.scenario import Network, RoutedFlow
from fullpipe.scenario.model.tcp import IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES, Tcp

_LEAST_MTU_BYTES = 576
_LARGEST_FRAME_BYTES = 1514


def routes_of(routed: RoutedFlow, *, to_receiver: bool) -> Iterator[tuple[int, ...]]:
    """Yield all routes of a flow's data, or of its ACKs, in order of time, as numbers of links."""
    yield routed.forward if to_receiver else routed.reverse
    for new in routed.reroutes:
        route = new.forward if to_receiver else new.reverse
        if route is not None:
            yield route


def crossing(network: Network) -> list[list[RoutedFlow]]:
    """Return the flows that ever cross each link."""
    found: list[list[RoutedFlow]] = [[] for _ in network.links]
    for routed in network.flows:
        both = (*routes_of(routed, to_receiver=True), *routes_of(routed, to_receiver=False))
        for hop in {hop for route in both for hop in route}:
            if hop < len(found):
                found[hop].append(routed)
    return found


def frame_bytes(crossed_by: Sequence[RoutedFlow]) -> int:
    """Return the size of the largest packet on a link, with overhead. Ethernet's if no flow crosses it."""
    sizes = [mtu_bytes(routed) + routed.tcp.link_overhead_bytes for routed in crossed_by]
    return max(sizes, default=_LARGEST_FRAME_BYTES)


def overhead_bytes(crossed_by: Sequence[RoutedFlow]) -> int:
    """Return the size that the link layer adds. `check` has made sure that it is the same for all flows."""
    return crossed_by[0].tcp.link_overhead_bytes if crossed_by else ETHERNET_BYTES


def mtu_bytes(routed: RoutedFlow) -> int:
    """Return the size of a flow's largest IP packet."""
    tcp, datagrams = routed.tcp, routed.flow.datagrams
    if datagrams:
        return max(_LEAST_MTU_BYTES, datagrams.payload_bytes + datagrams.headers_bytes)
    return tcp.mss_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * tcp.timestamps


def has_accecn(tcp: Tcp, kind: str) -> bool:
    """Whether a connection uses AccECN. Prague requests it by itself."""
    return tcp.ecn == "accecn" or (tcp.ecn is True and kind == "prague")


def accecn_option_bytes(routed: RoutedFlow) -> int:
    """Return the size of AccECN's option in data packets (`tcp_options_fit_accecn`)."""
    kind = routed.flow.cca.kind if routed.flow.cca else ""
    return 12 if has_accecn(routed.tcp, kind) and routed.tcp.accecn_option is not False else 0
