"""Lines of the guest's script that build the network: namespaces, devices, addresses and routes."""

from collections.abc import Iterable, Iterator

from fullpipe.engines.linux.layout.network import FlowLayout, Hop, NetworkLayout
from fullpipe.scenario.model.tcp import RECEIVE_MEMORY_BYTES, SEND_MEMORY_BYTES, Tcp

_LEAST_BYTES = 4_096
MOST_CAPTURED = 2_000_000
"""Packets of a run; then it ends."""
POINTS = ("sender", "receiver")
"""Ends of a connection that can capture packets; rows of the same time are in this order."""
_MOST_BYTES = 134_217_728
"""Memory of a socket that is never in the way."""


def kernel() -> Iterator[str]:
    """What belongs to the kernel as a whole: memory and queues that are never in the way."""
    yield "sysctl - net/ipv4/tcp_mem 4000000 6000000 8000000"
    yield "sysctl - net/core/netdev_max_backlog 1000000"


def namespaces(network: NetworkLayout) -> Iterator[str]:
    """Every namespace, with the options of TCP if it is a host."""
    hosts = _options(network)
    for name in network.namespaces:
        yield f"namespace {name}"
        yield f"sysctl {name} net/ipv4/ip_forward 1"
        if name in hosts:
            yield from _host(name, hosts[name])


def _options(network: NetworkLayout) -> dict[str, Tcp]:
    """The options of TCP of every host: those of its connections, if it has some, which have all the same."""
    found: dict[str, Tcp] = {}
    for flow in sorted(network.flows, key=lambda flow: flow.routed.flow.datagrams is not None):
        for host in (flow.sender, flow.receiver):
            found.setdefault(host.namespace, flow.routed.tcp)
    return found


def _host(name: str, tcp: Tcp) -> Iterator[str]:
    values: dict[str, object] = {
        "rmem": _memory(tcp.receive_memory_bytes, tcp.receive_memory_most_bytes, RECEIVE_MEMORY_BYTES),
        "wmem": _memory(tcp.send_memory_bytes, tcp.send_memory_most_bytes, SEND_MEMORY_BYTES),
        "no_metrics_save": 1,
        "ecn": 3 if tcp.ecn == "accecn" else int(tcp.ecn),
        "timestamps": int(tcp.timestamps),
        # A window that is given is not raised again by the kernel.
        "moderate_rcvbuf": int(tcp.receive_buffer_bytes is None),
    }
    if not tcp.sack_compression:
        values["comp_sack_nr"] = 0
    if tcp.min_rto_s is not None:
        values["rto_min_us"] = round(tcp.min_rto_s * 1e6)
    if tcp.tail_loss_probe is False:
        values["early_retrans"] = 0
    if tcp.min_burst is not None:
        values["min_tso_segs"] = tcp.min_burst
    if tcp.accecn_option is False:
        values["ecn_option"] = 0
    for key, value in values.items():
        yield f"sysctl {name} net/ipv4/tcp_{key} {value}"


def _memory(first: int | None, most: int | None, otherwise: int) -> str:
    most = most or _MOST_BYTES
    return f"{_LEAST_BYTES} {first or min(otherwise, most)} {most}"


def cables(network: NetworkLayout) -> Iterator[str]:
    """Every pair of devices."""
    for cable in network.cables:
        yield f"link {' '.join(cable.near)} {' '.join(cable.far)} {cable.mtu_bytes}"


def addresses(network: NetworkLayout) -> Iterator[str]:
    """Every host's address, on a device that leads to it or from it."""
    for flow in network.flows:
        for host in (flow.sender, flow.receiver):
            yield f"address {' '.join(host.device)} {host.address}"


def routes(network: NetworkLayout) -> Iterator[str]:
    """The routes with which the run begins."""
    for flow in network.flows:
        yield from _routes(flow, flow.hops)


def captures(network: NetworkLayout, points: Iterable[str]) -> Iterator[str]:
    """Every host of a connection whose packets are captured: the senders, the receivers, or both."""
    for point in points:
        for flow in network.flows:
            if not flow.routed.flow.datagrams:
                host = flow.sender if point == "sender" else flow.receiver
                yield f"capture {point} {host.namespace} {MOST_CAPTURED}"


def reroutes(network: NetworkLayout) -> Iterator[str]:
    """Those that replace them later."""
    for flow in network.flows:
        for reroute in flow.reroutes:
            for line in _routes(flow, reroute.hops):
                yield f"at {reroute.at_ns} {line}"


def _routes(flow: FlowLayout, hops: Iterable[Hop]) -> Iterator[str]:
    """A line for every namespace on a route; hosts also learn how they send."""
    for hop in hops:
        metrics = _metrics(flow.routed.tcp, hop) if hop.source else ""
        yield f"route {hop.device.namespace} {hop.address} {hop.device.name} {hop.source or '-'}{metrics}"


def _metrics(tcp: Tcp, hop: Hop) -> str:
    if hop.to_receiver:
        return f" initcwnd {tcp.initial_window}"
    return " quickack 1" if tcp.ack_every == 1 else ""
