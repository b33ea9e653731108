"""Sizes of packets, and which flows cross a link."""

from collections.abc import Iterator, Sequence

from fullpipe.engines.linux.tc.qdisc import ETHERNET_BYTES
from fullpipe.scenario import Network, Route
from fullpipe.scenario.model.tcp import IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES

_LEAST_MTU_BYTES = 576
_LARGEST_FRAME_BYTES = 1514


def ways(route: Route, *, to_receiver: bool) -> Iterator[tuple[int, ...]]:
    """Every way of a flow's data, or of its ACKs, in the order of time: numbers of hops."""
    yield route.forward if to_receiver else route.reverse
    for new in route.new_ways:
        way = new.forward if to_receiver else new.reverse
        if way is not None:
            yield way


def crossing(network: Network) -> list[list[Route]]:
    """For every link, the flows that ever cross it."""
    found: list[list[Route]] = [[] for _ in network.links]
    for route in network.routes:
        both = (*ways(route, to_receiver=True), *ways(route, to_receiver=False))
        for hop in {hop for way in both for hop in way}:
            if hop < len(found):
                found[hop].append(route)
    return found


def frame_bytes(crossed_by: Sequence[Route]) -> int:
    """The largest packet on a link, with the link layer's overhead; of Ethernet if no flow crosses it."""
    sizes = [mtu_bytes(route) + route.tcp.link_overhead_bytes for route in crossed_by]
    return max(sizes, default=_LARGEST_FRAME_BYTES)


def overhead_bytes(crossed_by: Sequence[Route]) -> int:
    """What the link layer adds, which `check` makes sure is the same for all that cross."""
    return crossed_by[0].tcp.link_overhead_bytes if crossed_by else ETHERNET_BYTES


def mtu_bytes(route: Route) -> int:
    """The largest IP packet of a flow."""
    tcp, datagrams = route.tcp, route.flow.datagrams
    if datagrams:
        return max(_LEAST_MTU_BYTES, datagrams.payload_bytes + datagrams.headers_bytes)
    return tcp.mss_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * tcp.timestamps
