"""From a scenario to its layout in the guest."""

from collections.abc import Iterator, Sequence

from fullpipe.engines import streams
from fullpipe.engines.linux.layout.departures import departures_ns
from fullpipe.engines.linux.layout.links import lay_link, stage_count
from fullpipe.engines.linux.layout.namespaces import Namespaces
from fullpipe.engines.linux.layout.network import Cable, Device, Hop, Host, LaidFlow, LaidNetwork, Reroute
from fullpipe.engines.linux.layout.sizes import crossing, mtu_bytes
from fullpipe.scenario import Network, Route, Scenario, resolve
from fullpipe.scenario.quantities import to_nanoseconds

_RECEIVERS, _SENDERS = "10.2", "10.1"
_HOSTS_PER_NET = 250


def lay_out(scenario: Scenario, seed: int) -> LaidNetwork:
    """A scenario that `check` has nothing against, in the guest. Pure."""
    network = resolve(scenario)
    places = Namespaces(network, [stage_count(link) for link in network.links])
    # Hops add cables between nodes; all of them have to be there before hosts know their devices.
    hops = [tuple(_hops(places, n, route)) for n, route in enumerate(network.routes)]
    reroutes = [tuple(_reroutes(places, n, route)) for n, route in enumerate(network.routes)]
    described = zip(network.links, places.links, places.arrivals, crossing(network), strict=True)
    return LaidNetwork(
        tuple(places.names),
        tuple(_cables(network, places)),
        tuple(lay_link(*link, seed) for link in described),
        tuple(
            _flow(scenario, seed, places, n, route, hops[n], reroutes[n])
            for n, route in enumerate(network.routes)
        ),
    )


def _flow(
    scenario: Scenario,
    seed: int,
    places: Namespaces,
    number: int,
    route: Route,
    hops: tuple[Hop, ...],
    reroutes: tuple[Reroute, ...],
) -> LaidFlow:
    flow, start_ns = route.flow, _start_ns(route, seed)
    leave_ns = (
        departures_ns(flow.datagrams, route.stream, start_ns, _end_ns(route, scenario), seed)
        if flow.datagrams
        else ()
    )
    sender, receiver = (_host(places, end, number) for end in ("sender", "receiver"))
    return LaidFlow(route, sender, receiver, hops, reroutes, start_ns, tuple(leave_ns))


def _start_ns(route: Route, seed: int) -> int:
    """When a flow starts, as in the simulator."""
    flow = route.flow
    return streams.start_ns(
        to_nanoseconds(flow.start_s), to_nanoseconds(flow.start_jitter_s), seed, route.stream
    )


def _end_ns(route: Route, scenario: Scenario) -> int:
    """When a flow stops by itself; what leaves at the very end of a run leaves."""
    after_ns = to_nanoseconds(scenario.duration_s) + 1
    return after_ns if route.flow.stop_s is None else min(after_ns, to_nanoseconds(route.flow.stop_s))


def _host(places: Namespaces, end: str, number: int) -> Host:
    namespace = places.host(end, number)
    address = _address(number, to_receiver=end == "receiver")
    devices, sends_by = places.devices[namespace], tuple(places.sends_by[namespace])
    return Host(namespace, address, devices[0], sends_by, places.is_shared(end, number))


def _address(number: int, *, to_receiver: bool) -> str:
    """The address of a flow's receiver or sender."""
    net = _RECEIVERS if to_receiver else _SENDERS
    return f"{net}.{number // _HOSTS_PER_NET}.{number % _HOSTS_PER_NET + 1}"


def _hops(places: Namespaces, number: int, route: Route) -> Iterator[Hop]:
    yield from _way(places, number, route.forward, to_receiver=True)
    yield from _way(places, number, route.reverse, to_receiver=False)


def _reroutes(places: Namespaces, number: int, route: Route) -> Iterator[Reroute]:
    for new in route.new_ways:
        hops: list[Hop] = []
        for to_receiver, way in ((True, new.forward), (False, new.reverse)):
            if way is not None:
                hops += _way(places, number, way, to_receiver=to_receiver)
        yield Reroute(to_nanoseconds(new.at_s), tuple(hops))


def _way(places: Namespaces, number: int, way: Sequence[int], *, to_receiver: bool) -> Iterator[Hop]:
    address, source = (_address(number, to_receiver=end) for end in (to_receiver, not to_receiver))
    for place, device in enumerate(places.hops(number, way, to_receiver=to_receiver)):
        yield Hop(device, address, to_receiver, source if place == 0 else None)


def _cables(network: Network, places: Namespaces) -> Iterator[Cable]:
    """Beside a host the MTU is the largest of its flows, and elsewhere that of all."""
    of_hosts: dict[str, int] = {}
    for n, route in enumerate(network.routes):
        for host in (places.host("sender", n), places.host("receiver", n)):
            of_hosts[host] = max(mtu_bytes(route), of_hosts.get(host, 0))
    largest = max(of_hosts.values())

    def mtu(device: Device) -> int:
        return of_hosts.get(device.namespace, largest)

    for near, far in places.cables:
        yield Cable(near, far, min(mtu(near), mtu(far)))
