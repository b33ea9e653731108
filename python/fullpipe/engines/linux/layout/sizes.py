"""Sizes of packets, and which links a flow crosses."""

from fullpipe.scenario import Network, Route
from fullpipe.scenario.model.tcp import IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES

ETHERNET_BYTES = 14
_LEAST_MTU = 576
_LARGEST_FRAME = 1514


def frame_bytes(network: Network, link: int) -> int:
    """The largest packet on a link, with the link layer's overhead; that of Ethernet if nobody uses it."""
    sizes = [_frame(route) for route in network.routes if link in crossed(route)]
    return max(sizes, default=_LARGEST_FRAME)


def _frame(route: Route) -> int:
    return mtu(route) + route.tcp.link_overhead_bytes


def crossed(route: Route) -> set[int]:
    """Numbers of all links that a flow ever crosses."""
    ways = [route.forward, route.reverse]
    for new in route.new_ways:
        ways += [way for way in (new.forward, new.reverse) if way]
    return {link for way in ways for link in way}


def mtu(route: Route) -> int:
    """The largest IP packet of a flow, in bytes."""
    tcp, datagrams = route.tcp, route.flow.datagrams
    if datagrams:
        return max(_LEAST_MTU, datagrams.payload_bytes + datagrams.headers_bytes)
    return tcp.mss_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * tcp.timestamps


def overhead(network: Network, link: int) -> int:
    """What the link layer adds, which `check` makes sure is the same for all that cross."""
    found = [route.tcp.link_overhead_bytes for route in network.routes if link in crossed(route)]
    return found[0] if found else ETHERNET_BYTES
