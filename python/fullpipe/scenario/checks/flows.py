"""Checks of flows: their times, their applications, and keys that do not apply to their topology."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.checks.routes import in_order, place_problems, reroute_problems
from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import MAX_FLOWS, Flow, flow_names
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.parts import Network, flow_context

if TYPE_CHECKING:
    from fullpipe.scenario.model.workloads.writers import Writer


MAX_OVERHEAD_BYTES = 1_000


def time_problems(scenario: ScenarioModel) -> Iterator[str]:
    duration_s = scenario.duration_s
    if scenario.warmup_s >= duration_s:
        yield f"warmup: {scenario.warmup_s:g} s leaves nothing of the duration, {duration_s:g} s"
    for i, flow in enumerate(scenario.flows):
        latest_s = flow.start_s + flow.start_jitter_s
        if latest_s >= duration_s:
            yield f"flows[{i}].start: a start at {latest_s:g} s is not before the end, {duration_s:g} s"
        if flow.stop_s is not None and flow.stop_s <= latest_s:
            yield f"flows[{i}].stop: {flow.stop_s:g} s is not after the start, {latest_s:g} s"


def flow_problems(scenario: ScenarioModel) -> Iterator[str]:
    total = sum(flow.count for flow in scenario.flows)
    if total > MAX_FLOWS:
        yield f"flows: {total} are too many; at most {MAX_FLOWS}"
        return
    yield from _of_streams(scenario.flows)
    places = scenario.places()
    for i, flow in enumerate(scenario.flows):
        tcp = scenario.tcp_of(flow)
        if "delayed_ack_timeout_s" in tcp.model_fields_set and tcp.ack_every is None:
            where = f"flows[{i}].tcp" if flow.tcp else "tcp"
            yield f"{where}.delayed_ack_timeout: only with ack_every, as in ack_every = 2"
        if tcp.overhead_bytes > MAX_OVERHEAD_BYTES:
            much = f"{tcp.overhead_bytes} B of headers, more than {MAX_OVERHEAD_BYTES} B"
            yield f"tcp.link_overhead: makes {much}"
        for key, size in (
            ("send_buffer", tcp.send_buffer_bytes),
            ("receive_buffer", tcp.receive_buffer_bytes),
        ):
            if size is not None and size < tcp.mss_bytes:
                yield f"tcp.{key}: {size} B is less than one segment, {tcp.mss_bytes} B"
        for key, first, most in (
            ("send_memory", tcp.send_memory_bytes, tcp.send_memory_most_bytes),
            ("receive_memory", tcp.receive_memory_bytes, tcp.receive_memory_most_bytes),
        ):
            if first and most and first > most:
                yield f"tcp.{key}_most: {most} B is less than {key}, {first} B"
            if not first and most and most < tcp.mss_bytes:
                yield f"tcp.{key}_most: {most} B is less than one segment, {tcp.mss_bytes} B"
            if first and first < tcp.mss_bytes:
                yield f"tcp.{key}: {first} B is less than one segment, {tcp.mss_bytes} B"
        paces = flow.application or ()
        if paces and flow.size_bytes is not None:
            yield f"flows[{i}].size: an application with a pace never ends; leave out size or application"
        yield from in_order(f"flows[{i}].application", [pace.at_s for pace in paces])
        for line in _of_workload(flow, tcp):
            yield f"flows[{i}].{line}"
        graph = scenario.topology
        in_topology = (
            _in_graph(scenario, graph, flow, places) if isinstance(graph, Graph) else _in_dumbbell(flow)
        )
        for line in in_topology:
            yield f"flows[{i}].{line}"


def _of_streams(flows: Sequence[Flow]) -> Iterator[str]:
    first: dict[str, int] = {}
    for i, flow in enumerate(flows):
        if flow.stream is not None and first.setdefault(flow.stream, i) != i:
            taken = f"is that of flows[{first[flow.stream]}]"
            yield f"flows[{i}].stream: {shown(flow.stream)} {taken}; choose another"


def _of_workload(flow: Flow, tcp: Tcp) -> Iterator[str]:
    """Yield mistakes of a flow with a workload: keys that the workload replaces, and a missing or useless
    `cca`."""
    workload = flow.workload
    if flow.datagrams is None and flow.cca is None:
        yield 'cca: missing, as in cca = "cubic"'
    if workload is None or workload.kind == "bulk":
        return
    if flow.datagrams is not None and flow.cca is not None:
        yield f"cca: {workload.kind} has no congestion control; leave it out"
    if flow.size_bytes is not None:
        if flow.is_of_transfers:
            yield f"size: {workload.kind} defines what is sent; leave it out"
        else:
            yield f'size: {workload.kind} has no end of its own; give it a stop, as in stop = "30 s"'
    if flow.application is not None:
        yield f"application: {workload.kind} defines when it sends; leave it out"
    # imported here, as most flows have no workload
    from fullpipe.scenario.model.workloads.writers import Writer

    if isinstance(workload, Writer):
        yield from _of_writer(workload, tcp)


def _of_writer(writer: Writer, tcp: Tcp) -> Iterator[str]:
    """Yield mistakes of a writer: each write must fit into the send buffer."""
    if tcp.send_buffer_bytes is None:
        if writer.when_full == "drop":
            yield 'workload.when_full: the send buffer is never full; set tcp.send_buffer, as in "1 MiB"'
    elif (writer.write_bytes or tcp.mss_bytes) > tcp.send_buffer_bytes:
        yield f"workload.write: never fits into the send buffer, {tcp.send_buffer_bytes} B; make it smaller"


def arrival_problems(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    """Yield mistakes of `flows`: too many transfers, and a load on a route without a rate."""
    if all(flow.workload is None for flow in scenario.flows):
        return
    # imported here, as most flows have no transfers
    from fullpipe.scenario.model.workloads.transfers import MAX_ARRIVALS

    names = flow_names(scenario.flows)
    routes = {routed.name: routed for routed in network.flows}
    for i, flow in enumerate(scenario.flows):
        if flow.workload is None:
            continue
        try:
            between_s = flow.workload.mean_interval_s(flow_context(routes[names[i][0]], network.hops))
        except ProblemsError as problems:
            yield from (f"flows[{i}].{line}" for line in problems.lines)
            continue
        if between_s is None:
            continue
        span_s = min(flow.stop_s or scenario.duration_s, scenario.duration_s) - flow.start_s
        if span_s / between_s > MAX_ARRIVALS:
            yield (
                f"flows[{i}].workload: {span_s / between_s:,.0f} arrivals are more than {MAX_ARRIVALS:,}; "
                "lengthen the interval, lower the load, or make transfers larger"
            )


def _in_dumbbell(flow: Flow) -> Iterator[str]:
    for key, value in (
        ("from", flow.source),
        ("to", flow.target),
        ("via", flow.via),
        ("reroutes", flow.reroutes),
        ("alternate", flow.alternate),
    ):
        if value:
            yield f'{key}: only with topology.kind = "graph"; in a dumbbell every flow crosses the bottleneck'


def _in_graph(scenario: ScenarioModel, graph: Graph, flow: Flow, places: Collection[str]) -> Iterator[str]:
    for key, value in (("direction", flow.direction), ("upload", flow.upload)):
        if value is not None:
            yield f'{key}: only with topology.kind = "dumbbell"; in a graph, use from and to'
    if flow.access is not None:
        yield 'access: only with topology.kind = "dumbbell"; in a graph, add a link'
    for key, node in (("from", flow.source), ("to", flow.target)):
        if node is None:
            yield f"{key}: missing; a flow in a graph needs it, as in {key} = {shown(graph.nodes[0])}"
        elif node not in graph.known_nodes:
            yield f"{key}: unknown node {shown(node)}{suggestion(node, graph.nodes[:20])}"
    yield from place_problems([("via", flow.via)], places)
    yield from reroute_problems(flow, places, scenario.duration_s)
    if flow.source is not None and flow.source == flow.target:
        yield f"to: {shown(flow.target)} is where the flow starts"
