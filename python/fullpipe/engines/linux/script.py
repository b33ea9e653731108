"""Writes the script that the guest's program follows."""

from array import array
from collections.abc import Collection, Iterable, Iterator

from fullpipe.engines.linux.install import installed
from fullpipe.engines.linux.layout.network import Device, FlowLayout, Hop, NetworkLayout
from fullpipe.engines.linux.tc.gates import FIRST_CLASS
from fullpipe.engines.linux.tc.qdisc import ETHERNET_BYTES, OUTER, ROOT, TcObject, fq
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import RECEIVE_MEMORY_BYTES, SEND_MEMORY_BYTES, Tcp
from fullpipe.scenario.model.workloads.datagrams import Datagrams
from fullpipe.scenario.quantities import to_nanoseconds

# Lines of the guest's script that start flows.


def flow_lines(number: int, flow: FlowLayout, known_ccas: Collection[str]) -> Iterator[str]:
    """Yield the script's lines for the flow with the index `number`."""
    described = flow.routed.flow
    if described.datagrams:
        yield _datagrams(number, flow, described.datagrams)
        return
    yield _connection(number, flow, known_ccas)
    for at_ns, rate_bps in flow.paces:
        yield f"pace {at_ns} {rate_bps}"


def departures(network: NetworkLayout) -> dict[str, bytes]:
    """Return files for the guest by name, with the datagrams' departure times in ns as 64-bit integers."""
    return {
        _departures_file(n): array("q", flow.departures_ns).tobytes()
        for n, flow in enumerate(network.flows)
        if flow.routed.flow.datagrams
    }


def _departures_file(number: int) -> str:
    return f"departures.{number}"


def _datagrams(number: int, flow: FlowLayout, workload: Datagrams) -> str:
    words = (
        number,
        flow.sender.namespace,
        flow.receiver.namespace,
        flow.receiver.address,
        workload.protocol,
        workload.payload_bytes,
        int(workload.echo),
        4 * (flow.routed.flow.dscp or 0),
        _departures_file(number),
    )
    return "datagrams " + " ".join(str(word) for word in words)


def _connection(number: int, flow: FlowLayout, known_ccas: Collection[str]) -> str:
    described, tcp = flow.routed.flow, flow.routed.tcp
    kind = described.described
    cca = installed.in_kernel(kind, known_ccas) or kind
    words = (
        number,
        flow.sender.namespace,
        flow.receiver.namespace,
        flow.receiver.address,
        cca,
        cca if kind in installed.ANSWERED else "-",
        flow.start_ns,
        -1 if described.stop_s is None else to_nanoseconds(described.stop_s),
        -1 if described.size_bytes is None else described.size_bytes,
        tcp.mss_bytes,
        tcp.receive_buffer_bytes or 0,
        int(tcp.pacing == "always"),
        4 * (described.dscp or 0),
    )
    return "flow " + " ".join(str(word) for word in words)


# Lines of the guest's script that build the network: namespaces, devices, addresses and routes.


_LEAST_BYTES = 4_096
MOST_CAPTURED = 2_000_000
"""Maximum number of captured packets of all hosts together. With more packets, the run fails."""
POINTS = ("sender", "receiver")
"""Ends of a connection at which the guest can capture packets. Packets captured at equal times are sorted in
this order of points."""
_MOST_BYTES = 134_217_728
"""Maximum socket memory in bytes if a scenario sets none: too large to limit a flow."""


def kernel() -> Iterator[str]:
    """Yield settings of the whole kernel: limits of TCP memory and backlog that no run reaches."""
    yield "sysctl - net/ipv4/tcp_mem 4000000 6000000 8000000"
    yield "sysctl - net/core/netdev_max_backlog 1000000"


def namespaces(network: NetworkLayout) -> Iterator[str]:
    """Yield the lines for all namespaces, with the TCP options of the namespaces that are hosts."""
    hosts = _options(network)
    for name in network.namespaces:
        yield f"namespace {name}"
        yield f"sysctl {name} net/ipv4/ip_forward 1"
        if name in hosts:
            yield from _host(name, hosts[name])


def _options(network: NetworkLayout) -> dict[str, Tcp]:
    """Return the TCP options of every host. All connections of a host have the same options."""
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
        # The kernel tunes the receive buffer unless the scenario sets its size.
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
    # In one kernel, a packet keeps the hash of its socket, by which queues find its flow. After a timeout, a
    # socket gets another hash (`sk_rethink_txhash`). A router computes the hash from the packet's headers.
    yield f"sysctl? {name} net/core/txrehash 0"


def _memory(first: int | None, most: int | None, otherwise: int) -> str:
    most = most or _MOST_BYTES
    return f"{_LEAST_BYTES} {first or min(otherwise, most)} {most}"


def cables(network: NetworkLayout) -> Iterator[str]:
    """Yield a line for every pair of connected devices."""
    for cable in network.cables:
        yield f"link {' '.join(cable.near)} {' '.join(cable.far)} {cable.mtu_bytes}"


def addresses(network: NetworkLayout) -> Iterator[str]:
    """Yield a line for the address of every host, which is on one of the host's devices."""
    for flow in network.flows:
        for host in (flow.sender, flow.receiver):
            yield f"address {' '.join(host.device)} {host.address}"


def routes(network: NetworkLayout) -> Iterator[str]:
    """Yield the lines for routes at the start of the run."""
    for flow in network.flows:
        yield from _routes(flow, flow.hops)


def captures(network: NetworkLayout, points: Iterable[str]) -> Iterator[str]:
    """Yield a line for every host at which packets are captured. `points` has "sender", "receiver" or
    both."""
    for point in points:
        for flow in network.flows:
            if not flow.routed.flow.datagrams:
                host = flow.sender if point == "sender" else flow.receiver
                yield f"capture {point} {host.namespace} {MOST_CAPTURED}"


def reroutes(network: NetworkLayout) -> Iterator[str]:
    """Yield the lines for routes that replace earlier routes during the run."""
    for flow in network.flows:
        for reroute in flow.reroutes:
            for line in _routes(flow, reroute.hops):
                yield f"at {reroute.at_ns} {line}"


def _routes(flow: FlowLayout, hops: Iterable[Hop]) -> Iterator[str]:
    """Yield a line for every namespace on a route. The sending host's line also has the initial window or
    quick ACKs."""
    for hop in hops:
        metrics = _metrics(flow.routed.tcp, hop) if hop.source else ""
        yield f"route {hop.device.namespace} {hop.address} {hop.device.name} {hop.source or '-'}{metrics}"


def _metrics(tcp: Tcp, hop: Hop) -> str:
    if hop.to_receiver:
        return f" initcwnd {tcp.initial_window}"
    return " quickack 1" if tcp.ack_every == 1 else ""


# Lines of the guest's script that set and change queue disciplines, classes and filters.


def added(network: NetworkLayout) -> Iterator[str]:
    """Yield the lines for qdiscs, classes and filters on every device at the start of the run."""
    for link in network.links:
        for stage in link.stages:
            for placed in stage.tree.objects:
                yield _line("add", stage.device, placed, link.overhead_bytes)
        for placed in link.arrival_filter:
            yield _line("add", link.arrival, placed)
    for flow in network.flows:
        if not flow.routed.flow.datagrams:
            yield from _sender(flow)


def changed(network: NetworkLayout) -> Iterator[str]:
    """Yield the lines for changes of qdiscs, classes and filters during the run, and for gate packets."""
    for link in network.links:
        for change in link.changes:
            line = _line("change", change.device, change.object, link.overhead_bytes)
            yield f"at {change.at_ns} {line}"
        for gate in link.gate_packets:
            sent, device = gate.packets, " ".join(gate.device)
            size = sent.size_bytes - link.overhead_bytes + ETHERNET_BYTES
            yield f"at {sent.at_ns} frames {device} {FIRST_CLASS} {size} {sent.count}"


def watched(network: NetworkLayout) -> Iterator[str]:
    """Yield a line for every device whose counters the guest records. The guest refers to a device by the
    index of its line."""
    for number, seen in enumerate(network.watched):
        yield f"watch {number} {' '.join(seen.device)}"


def _sender(flow: FlowLayout) -> Iterator[str]:
    """Yield the lines for a sending host: its maximum burst, and the qdisc fq if fq paces its packets."""
    tcp = flow.routed.tcp
    for device in flow.sender.sends_by:
        if tcp.max_burst_bytes != Tcp().max_burst_bytes:
            yield f"bursts {' '.join(device)} {max(1, tcp.max_burst_bytes // tcp.mss_bytes)}"
        if tcp.pacing == "fq":
            yield _line("add", device, TcObject(ROOT, OUTER, fq()))


def _line(verb: str, device: Device, placed: TcObject, link_overhead_bytes: int = ETHERNET_BYTES) -> str:
    """Return the line for a qdisc, class or filter. Only the root qdisc has the link overhead, which also
    applies to all objects below the root."""
    options = placed.qdisc.written(link_overhead_bytes if placed.parent == ROOT else ETHERNET_BYTES)
    return f"{placed.command} {' '.join(device)} {verb} {placed.parent} {placed.handle} {options}"


# The whole script of the guest. guest/main.c describes the commands of the script.


_SAMPLE_NS = 10_000_000
"""Maximum interval between samples of a flow, so that the samples miss few values of the RTT."""
_TOLD = 200
"""Number of progress reports of the guest during a run."""


def script(scenario: Scenario, network: NetworkLayout, known_ccas: Collection[str]) -> str:
    """Return the script of a scenario.

    Args:
        scenario: The scenario.
        network: Layout of the scenario in the guest.
        known_ccas: The congestion control algorithms of the kernel.
    """
    lines = [
        *kernel(),
        *namespaces(network),
        *cables(network),
        *addresses(network),
        *routes(network),
        *captures(network, scenario.record.packets or ()),
        *added(network),
        *watched(network),
        *_times(scenario),
        *(line for n, flow in enumerate(network.flows) for line in flow_lines(n, flow, known_ccas)),
        *changed(network),
        *reroutes(network),
    ]
    return "\n".join(lines) + "\n"


def sample_ns(interval_ns: int) -> int:
    """Return the interval between samples of flows: at most 10 ms, and a divisor of `interval_ns`, the
    interval of rows in the tables."""
    return interval_ns // -(-interval_ns // _SAMPLE_NS) if interval_ns else _SAMPLE_NS


def _times(scenario: Scenario) -> Iterator[str]:
    duration_ns = to_nanoseconds(scenario.duration_s)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    yield f"sample {sample_ns(interval_ns)} {interval_ns or duration_ns} {max(1, duration_ns // _TOLD)}"
    yield f"end {duration_ns}"
    for mark_ns in sorted({to_nanoseconds(scenario.warmup_s), duration_ns}):
        yield f"at {mark_ns} mark"
