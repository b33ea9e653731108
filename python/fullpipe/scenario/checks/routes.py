"""Checks of routes and reroutes."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.routing import Moving
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.parts import Network, RoutedFlow

# Check that entries of a list are in the order of time.


def in_order(path: str, times_s: Sequence[float]) -> Iterator[str]:
    """Yield every entry whose time is before that of the previous entry."""
    for n, (before_s, at_s) in enumerate(pairwise(times_s), start=1):
        if at_s < before_s:
            yield f"{path}[{n}].at: {at_s:g} s is before {before_s:g} s, the entry above it"


# Checks of the keys `reroutes` and `alternate` of flows and links.


MAX_TURNS = 10_000


def moved_link_problems(scenario: ScenarioModel) -> Iterator[str]:
    graph = scenario.topology
    if not isinstance(graph, Graph):
        return
    places = scenario.places()
    for i, link in enumerate(graph.links):
        for line in reroute_problems(link, places, scenario.duration_s):
            yield f"topology.links[{i}].{line}"


def reroute_problems(moving: Moving, places: Collection[str], duration_s: float) -> Iterator[str]:
    turns = moving.alternate.vias if moving.alternate else ()
    vias = [
        *((f"reroutes[{i}].via", reroute.via) for i, reroute in enumerate(moving.reroutes or ())),
        *((f"alternate.via[{i}]", via) for i, via in enumerate(turns)),
    ]
    yield from place_problems(vias, places)
    if moving.reroutes and moving.alternate:
        yield "alternate: there are reroutes as well; leave out either alternate or reroutes"
    times = [reroute.at_s for reroute in moving.reroutes or ()]
    if times != sorted(times):
        yield "reroutes: not in the order of time; sort them by at"
    made = duration_s / moving.alternate.every_s if moving.alternate else 0
    if made > MAX_TURNS:
        yield f"alternate.every: makes {made:,.0f} changes, more than {MAX_TURNS:,}; lengthen it"


def place_problems(vias: Iterable[tuple[str, Sequence[str]]], places: Collection[str]) -> Iterator[str]:
    for key, via in vias:
        for place in via:
            if place not in places:
                yield f"{key}: unknown node or link {shown(place)}{suggestion(place, islice(places, 20))}"


# Checks of routes: the base RTT is above 0, no route crosses a link twice, and a link, window or size limits
# every flow.


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
            remedy = "give a link on its route a rate, or give the flow a size"
            yield f"flows: nothing limits {shown(routed.name)}; {remedy}"
            return


def _crosses_air(network: Network, routed: RoutedFlow) -> bool:
    """Whether a flow crosses a Wi-Fi cell, in which the transmission of every packet takes time."""
    ports = {port.name for medium in network.media if medium.kind == "wifi" for port in medium.ports}
    return any(network.hops[i].name in ports for i in (*routed.forward, *routed.reverse))


def _is_boundless(network: Network, routed: RoutedFlow) -> bool:
    """Whether nothing limits the rate of a flow. The native engine checks plans by the same rule.

    Loss does not count as a limit, because some algorithms ignore loss. A slow route of ACKs does not count
    as a limit, either.
    """
    if routed.flow.datagrams or routed.flow.is_of_transfers:
        return False
    if routed.relayed:
        return False
    if (routed.tcp.send_buffer_bytes, routed.tcp.receive_buffer_bytes, routed.flow.size_bytes) != (None,) * 3:
        return False
    routes = (routed.forward, *(new.forward for new in routed.later if new.forward is not None))
    return any(all(network.hops[i].limit_bps is None for i in route) for route in routes)
