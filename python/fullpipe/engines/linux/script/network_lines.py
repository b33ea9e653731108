"""Lines of the guest's script that build the network: namespaces, devices, addresses and routes."""

from collections.abc import Iterator

from fullpipe.engines.linux.layout.namespaces import Layout, Planner, address
from fullpipe.engines.linux.layout.sizes import mtu
from fullpipe.scenario import Network, Route
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import to_nanoseconds

_RECEIVE_BUFFER = "4096 16777216 134217728"
_SEND_BUFFER = "4096 65536 134217728"


def first_of_all() -> Iterator[str]:
    """What belongs to the kernel as a whole: memory and queues that are never in the way."""
    yield "sysctl - net/ipv4/tcp_mem 4000000 6000000 8000000"
    yield "sysctl - net/core/netdev_max_backlog 1000000"


def namespaces(network: Network, layout: Layout) -> Iterator[str]:
    hosts = {name: place for place, name in layout.hosts.items()}
    for name in layout.namespaces:
        yield f"namespace {name}"
        yield f"sysctl {name} net/ipv4/ip_forward 1"
        if name in hosts:
            yield from _host(name, network.routes[hosts[name][1]].tcp)


def _host(name: str, tcp: Tcp) -> Iterator[str]:
    values: dict[str, object] = {
        "rmem": _RECEIVE_BUFFER,
        "wmem": _SEND_BUFFER,
        "no_metrics_save": 1,
        "ecn": 3 if tcp.ecn == "accecn" else int(tcp.ecn),
        "timestamps": int(tcp.timestamps),
        # A window that is given is not raised again by the kernel.
        "moderate_rcvbuf": int(tcp.receive_buffer_bytes is None),
    }
    if not tcp.sack_compression:
        values["comp_sack_nr"] = 0
    if tcp.min_burst is not None:
        values["min_tso_segs"] = tcp.min_burst
    for key, value in values.items():
        yield f"sysctl {name} net/ipv4/tcp_{key} {value}"


def cables(network: Network, layout: Layout) -> Iterator[str]:
    hosts = {name: place for place, name in layout.hosts.items()}
    widest = max(mtu(route) for route in network.routes)
    for cable in layout.cables:
        ends = [hosts[name] for name in (cable.near, cable.far) if name in hosts]
        smallest = min((mtu(network.routes[number]) for _, number in ends), default=widest)
        yield f"link {cable.near} {cable.near_device} {cable.far} {cable.far_device} {smallest}"


def addresses(network: Network, layout: Layout) -> Iterator[str]:
    """Every host's address, on a device that leads to it or from it."""
    for number in range(len(network.routes)):
        for end, to_receiver in (("sender", False), ("receiver", True)):
            host = layout.hosts[end, number]
            device = next(
                device
                for cable in layout.cables
                for namespace, device in ((cable.near, cable.near_device), (cable.far, cable.far_device))
                if namespace == host
            )
            yield f"address {host} {device} {address(number, to_receiver)}"


def routes(network: Network, planner: Planner) -> Iterator[str]:
    for number, route in enumerate(network.routes):
        for to_receiver, way in ((True, route.forward), (False, route.reverse)):
            yield from _way(planner, number, route, way, to_receiver=to_receiver)


def _way(
    planner: Planner, number: int, route: Route, way: tuple[int, ...], *, to_receiver: bool
) -> Iterator[str]:
    """A line for every namespace on a way; hosts also learn how they send."""
    tcp = route.tcp
    hosts = set(planner.layout.hosts.values())
    says = f" initcwnd {tcp.initial_window}" if to_receiver else ""
    if not to_receiver and tcp.ack_every == 1:
        says = " quickack 1"
    for namespace, device in planner.hops(number, way, to_receiver):
        metrics = says if namespace in hosts else ""
        yield f"route {namespace} {address(number, to_receiver)} {device}{metrics}"


def reroutes(network: Network, planner: Planner) -> Iterator[str]:
    for number, route in enumerate(network.routes):
        for new in route.new_ways:
            for to_receiver, way in ((True, new.forward), (False, new.reverse)):
                if way is not None:
                    for line in _way(planner, number, route, way, to_receiver=to_receiver):
                        yield f"at {to_nanoseconds(new.at_s)} {line}"
