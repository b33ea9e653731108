"""Delays of empty paths, computed from a scenario without a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from fullpipe.scenario import Network, RoutedFlow, Scenario, resolve
from fullpipe.scenario.model.flows import Flow, flow_names
from fullpipe.scenario.model.link.changes import MarkovChannel, states_of
from fullpipe.scenario.model.link.impairments import given
from fullpipe.scenario.network.parts import Hop, Link, Port, Route
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds
from fullpipe.scenario.remembered import Remembered

_UNEVEN = frozenset({"aggregation", "arq", "jitter", "reordering"})
"""Impairments that delay some packets longer than others."""


def base_rtts_s(network: Network) -> list[float | None]:
    """Return the base RTT of each flow, s, without serialisation; None if the RTT of the empty path
    varies."""
    varies = [delay_varies(hop) for hop in network.hops]
    return [
        None if routed.later or any(varies[hop] for hop in _both_ways(routed)) else network.base_rtt_s(routed)
        for routed in network.flows
    ]


@Remembered
def echo_rtts_s(scenario: Scenario) -> Mapping[str, float]:
    """Return the RTT of every ping and probe on its empty path, s, by the name of its flow.

    Formula: sum of (propagation + bits of the packet / rate of the hop) over all hops, there and back.
    Source: RFC 2681, section 2 (round-trip delay), without queueing.

    Returns:
        RTTs by flow. A flow has no entry if a delay, a rate or the route varies, or if the path crosses a
        cell.
    """
    network = resolve(scenario)
    rtts_s = zip(network.flows, base_rtts_s(network), strict=True)
    return {
        routed.name: _crossed_s(network, _both_ways(routed), routed)
        for routed, rtt_s in rtts_s
        if _is_echo(routed.flow)
        and rtt_s is not None
        and not any(rate_varies(network.hops[hop]) for hop in _both_ways(routed))
    }


@Remembered
def one_way_s(scenario: Scenario) -> Mapping[str, float]:
    """Return the one-way delay of full packets of every flow on its empty path, s, by the name of the flow.

    Formula: sum of (propagation + bits of the packet / rate of the hop) over all hops of the data's route.
    Source: RFC 7679, section 3 (one-way delay), without queueing.

    Returns:
        Delays by flow. A flow has no entry if a delay or the route varies, or if the path crosses a cell. On
        a link whose rate varies, serialisation is taken as 0, so that the time of serialisation counts as
        queueing delay.
    """
    network = resolve(scenario)
    varies = [delay_varies(hop) for hop in network.hops]
    return {
        routed.name: _crossed_s(network, routed.forward, routed)
        for routed in network.flows
        if not routed.later and not any(varies[hop] for hop in routed.forward)
    }


@Remembered
def changing_echoes(scenario: Scenario) -> frozenset[str]:
    """Return the names of ping and probe flows for which the route, or the delay of a link, changes during a
    run."""
    network = resolve(scenario)
    orbiting = {port for medium in network.media if medium.params.get("satellites") for port in medium.ports}
    changes = [hop in orbiting if isinstance(hop, Port) else _delay_changes(hop) for hop in network.hops]
    return frozenset(
        routed.name
        for routed in network.flows
        if _is_echo(routed.flow) and (routed.later or any(changes[hop] for hop in _both_ways(routed)))
    )


@Remembered
def echo_names(scenario: Scenario) -> frozenset[str]:
    """Return the names of ping and probe flows, whose packets the far end answers."""
    entries = zip(scenario.flows, flow_names(scenario.flows), strict=True)
    return frozenset(name for flow, names in entries if _is_echo(flow) for name in names)


@Remembered
def narrowest_hops(scenario: Scenario) -> Mapping[str, int]:
    """Return the index of the slowest hop of every flow's data, by the flow's name. Flows whose route changes
    have no entry."""
    network = resolve(scenario)
    limits_bps = [hop.limit_bps for hop in network.hops]
    found = ((routed.name, narrowest(routed, limits_bps)) for routed in network.flows if not routed.later)
    return {name: hop for name, hop in found if hop is not None}


def narrowest(routed: RoutedFlow, limits_bps: Sequence[int | None]) -> int | None:
    """Return the index of the slowest hop that a flow's data crosses, the first one if several are equally
    slow; None if no hop has a rate."""
    limits = [(limit, hop) for hop in routed.forward if (limit := limits_bps[hop])]
    return min(limits, key=lambda each: each[0])[1] if limits else None


def rate_varies(hop: Hop) -> bool:
    """Whether a hop has no single rate: a cell, a link with a recorded trace, or a link whose rate
    changes."""
    if isinstance(hop, Port):
        return True
    first = hop.limit_bps if hop.rate_bps is None else hop.rate_bps
    is_recorded = hop.trace is not None and hop.trace.kind == "mahimahi"
    return is_recorded or _takes_other_values(hop, "rate_bps", first)


def delay_varies(hop: Hop) -> bool:
    """Whether the delay of a hop varies from packet to packet, apart from queueing delay."""
    if isinstance(hop, Port):
        return True
    is_uneven = hop.frames or any(one.name in _UNEVEN for one in given(hop.impairments))
    return bool(is_uneven) or _delay_changes(hop)


def _delay_changes(hop: Link) -> bool:
    """Whether the delay of a link changes during a run."""
    return bool(hop.trace and hop.trace.light) or _takes_other_values(hop, "delay_s", hop.delay_ns)


def _takes_other_values(link: Link, quantity: Literal["rate_bps", "delay_s"], first: float | None) -> bool:
    """Whether steps or a Markov channel give a link a value that differs from `first`; delays are compared in
    nanoseconds."""
    key = "delay_ns" if quantity == "delay_s" else quantity
    values = {known[key] for _, known in link.steps if key in known}
    for shape in link.shapes:
        if isinstance(shape, MarkovChannel):
            of_states = (getattr(state, quantity) for _, state in states_of(shape))
            values |= {to_nanoseconds(v) if key == "delay_ns" else v for v in of_states if v is not None}
    return bool(values - {first})


def _crossed_s(network: Network, route: Route, routed: RoutedFlow) -> float:
    """Return the time that a full data packet takes over an empty route, s."""
    hops = [network.hops[hop] for hop in route]
    rates_bps = (None if rate_varies(hop) else hop.rate_bps for hop in hops)
    bits = _size_bytes(routed) * BITS
    return sum(hop.delay_ns for hop in hops) / NANOSECONDS + sum(bits / rate for rate in rates_bps if rate)


def _size_bytes(routed: RoutedFlow) -> int:
    """Return the size of a full data packet with all headers."""
    of = routed.flow.datagrams
    if of is None:
        return routed.tcp.segment_bytes
    return of.payload_bytes + of.headers_bytes + routed.tcp.link_overhead_bytes


def _both_ways(routed: RoutedFlow) -> Route:
    return (*routed.forward, *routed.reverse)


def _is_echo(flow: Flow) -> bool:
    return flow.datagrams is not None and flow.datagrams.echo


def capacity_bps(network: Network, flows: Collection[str]) -> float | None:
    """Largest rate of some flows together, bit/s with all headers: the sum over their narrowest links.

    Every narrowest link counts once, even if it is the narrowest link of several flows.

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
    """Whether a link may send faster than its limit for some time, because the limit is a mean rate or the
    rate at the beginning."""
    return not isinstance(hop, Port) and (rate_varies(hop) or hop.frames is not None)
