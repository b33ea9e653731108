"""Lines of the guest's script that build the network: namespaces, devices, addresses and routes."""

from collections.abc import Iterable, Iterator

from fullpipe.engines.linux.layout.network import FlowLayout, Hop, NetworkLayout
from fullpipe.scenario.model.tcp import RECEIVE_MEMORY_BYTES, SEND_MEMORY_BYTES, Tcp

_LEAST_BYTES = 4_096
MOST_CAPTURED = 2_000_000
"""Maximum number of captured packets, after which the run ends."""
POINTS = ("sender", "receiver")
"""Ends of a connection that can capture packets. Rows of the same time are in this order."""
_MOST_BYTES = 134_217_728
"""Memory of a socket that never limits it."""


def kernel() -> Iterator[str]:
    """Yield settings of the whole kernel: limits of memory and queues that are never reached."""
    yield "sysctl - net/ipv4/tcp_mem 4000000 6000000 8000000"
    yield "sysctl - net/core/netdev_max_backlog 1000000"


def namespaces(network: NetworkLayout) -> Iterator[str]:
    """Yield all namespaces, with TCP options if they are hosts."""
    hosts = _options(network)
    for name in network.namespaces:
        yield f"namespace {name}"
        yield f"sysctl {name} net/ipv4/ip_forward 1"
        if name in hosts:
            yield from _host(name, hosts[name])


def _options(network: NetworkLayout) -> dict[str, Tcp]:
    """Return the TCP options of every host. All connections of a host have the same."""
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
        # The kernel does not tune a buffer whose size is given.
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
    """Yield all pairs of devices."""
    for cable in network.cables:
        yield f"link {' '.join(cable.near)} {' '.join(cable.far)} {cable.mtu_bytes}"


def addresses(network: NetworkLayout) -> Iterator[str]:
    """Yield the address of every host, on one of its devices."""
    for flow in network.flows:
        for host in (flow.sender, flow.receiver):
            yield f"address {' '.join(host.device)} {host.address}"


def routes(network: NetworkLayout) -> Iterator[str]:
    """Yield the routes at the start of the run."""
    for flow in network.flows:
        yield from _routes(flow, flow.hops)


def captures(network: NetworkLayout, points: Iterable[str]) -> Iterator[str]:
    """Yield the hosts whose packets are captured: senders, receivers, or both."""
    for point in points:
        for flow in network.flows:
            if not flow.routed.flow.datagrams:
                host = flow.sender if point == "sender" else flow.receiver
                yield f"capture {point} {host.namespace} {MOST_CAPTURED}"


def reroutes(network: NetworkLayout) -> Iterator[str]:
    """Yield the routes that replace others during the run."""
    for flow in network.flows:
        for reroute in flow.reroutes:
            for line in _routes(flow, reroute.hops):
                yield f"at {reroute.at_ns} {line}"


def _routes(flow: FlowLayout, hops: Iterable[Hop]) -> Iterator[str]:
    """Yield a line for every namespace on a route, with settings for sending if it is a host."""
    for hop in hops:
        metrics = _metrics(flow.routed.tcp, hop) if hop.source else ""
        yield f"route {hop.device.namespace} {hop.address} {hop.device.name} {hop.source or '-'}{metrics}"


def _metrics(tcp: Tcp, hop: Hop) -> str:
    if hop.to_receiver:
        return f" initcwnd {tcp.initial_window}"
    return " quickack 1" if tcp.ack_every == 1 else ""
