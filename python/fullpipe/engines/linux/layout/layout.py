"""Computes the layout of a scenario in the guest."""

from collections.abc import Iterator, Sequence

from fullpipe.engines import streams
from fullpipe.engines.linux.layout.departures import departures_ns
from fullpipe.engines.linux.layout.links import lay_link, stage_count
from fullpipe.engines.linux.layout.namespaces import Namespaces
from fullpipe.engines.linux.layout.network import (
    Cable,
    Device,
    FlowLayout,
    Hop,
    Host,
    NetworkLayout,
    RerouteLayout,
)
from fullpipe.engines.linux.layout.paces import paces
from fullpipe.engines.linux.layout.sizes import crossing, mtu_bytes
from fullpipe.scenario import Network, RoutedFlow, Scenario, resolve
from fullpipe.scenario.quantities import to_nanoseconds

_RECEIVERS, _SENDERS = "10.2", "10.1"
_HOSTS_PER_NET = 250


def lay_out(scenario: Scenario, seed: int) -> NetworkLayout:
    """Compute the layout of a scenario that has passed `check`, as a pure function."""
    network = resolve(scenario)
    places = Namespaces(network, [stage_count(link) for link in network.links])
    # Hops add cables between nodes. All cables must exist before the devices of hosts are read.
    hops = [tuple(_hops(places, n, routed)) for n, routed in enumerate(network.flows)]
    reroutes = [tuple(_reroutes(places, n, routed)) for n, routed in enumerate(network.flows)]
    described = zip(network.links, places.links, places.arrivals, crossing(network), strict=True)
    return NetworkLayout(
        tuple(places.names),
        tuple(_cables(network, places)),
        tuple(lay_link(*link, seed) for link in described),
        tuple(
            _flow(scenario, seed, places, n, routed, hops[n], reroutes[n])
            for n, routed in enumerate(network.flows)
        ),
    )


def _flow(
    scenario: Scenario,
    seed: int,
    places: Namespaces,
    number: int,
    routed: RoutedFlow,
    hops: tuple[Hop, ...],
    reroutes: tuple[RerouteLayout, ...],
) -> FlowLayout:
    flow, start_ns, end_ns = routed.flow, _start_ns(routed, seed), _end_ns(routed, scenario)
    leave_ns = departures_ns(flow.datagrams, routed.stream, start_ns, end_ns, seed) if flow.datagrams else ()
    handed_out = paces(flow, routed.tcp, start_ns, end_ns)
    sender, receiver = (_host(places, end, number) for end in ("sender", "receiver"))
    return FlowLayout(routed, sender, receiver, hops, reroutes, start_ns, handed_out, tuple(leave_ns))


def _start_ns(routed: RoutedFlow, seed: int) -> int:
    """Return the start time of a flow, as in the simulator."""
    flow = routed.flow
    return streams.start_ns(
        to_nanoseconds(flow.start_s), to_nanoseconds(flow.start_jitter_s), seed, routed.stream
    )


def _end_ns(routed: RoutedFlow, scenario: Scenario) -> int:
    """Return the time at which a flow stops. Packets can still leave at the very end of a run."""
    after_ns = to_nanoseconds(scenario.duration_s) + 1
    return after_ns if routed.flow.stop_s is None else min(after_ns, to_nanoseconds(routed.flow.stop_s))


def _host(places: Namespaces, end: str, number: int) -> Host:
    namespace = places.host(end, number)
    address = _address(number, to_receiver=end == "receiver")
    devices, sends_by = places.devices[namespace], tuple(places.sends_by[namespace])
    return Host(namespace, address, devices[0], sends_by, places.is_shared(end, number))


def _address(number: int, *, to_receiver: bool) -> str:
    """Return the address of a flow's receiver or sender."""
    net = _RECEIVERS if to_receiver else _SENDERS
    return f"{net}.{number // _HOSTS_PER_NET}.{number % _HOSTS_PER_NET + 1}"


def _hops(places: Namespaces, number: int, routed: RoutedFlow) -> Iterator[Hop]:
    yield from _along(places, number, routed.forward, to_receiver=True)
    yield from _along(places, number, routed.reverse, to_receiver=False)


def _reroutes(places: Namespaces, number: int, routed: RoutedFlow) -> Iterator[RerouteLayout]:
    for new in routed.reroutes:
        hops: list[Hop] = []
        for to_receiver, route in ((True, new.forward), (False, new.reverse)):
            if route is not None:
                hops += _along(places, number, route, to_receiver=to_receiver)
        yield RerouteLayout(to_nanoseconds(new.at_s), tuple(hops))


def _along(places: Namespaces, number: int, route: Sequence[int], *, to_receiver: bool) -> Iterator[Hop]:
    address, source = (_address(number, to_receiver=end) for end in (to_receiver, not to_receiver))
    for place, device in enumerate(places.hops(number, route, to_receiver=to_receiver)):
        yield Hop(device, address, to_receiver, source if place == 0 else None)


def _cables(network: Network, places: Namespaces) -> Iterator[Cable]:
    """Yield all cables. Next to a host, the MTU fits the packets of its flows; elsewhere, those of all."""
    of_hosts: dict[str, int] = {}
    for n, routed in enumerate(network.flows):
        for host in (places.host("sender", n), places.host("receiver", n)):
            of_hosts[host] = max(mtu_bytes(routed), of_hosts.get(host, 0))
    largest = max(of_hosts.values())

    def mtu(device: Device) -> int:
        return of_hosts.get(device.namespace, largest)

    for near, far in places.cables:
        yield Cable(near, far, min(mtu(near), mtu(far)))
