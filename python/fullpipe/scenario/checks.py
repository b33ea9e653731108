"""What must hold between the parts of a scenario. Each function returns one line for every mistake."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from math import prod
from typing import TYPE_CHECKING

from fullpipe.errors import ScenarioError, suggestion
from fullpipe.scenario import paths
from fullpipe.scenario.changing import State, states_of
from fullpipe.scenario.flows import MAX_FLOWS, Flow, flow_names
from fullpipe.scenario.limits import MAX_WORK, links_of, too_many_rows, too_many_steps, too_many_ways, work_of
from fullpipe.scenario.model import ProblemsError
from fullpipe.scenario.network import Link, Network, Route, resolve
from fullpipe.scenario.offered import MAX_ARRIVALS, interval_s
from fullpipe.scenario.problems import MOST_LINES, first_lines
from fullpipe.scenario.quantities import shown
from fullpipe.scenario.tcp import Tcp
from fullpipe.scenario.topology import Bottleneck, Dumbbell, Graph
from fullpipe.scenario.transfers import Poisson, Transfers
from fullpipe.scenario.ways import Moving
from fullpipe.scenario.workloads import Bulk
from fullpipe.scenario.writers import Writer

if TYPE_CHECKING:
    from fullpipe.scenario.scenario import Scenario

MAX_POINTS = 10_000
MAX_OVERHEAD_BYTES = 1_000
MAX_TURNS = 10_000
MAX_SEED = 2**63 - 1


def problems_of(scenario: "Scenario") -> list[str]:
    """Everything that is wrong between the parts; each part is right by itself."""
    lines = [
        *_of_time(scenario),
        *_of_flows(scenario),
        *_of_moved_links(scenario),
        *_of_limits(scenario.topology),
        *too_many_steps(scenario),
        *too_many_ways(scenario),
    ]
    if lines:
        return first_lines(lines, len(lines))
    try:
        # Flows of an entry are alike but for their names, which matter where packets are captured.
        network = resolve(scenario, each=None if scenario.record.packets else 1)
    except ProblemsError as problems:
        return list(problems.lines)
    lines = [
        *_of_names(scenario, network),
        *_of_routes(network),
        *_of_changes(scenario, network),
        *_of_arrivals(scenario, network),
        *_of_capture(scenario, network),
        *too_many_rows(scenario, network),
    ]
    return lines or list(islice(_of_sweep(scenario), MOST_LINES))


def check_seed(seed: int) -> None:
    """Refuse a seed that no engine takes. Raises ScenarioError."""
    if not 0 <= seed <= MAX_SEED:
        raise ScenarioError([f"seed: {seed} is out of range; from 0 to {MAX_SEED}"])


def _of_time(scenario: "Scenario") -> Iterator[str]:
    duration_s = scenario.duration_s
    if scenario.warmup_s >= duration_s:
        yield f"warmup: {scenario.warmup_s:g} s leaves nothing of the duration, {duration_s:g} s"
    for i, flow in enumerate(scenario.flows):
        latest_s = flow.start_s + flow.start_jitter_s
        if latest_s >= duration_s:
            yield f"flows[{i}].start: a start at {latest_s:g} s is not before the end, {duration_s:g} s"
        if flow.stop_s is not None and flow.stop_s <= latest_s:
            yield f"flows[{i}].stop: {flow.stop_s:g} s is not after the start, {latest_s:g} s"


def _of_flows(scenario: "Scenario") -> Iterator[str]:
    total = sum(flow.count for flow in scenario.flows)
    if total > MAX_FLOWS:
        yield f"flows: {total} are too many; at most {MAX_FLOWS}"
        return
    yield from _of_streams(scenario.flows)
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
        paces = flow.application or ()
        if paces and flow.size_bytes is not None:
            yield f"flows[{i}].size: an application with a pace never ends; give one of the two"
        yield from _in_order(f"flows[{i}].application", [pace.at_s for pace in paces])
        for line in _of_workload(flow, tcp):
            yield f"flows[{i}].{line}"
        check = _in_graph if isinstance(scenario.topology, Graph) else _in_dumbbell
        for line in check(scenario, flow):
            yield f"flows[{i}].{line}"


def _of_streams(flows: Sequence[Flow]) -> Iterator[str]:
    first: dict[str, int] = {}
    for i, flow in enumerate(flows):
        if flow.stream is not None and first.setdefault(flow.stream, i) != i:
            taken = f"is that of flows[{first[flow.stream]}]"
            yield f"flows[{i}].stream: {shown(flow.stream)} {taken}; choose another"


def _of_workload(flow: Flow, tcp: Tcp) -> Iterator[str]:
    """A workload says itself what is sent and when. Only datagrams do without congestion control."""
    workload = flow.workload
    if flow.datagrams is None and flow.cca is None:
        yield 'cca: missing, as in cca = "cubic"'
    if workload is None or isinstance(workload, Bulk):
        return
    if flow.datagrams is not None and flow.cca is not None:
        yield f"cca: {workload.kind} has no congestion control; leave it out"
    if flow.size_bytes is not None:
        if isinstance(workload, Transfers):
            yield f"size: {workload.kind} says itself what is sent; leave it out"
        else:
            yield f'size: {workload.kind} has no end of its own; give it a stop, as in stop = "30 s"'
    if flow.application is not None:
        yield f"application: {workload.kind} says itself when it sends; leave it out"
    if isinstance(workload, Writer):
        yield from _of_writer(workload, tcp)


def _of_writer(writer: Writer, tcp: Tcp) -> Iterator[str]:
    """What is written must fit into the send buffer."""
    if tcp.send_buffer_bytes is None:
        if writer.when_full == "drop":
            yield 'workload.when_full: nothing is ever full; set tcp.send_buffer, as in "1 MiB"'
    elif (writer.write_bytes or tcp.mss_bytes) > tcp.send_buffer_bytes:
        yield f"workload.write: never fits into the send buffer, {tcp.send_buffer_bytes} B; make it smaller"


def _of_arrivals(scenario: "Scenario", network: Network) -> Iterator[str]:
    """Every entry of `flows` whose transfers would come too often, or whose load is relative to nothing."""
    names = flow_names(scenario.flows)
    routes = {route.name: route for route in network.routes}
    for i, flow in enumerate(scenario.flows):
        if not isinstance(flow.workload, Poisson):
            continue
        try:
            between_s = interval_s(flow.workload, routes[names[i][0]], network.links)
        except ProblemsError as problems:
            yield from (f"flows[{i}].{line}" for line in problems.lines)
            continue
        span_s = min(flow.stop_s or scenario.duration_s, scenario.duration_s) - flow.start_s
        if span_s / between_s > MAX_ARRIVALS:
            yield (
                f"flows[{i}].workload: {span_s / between_s:,.0f} arrivals are more than {MAX_ARRIVALS:,}; "
                "let them come less often, or make them larger"
            )


def _in_order(path: str, times_s: Sequence[float]) -> Iterator[str]:
    for n, (before_s, at_s) in enumerate(pairwise(times_s), start=1):
        if at_s < before_s:
            yield f"{path}[{n}].at: {at_s:g} s is before {before_s:g} s, the entry above it"


def _of_changes(scenario: "Scenario", network: Network) -> Iterator[str]:
    lines = [
        line
        for link in network.links
        if link.changes or link.steps or link.trace
        for line in (
            *_in_order(f"{link.where}.changes", [change.at_s for change in link.changes]),
            *_without_end(link),
            *_too_short(link, scenario.duration_s),
        )
    ]
    yield from dict.fromkeys(lines)


def _too_short(link: Link, duration_s: float) -> Iterator[str]:
    if link.trace is None or link.trace.repeat or link.trace.deliveries is None:
        return
    left_s = link.trace.deliveries.period_s - link.trace.offset_s
    if left_s < duration_s:
        yield (
            f"{link.where}.trace: is over after {left_s:g} s, before the run, {duration_s:g} s, so nothing "
            "is sent any more; let it repeat, or shorten the run"
        )


def _without_end(link: Link) -> Iterator[str]:
    rates = [values["rate_bps"] for _, values in link.steps if "rate_bps" in values]
    if rates and rates[-1] == 0:
        yield (
            f"{link.where}: its rate ends at 0, so that nothing is ever sent again; add a change that ends "
            "the outage, after the end of the run if you like"
        )


def _in_dumbbell(_: "Scenario", flow: Flow) -> Iterator[str]:
    for key, value in (
        ("from", flow.source),
        ("to", flow.target),
        ("via", flow.via),
        ("reroutes", flow.reroutes),
        ("alternate", flow.alternate),
    ):
        if value:
            yield f'{key}: only with topology.kind = "graph"; in a dumbbell every flow crosses the bottleneck'


def _in_graph(scenario: "Scenario", flow: Flow) -> Iterator[str]:
    graph = scenario.topology
    if not isinstance(graph, Graph):
        return
    if flow.direction is not None:
        yield 'direction: only with topology.kind = "dumbbell"; in a graph, from and to say it'
    if flow.access is not None:
        yield 'access: only with topology.kind = "dumbbell"; in a graph it is a link'
    for key, node in (("from", flow.source), ("to", flow.target)):
        if node is None:
            yield f"{key}: missing; a flow in a graph needs it, as in {key} = {shown(graph.nodes[0])}"
        elif node not in graph.known_nodes:
            yield f"{key}: unknown node {shown(node)}{suggestion(node, graph.nodes[:20])}"
    yield from _of_places([("via", flow.via)], graph)
    yield from _of_ways(flow, graph, scenario.duration_s)
    if flow.source is not None and flow.source == flow.target:
        yield f"to: {shown(flow.target)} is where the flow starts"


def _of_moved_links(scenario: "Scenario") -> Iterator[str]:
    graph = scenario.topology
    if not isinstance(graph, Graph):
        return
    for i, link in enumerate(graph.links):
        for line in _of_ways(link, graph, scenario.duration_s):
            yield f"topology.links[{i}].{line}"


def _of_limits(topology: Dumbbell | Graph) -> Iterator[str]:
    """A limit can only become another of its kind, as with `tc qdisc change`."""
    for where, link in links_of(topology):
        if link.queue is None:
            continue
        units = link.queue.limit_units
        for place, state in _states(link):
            for unit, limit in (("packets", state.packets), ("bytes", state.limit_bytes)):
                if limit is not None and unit not in units:
                    what = f"the limit of this {link.queue.kind} is in {units[0]}"
                    yield f"{where}.{place}.{unit}: {what}; write {units[0]}"


def _states(link: Bottleneck) -> Iterator[tuple[str, State]]:
    """What a link becomes in its changes and shapes, each with its place."""
    yield from ((f"changes[{i}]", change) for i, change in enumerate(link.changes or ()))
    for i, shape in enumerate(link.shapes or ()):
        yield from ((f"shapes[{i}].{place}", state) for place, state in states_of(shape))


def _of_ways(moving: Moving, graph: Graph, duration_s: float) -> Iterator[str]:
    turns = moving.alternate.vias if moving.alternate else ()
    ways = [
        *((f"reroutes[{i}].via", reroute.via) for i, reroute in enumerate(moving.reroutes or ())),
        *((f"alternate.via[{i}]", via) for i, via in enumerate(turns)),
    ]
    yield from _of_places(ways, graph)
    if moving.reroutes and moving.alternate:
        yield "alternate: there are reroutes as well; leave out one of them"
    times = [reroute.at_s for reroute in moving.reroutes or ()]
    if times != sorted(times):
        yield "reroutes: not in the order of time; sort them by at"
    made = duration_s / moving.alternate.every_s if moving.alternate else 0
    if made > MAX_TURNS:
        yield f"alternate.every: makes {made:,.0f} changes, more than {MAX_TURNS:,}; lengthen it"


def _of_places(ways: Iterable[tuple[str, Sequence[str]]], graph: Graph) -> Iterator[str]:
    places = graph.places
    for key, via in ways:
        for place in via:
            if place not in places:
                yield f"{key}: unknown node or link {shown(place)}{suggestion(place, islice(places, 20))}"


def _of_names(scenario: "Scenario", network: Network) -> Iterator[str]:
    for what, names in (
        ("flows", chain.from_iterable(flow_names(scenario.flows))),
        ("topology.links", (link.name for link in network.links)),
    ):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            yield f"{what}: the name {shown(twice[0])} stands for more than one; give each a name of its own"


def _of_routes(network: Network) -> Iterator[str]:
    checked = None
    for route in network.routes:
        if route.flow is checked:
            continue  # flows of one entry have ways of the same kind
        checked = route.flow
        if network.base_rtt_s(route) == 0:
            yield f"flows: the round trip of {shown(route.name)} takes no time; give one of its links a delay"
            return
        ways = [
            route.forward,
            route.reverse,
            *(w for new in route.new_ways for w in (new.forward, new.reverse) if w),
        ]
        if any(len(set(way)) < len(way) for way in ways):
            yield f"flows: {shown(route.name)} would cross a link twice; change its via"
            return
        if _is_boundless(network, route):
            yield f"flows: nothing limits {shown(route.name)}; give a link on its way a rate, or it a size"
            return


def _is_boundless(network: Network, route: Route) -> bool:
    """Whether a flow could double its rate for ever."""
    if route.flow.datagrams or isinstance(route.flow.workload, Transfers):
        return False
    links = [network.links[i] for i in route.forward]
    on_the_way = any(link.limit_bps is not None or link.loss is not None for link in links)
    buffers = (route.tcp.send_buffer_bytes, route.tcp.receive_buffer_bytes)
    return not on_the_way and route.flow.size_bytes is None and buffers == (None, None)


def _of_capture(scenario: "Scenario", network: Network) -> Iterator[str]:
    if scenario.record.variables and not scenario.record.interval_s:
        yield 'record.variables: they are sampled; give an interval, as in interval = "100 ms"'
    points = dict.fromkeys(("sender", "receiver", *(link.name for link in network.links)))
    for i, point in enumerate(scenario.record.packets or ()):
        if point not in points:
            yield f"record.packets[{i}]: unknown point {shown(point)}{suggestion(point, islice(points, 20))}"


def _of_sweep(scenario: "Scenario") -> Iterator[str]:
    points = prod(len(values) for values in scenario.sweep.values())
    if points > MAX_POINTS:
        yield f"sweep: {points:,} combinations are too many; at most {MAX_POINTS:,}"
        return
    yield from _of_paths(scenario.sweep)
    base, work = scenario.model_copy(update={"sweep": {}}), 0.0
    for path, values in scenario.sweep.items():
        before: dict[str, object] = {}
        for i, value in enumerate(values):
            try:
                made = base.with_values({path: value})
                work += work_of(made)
                if work > MAX_WORK:
                    many = f"{len(values):,} values of {shown(path)}"
                    yield f"sweep: {many} are too many for so large a scenario"
                    return
                point = json.dumps(made.to_dict(), sort_keys=True)
                if point in before:
                    yield f"sweep.{shown(path)}: {_repeated(before[point], value)}"
                before.setdefault(point, value)
            except ScenarioError as error:
                for line in error.problems:
                    yield f"sweep.{shown(path)}[{i}]: {line.removeprefix(f'{paths.normal(path)}: ')}"


def _of_paths(swept: Iterable[str]) -> Iterator[str]:
    """Paths of which one holds another: the later value would hide the earlier one."""
    spelt: dict[str, str] = {}
    for path in swept:
        first = spelt.setdefault(paths.normal(path), path)
        if first != path:
            yield f"sweep: {shown(first)} and {shown(path)} are the same path; write it once"
    for path, written in spelt.items():
        parts = path.split(".")
        for i in range(1, min(len(parts), paths.MAX_PARTS)):
            holder = spelt.get(".".join(parts[:i]))
            if holder is not None:
                yield f"sweep: {shown(holder)} holds {shown(written)}; sweep one of them"


def _repeated(first: object, value: object) -> str:
    if shown(first) == shown(value):
        return f"{shown(value)} stands twice"
    return f"{shown(first)} and {shown(value)} are the same"
