"""Checks of routes: they have a delay, cross no link twice, and a rate or a window limits what is sent."""

from collections.abc import Iterator

from fullpipe.scenario.model.workloads.transfers import Transfers
from fullpipe.scenario.network.parts import Link, Network, Route
from fullpipe.scenario.quantities import shown


def route_problems(network: Network) -> Iterator[str]:
    checked = None
    for route in network.routes:
        if route.flow is checked:
            continue  # flows of one entry have ways of the same kind
        checked = route.flow
        if network.base_rtt_s(route) == 0:
            yield f"flows: the round trip of {shown(route.name)} takes no time; give one of its links a delay"
            return
        ways = [
            route.forward,
            route.reverse,
            *(w for new in route.new_ways for w in (new.forward, new.reverse) if w),
        ]
        if any(len(set(way)) < len(way) for way in ways):
            yield f"flows: {shown(route.name)} would cross a link twice; change its via"
            return
        if _is_boundless(network, route):
            yield f"flows: nothing limits {shown(route.name)}; give a link on its way a rate, or it a size"
            return


def _is_boundless(network: Network, route: Route) -> bool:
    """Whether a flow could double its rate for ever."""
    if route.flow.datagrams or isinstance(route.flow.workload, Transfers):
        return False
    hops = [network.hops[i] for i in route.forward]
    lossy = any(isinstance(hop, Link) and hop.loss is not None for hop in hops)
    on_the_way = lossy or any(hop.limit_bps is not None for hop in hops)
    buffers = (route.tcp.send_buffer_bytes, route.tcp.receive_buffer_bytes)
    return not on_the_way and route.flow.size_bytes is None and buffers == (None, None)
