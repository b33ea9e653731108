"""The script of the guest, made from a scenario and a seed: see guest/main.c for its language."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fullpipe.engines import streams
from fullpipe.engines.linux import names
from fullpipe.engines.linux.departures import departures_ns
from fullpipe.engines.linux.layout import Layout, Planner, address
from fullpipe.engines.linux.qdiscs import fq
from fullpipe.engines.linux.stages import ROOT, Placed, Stage, differing, first, stages, states
from fullpipe.scenario import Network, Route, Scenario, resolve
from fullpipe.scenario.datagrams import Datagrams
from fullpipe.scenario.quantities import to_nanoseconds
from fullpipe.scenario.tcp import IP_AND_TCP_HEADERS_BYTES, TIMESTAMPS_BYTES, Tcp

SAMPLE_NS = 10_000_000
"""Flows are sampled at least so often, for RTTs."""
_TOLD = 200
_RECEIVE_BUFFER = "4096 16777216 134217728"
_SEND_BUFFER = "4096 65536 134217728"
_ETHERNET_BYTES = 14
_LEAST_MTU = 576


@dataclass(frozen=True)
class Watched:
    """A device whose queue disciplines are counted."""

    link: int
    queues: bool
    """Whether what is in it waits for the link; otherwise it is on its way."""


@dataclass(frozen=True)
class Experiment:
    """What the guest is told, and what is needed to understand what it says."""

    script: str
    network: Network
    watched: tuple[Watched, ...]
    starts_ns: tuple[int, ...]
    receivers: tuple[str, ...]
    """Namespace of the receiver of every flow."""
    namespace_count: int
    departures_ns: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """When the datagrams of flows leave, by the number of the flow; files of the guest."""


def experiment(scenario: Scenario, seed: int, known_ccas: Collection[str]) -> Experiment:
    """The script for a scenario that `check` has nothing against. Pure."""
    network = resolve(scenario)
    frames = [frame_bytes(network, number) for number in range(len(network.links))]
    laid = [stages(link, first(link), frame, seed) for link, frame in zip(network.links, frames, strict=True)]
    planner = Planner(network, laid)
    used = [_used(network, number) for number in range(len(network.links))]
    watched = [
        (Watched(number, stage.queues), place)
        for number, of_link in enumerate(laid)
        for stage, place in zip(of_link, planner.layout.links[number], strict=False)
        if used[number]
    ]
    routes = list(_routes(network, planner))
    later = [*_changes(network, planner.layout, frames, seed), *_reroutes(network, planner)]
    starts = tuple(_start_ns(route, seed) for route in network.routes)
    lines = [
        *_first_of_all(),
        *_namespaces(network, planner.layout),
        *_cables(network, planner.layout),
        *_addresses(network, planner.layout),
        *routes,
        *_qdiscs(network, planner.layout, laid),
        *(f"watch {n} {namespace} {device}" for n, (_, (namespace, device)) in enumerate(watched)),
        *_times(scenario),
        *(
            line
            for number, route in enumerate(network.routes)
            for line in _flow(number, route, planner.layout, starts[number], known_ccas)
        ),
        *later,
    ]
    receivers = tuple(planner.layout.hosts["receiver", number] for number in range(len(network.routes)))
    return Experiment(
        "\n".join(lines) + "\n",
        network,
        tuple(seen for seen, _ in watched),
        starts,
        receivers,
        len(planner.layout.namespaces),
        {
            number: departures_ns(
                route.flow.datagrams, route.name, starts[number], _end_ns(route, scenario), seed
            )
            for number, route in enumerate(network.routes)
            if route.flow.datagrams
        },
    )


def _end_ns(route: Route, scenario: Scenario) -> int:
    """When a flow stops by itself; what leaves at the very end of a run leaves."""
    after_ns = to_nanoseconds(scenario.duration_s) + 1
    return after_ns if route.flow.stop_s is None else min(after_ns, to_nanoseconds(route.flow.stop_s))


def frame_bytes(network: Network, link: int) -> int:
    """The largest packet on a link, with the link layer's overhead; that of Ethernet if nobody uses it."""
    sizes = [_frame_bytes(route) for route in network.routes if link in _crossed(route)]
    return max(sizes, default=1514)


def _frame_bytes(route: Route) -> int:
    return _mtu(route) + route.tcp.link_overhead_bytes


def _crossed(route: Route) -> set[int]:
    ways = [route.forward, route.reverse]
    for new in route.new_ways:
        ways += [way for way in (new.forward, new.reverse) if way]
    return {link for way in ways for link in way}


def _used(network: Network, link: int) -> bool:
    return any(link in _crossed(route) for route in network.routes)


def _start_ns(route: Route, seed: int) -> int:
    flow = route.flow
    return streams.start_ns(
        to_nanoseconds(flow.start_s), to_nanoseconds(flow.start_jitter_s), seed, route.name
    )


def _first_of_all() -> Iterator[str]:
    """What belongs to the kernel as a whole: memory and queues that are never in the way."""
    yield "sysctl - net/ipv4/tcp_mem 4000000 6000000 8000000"
    yield "sysctl - net/core/netdev_max_backlog 1000000"


def _namespaces(network: Network, layout: Layout) -> Iterator[str]:
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


def _mtu(route: Route) -> int:
    tcp, datagrams = route.tcp, route.flow.datagrams
    if datagrams:
        return max(_LEAST_MTU, datagrams.payload_bytes + datagrams.headers_bytes)
    return tcp.mss_bytes + IP_AND_TCP_HEADERS_BYTES + TIMESTAMPS_BYTES * tcp.timestamps


def _cables(network: Network, layout: Layout) -> Iterator[str]:
    hosts = {name: place for place, name in layout.hosts.items()}
    widest = max(_mtu(route) for route in network.routes)
    for cable in layout.cables:
        ends = [hosts[name] for name in (cable.near, cable.far) if name in hosts]
        mtu = min((_mtu(network.routes[number]) for _, number in ends), default=widest)
        yield f"link {cable.near} {cable.near_device} {cable.far} {cable.far_device} {mtu}"


def _addresses(network: Network, layout: Layout) -> Iterator[str]:
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


def _routes(network: Network, planner: Planner) -> Iterator[str]:
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


def _reroutes(network: Network, planner: Planner) -> Iterator[str]:
    for number, route in enumerate(network.routes):
        for new in route.new_ways:
            for to_receiver, way in ((True, new.forward), (False, new.reverse)):
                if way is not None:
                    for line in _way(planner, number, route, way, to_receiver=to_receiver):
                        yield f"at {to_nanoseconds(new.at_s)} {line}"


def _qdiscs(network: Network, layout: Layout, laid: list[list[Stage]]) -> Iterator[str]:
    for number, of_link in enumerate(laid):
        overhead = _overhead(network, number)
        for stage, (namespace, device) in zip(of_link, layout.links[number], strict=False):
            for placed in stage.placed:
                yield _qdisc("add", namespace, device, placed, overhead)
    for number, route in enumerate(network.routes):
        host = layout.hosts["sender", number]
        devices = [cable.near_device for cable in layout.cables if cable.near == host]
        for device in devices:
            if route.tcp.max_burst_bytes != Tcp().max_burst_bytes:
                packets = max(1, route.tcp.max_burst_bytes // route.tcp.mss_bytes)
                yield f"bursts {host} {device} {packets}"
            if route.tcp.pacing == "fq":
                yield f"qdisc {host} {device} add {ROOT} 10000 {fq().written()}"


def _overhead(network: Network, link: int) -> int:
    """What the link layer adds, which `check` makes sure is the same for all that cross."""
    found = [route.tcp.link_overhead_bytes for route in network.routes if link in _crossed(route)]
    return found[0] if found else _ETHERNET_BYTES


def _qdisc(verb: str, namespace: str, device: str, placed: Placed, overhead: int) -> str:
    written = placed.qdisc.written(overhead if placed.parent == ROOT else _ETHERNET_BYTES)
    return f"{placed.word} {namespace} {device} {verb} {placed.parent} {placed.handle} {written}"


def _changes(network: Network, layout: Layout, frames: list[int], seed: int) -> Iterator[str]:
    """What differs from one state of a link to the next."""
    for number, link in enumerate(network.links):
        before = stages(link, first(link), frames[number], 0)
        for turn, (at_ns, state) in enumerate(states(link), start=1):
            after, told = (stages(link, state, frames[number], *dice) for dice in ((0,), (seed, turn)))
            for stage, place in sorted(differing(before, after)):
                namespace, device = layout.links[number][stage]
                placed = told[stage].placed[place]
                yield f"at {at_ns} {_qdisc('change', namespace, device, placed, _overhead(network, number))}"
            before = after


def _times(scenario: Scenario) -> Iterator[str]:
    duration_ns = to_nanoseconds(scenario.duration_s)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    # Samples of flows fall on those of the tables.
    flows_ns = interval_ns // -(-interval_ns // SAMPLE_NS) if interval_ns else SAMPLE_NS
    yield f"sample {flows_ns} {interval_ns or duration_ns} {max(1, duration_ns // _TOLD)}"
    yield f"end {duration_ns}"
    for mark_ns in sorted({to_nanoseconds(scenario.warmup_s), duration_ns}):
        yield f"at {mark_ns} mark"


def _flow(number: int, route: Route, layout: Layout, start_ns: int, known: Collection[str]) -> Iterator[str]:
    if route.flow.datagrams:
        yield _datagrams(number, route, route.flow.datagrams, layout)
        return
    yield _connection(number, route, layout, start_ns, known)
    for pace in route.flow.application or ():
        yield f"pace {to_nanoseconds(pace.at_s)} {-1 if pace.rate_bps is None else pace.rate_bps}"


def _datagrams(number: int, route: Route, workload: Datagrams, layout: Layout) -> str:
    words = (
        number,
        layout.hosts["sender", number],
        layout.hosts["receiver", number],
        address(number, to_receiver=True),
        workload.protocol,
        workload.payload_bytes,
        int(workload.echo),
        4 * (route.flow.dscp or 0),
        departures_file(number),
    )
    return "datagrams " + " ".join(str(word) for word in words)


def departures_file(number: int) -> str:
    """Where the guest finds when the datagrams of a flow leave."""
    return f"departures.{number}"


def _connection(number: int, route: Route, layout: Layout, start_ns: int, known: Collection[str]) -> str:
    flow, tcp = route.flow, route.tcp
    kind = flow.described
    cca = names.in_kernel(kind, known) or kind
    words = (
        number,
        layout.hosts["sender", number],
        layout.hosts["receiver", number],
        address(number, to_receiver=True),
        cca,
        cca if kind in names.ANSWERED else "-",
        start_ns,
        -1 if flow.stop_s is None else to_nanoseconds(flow.stop_s),
        -1 if flow.size_bytes is None else flow.size_bytes,
        tcp.mss_bytes,
        tcp.receive_buffer_bytes or 0,
        int(tcp.pacing == "always"),
        4 * (flow.dscp or 0),
    )
    return "flow " + " ".join(str(word) for word in words)
