"""Hosts that terminate TCP: a flow through such a host is split into two connections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fullpipe.errors import shown
from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.hosts import Host
from fullpipe.scenario.network.parts import Hop, Port, Relayed, Route, RoutedFlow

_BUFFER_BYTES = 256 << 10
"""Default buffer of a terminating host."""


def terminating(hosts: Sequence[Host]) -> dict[str, Relayed]:
    """Return the hosts that terminate TCP, by name."""
    return {
        host.name: Relayed(host.proxy_buffer_bytes or _BUFFER_BYTES, f"hosts[{i}].terminated", host.proxy_cca)
        for i, host in enumerate(hosts)
        if host.terminated
    }


def connections(
    routed: RoutedFlow, hosts: Mapping[str, Relayed], hops: Sequence[Hop]
) -> Iterator[RoutedFlow]:
    """Yield the connections of a flow from its sender on: one, and one more per terminating host.

    Raises:
        ProblemsError: If the flow cannot be terminated at a host that it passes.
    """
    first = next((host for host in _passed(routed.forward, hops) if host in hosts), None)
    if routed.flow.datagrams or first is None:
        yield routed
        return
    relayed = hosts[first]
    _check(routed, relayed, first)
    if first not in _passed(routed.reverse, hops):
        told = f"ACKs of {shown(routed.name)} do not pass {shown(first)}, as its data does"
        raise ProblemsError(f"{relayed.where}: {told}; give it links both ways")
    to, onward = _cut(routed.forward, first, hops)
    back, home = _cut(routed.reverse, first, hops)
    yield replace(routed, target=first, forward=to, reverse=home, shares_hosts=True)
    own = {"start_jitter_s": 0.0, "stop_s": None, "size_bytes": None, "application": None, "workload": None}
    yield from connections(
        replace(
            routed,
            name=f"{routed.name}-{first}",
            stream=f"{routed.stream}-{first}",
            flow=routed.flow.model_copy(update={**own, "cca": relayed.cca or routed.flow.cca}),
            source=first,
            forward=onward,
            reverse=back,
            relayed=relayed,
            shares_hosts=True,
        ),
        {name: host for name, host in hosts.items() if name != first},
        hops,
    )


def _check(routed: RoutedFlow, relayed: Relayed, host: str) -> None:
    who = f"{shown(routed.name)} passes {shown(host)}"
    if routed.flow.is_of_transfers:
        raise ProblemsError(f"{relayed.where}: {who}, which passes on streams alone; use workload bulk")
    if routed.later:
        raise ProblemsError(f"{relayed.where}: {who} and its routes change; leave out one of the two")


def _passed(route: Route, hops: Sequence[Hop]) -> list[str]:
    """Return the forwarding nodes between the ends of a route, in order."""
    return [_origin(hops[i]) for i in route[1:]]


def _cut(route: Route, host: str, hops: Sequence[Hop]) -> tuple[Route, Route]:
    """Split a route at a host that it passes."""
    place = 1 + _passed(route, hops).index(host)
    return route[:place], route[place:]


def _origin(hop: Hop) -> str:
    return hop.node if isinstance(hop, Port) else hop.source
