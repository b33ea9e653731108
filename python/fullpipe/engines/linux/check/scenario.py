"""Checks of scenarios: properties that the kernel, as used here, cannot reproduce exactly."""

from collections.abc import Iterator

from fullpipe.engines.base import Problem
from fullpipe.engines.lacks import NATIVE, lacking
from fullpipe.engines.linux.check import applications, links
from fullpipe.engines.linux.check.capabilities import capabilities, remedy
from fullpipe.engines.linux.check.unsupported import unknown
from fullpipe.engines.linux.install.installed import Installed
from fullpipe.engines.linux.layout.sizes import crossing, has_accecn, routes_of
from fullpipe.engines.linux.script.network_lines import POINTS
from fullpipe.scenario import Network, RoutedFlow, Scenario
from fullpipe.scenario.model.tcp import Tcp

_MOST_FLOWS = 2_000
_LEAST_PAYLOAD_BYTES = 8
_TCP = {
    *(
        "mss_bytes",
        "timestamps",
        "link_overhead_bytes",
        "ack_every",
        "delayed_ack_timeout_s",
        "pacing",
        "ecn",
    ),
    *("sack_compression", "initial_window", "send_buffer_bytes", "receive_buffer_bytes", "max_burst_bytes"),
    *("host", "send_memory_bytes", "send_memory_most_bytes"),
    *("receive_memory_bytes", "receive_memory_most_bytes"),
    *("min_burst", "gro_s", "accecn_option", "loss_detection", "min_rto_s", "tail_loss_probe"),
}
_FLOW = {
    *("name", "cca", "count", "start_s", "start_jitter_s", "stop_s", "size_bytes", "application", "workload"),
    *("dscp", "hosts", "direction", "access", "source", "target", "via", "reroutes", "alternate", "tcp"),
}
_RECORD = {"interval_s", "variables", "packets"}
"""Keys of a scenario that this engine supports. All others are refused, so that new keys are never silently
ignored."""


def problems(scenario: Scenario, network: Network, installed: Installed) -> Iterator[Problem]:
    """Return all reasons why a scenario cannot be run, with their places in the scenario."""
    yield from lacking(scenario, network, capabilities(installed), f"Linux {installed.release}", remedy)
    if len(network.flows) > _MOST_FLOWS:
        yield Problem("flows", f"{len(network.flows)} are more than the guest's {_MOST_FLOWS:,}; {NATIVE}")
    yield from _of_capture(scenario, network)
    if scenario.record.variables:
        text = "the kernel does not report variables of its algorithms; leave it out"
        yield Problem("record.variables", f"{text}, or {NATIVE}")
    yield from unknown(scenario.record, _RECORD, "record")
    for number, flow in enumerate(scenario.flows):
        path = f"flows[{number}]"
        yield from unknown(flow, _FLOW, path)
        if flow.datagrams and flow.datagrams.payload_bytes < _LEAST_PAYLOAD_BYTES:
            text = f"a datagram needs {_LEAST_PAYLOAD_BYTES} B of payload for its number in the guest"
            yield Problem(f"{path}.workload.size", text)
        if not flow.cca:
            continue
        if flow.cca.params:
            text = f"{', '.join(flow.cca.params)}: parameters cannot be set in the kernel; leave them out"
            yield Problem(f"{path}.cca.params", f"{text}, or {NATIVE}")
        where = f"{path}.tcp" if flow.tcp else "tcp"
        yield from _of_tcp(where, scenario.tcp_of(flow), flow.cca.kind, installed)
        yield from applications.problems(path, flow, scenario)
    for link, crossed_by in zip(network.links, crossing(network), strict=True):
        yield from links.problems(link, crossed_by)
    for routed in network.flows if not network.media else ():
        yield from _of_routes(routed, network)


def _of_capture(scenario: Scenario, network: Network) -> Iterator[Problem]:
    for i, point in enumerate(scenario.record.packets or ()):
        if point not in POINTS:
            text = "the guest captures at hosts only; use sender and receiver"
            yield Problem(f"record.packets[{i}]", f"{text}, or {NATIVE}")
    if scenario.record.packets and any(link.nic_of is not None for link in network.links):
        text = "the guest captures packets of a host with an interface after its queue"
        yield Problem("record.packets", f"{text}; leave out its nic, or {NATIVE}")


def _of_routes(routed: RoutedFlow, network: Network) -> Iterator[Problem]:
    """Check routes. A namespace has one route to an address, so a route cannot pass a node twice."""
    for to_receiver in (True, False):
        for route in routes_of(routed, to_receiver=to_receiver):
            nodes = [network.links[route[0]].source, *(network.links[link].target for link in route)]
            twice = next((node for n, node in enumerate(nodes) if node in nodes[:n]), None)
            if twice is not None:
                text = f"a route of {routed.name} passes {twice} twice, but a node has one route in the guest"
                yield Problem("flows", f"{text}; {NATIVE}")


def _of_tcp(path: str, tcp: Tcp, kind: str, installed: Installed) -> Iterator[Problem]:
    yield from unknown(tcp, _TCP, path)
    if tcp.ack_every not in (None, 1):
        yield Problem(f"{path}.ack_every", f"Linux has its own delayed ACK, or 1; {NATIVE}")
    if tcp.send_buffer_bytes is not None:
        text = "Linux counts its own overhead in the send buffer, so a payload cannot be set"
        yield Problem(f"{path}.send_buffer", f"{text}; leave it out, or {NATIVE}")
    if tcp.loss_detection == "dupack":
        yield Problem(f"{path}.loss_detection", f"Linux has only RACK since 6.17; {NATIVE}")
    if tcp.gro_s is not None:
        yield Problem(f"{path}.gro", f"the guest's devices do not collect packets; {NATIVE}")
    if tcp.min_burst is not None and kind.startswith(("bbr", "prague")):
        yield Problem(f"{path}.min_burst", f"{kind} sets it by itself in the kernel; leave it out")
    if has_accecn(tcp, kind) and not installed.accecn:
        yield Problem(f"{path}.ecn", f"Linux {installed.release} has no AccECN, which 7.0 has; {NATIVE}")
