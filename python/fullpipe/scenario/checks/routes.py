"""Checks of routes: they have a delay, cross no link twice, and a rate or a window limits the flow."""

from collections.abc import Iterator

from fullpipe.errors import shown
from fullpipe.scenario.network.parts import Network, RoutedFlow


def route_problems(network: Network) -> Iterator[str]:
    checked = None
    for routed in network.flows:
        if routed.flow is checked:
            continue  # flows of one entry have routes of the same kind
        checked = routed.flow
        if network.base_rtt_s(routed) == 0 and not _crosses_air(network, routed):
            who = shown(routed.name)
            yield f"flows: the round trip of {who} takes no time; give one of its links a delay"
            return
        routes = [
            routed.forward,
            routed.reverse,
            *(r for new in routed.later for r in (new.forward, new.reverse) if r),
        ]
        if any(len(set(route)) < len(route) for route in routes):
            yield f"flows: {shown(routed.name)} would cross a link twice; change its via"
            return
        if _is_boundless(network, routed):
            yield f"flows: nothing limits {shown(routed.name)}; give a link on its route a rate, or it a size"
            return


def _crosses_air(network: Network, routed: RoutedFlow) -> bool:
    """Whether a flow crosses a Wi-Fi cell, where every packet takes time."""
    ports = {port.name for medium in network.media if medium.kind == "wifi" for port in medium.ports}
    return any(network.hops[i].name in ports for i in (*routed.forward, *routed.reverse))


def _is_boundless(network: Network, routed: RoutedFlow) -> bool:
    """Whether nothing limits the rate of a flow. The native engine's check of plans has the same rule.

    Loss is not a limit, as some algorithms ignore it, nor is a slow route of ACKs.
    """
    if routed.flow.datagrams or routed.flow.is_of_transfers:
        return False
    if routed.relayed:
        return False
    if (routed.tcp.send_buffer_bytes, routed.tcp.receive_buffer_bytes, routed.flow.size_bytes) != (None,) * 3:
        return False
    routes = (routed.forward, *(new.forward for new in routed.later if new.forward is not None))
    return any(all(network.hops[i].limit_bps is None for i in route) for route in routes)
