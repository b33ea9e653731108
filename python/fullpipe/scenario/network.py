"""From topology and flows to nodes, links and routes, with every relative size made absolute."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fullpipe.scenario.changing import Change, Shape
from fullpipe.scenario.flows import Flow, flow_names, flow_streams
from fullpipe.scenario.losses import Bernoulli, Loss, plan_of
from fullpipe.scenario.model import MAX_PACKETS, ProblemsError
from fullpipe.scenario.moves import NewWay, moves_of, new_ways
from fullpipe.scenario.quantities import NANOSECONDS, to_nanoseconds
from fullpipe.scenario.routing import BACKWARD, Edge, NoRouteError, Router
from fullpipe.scenario.service import Frames, Trace
from fullpipe.scenario.tcp import Tcp
from fullpipe.scenario.timeline import Step, timeline
from fullpipe.scenario.topology import (
    Access,
    Bottleneck,
    Detour,
    Discipline,
    DropTail,
    Dumbbell,
    Graph,
    Jitter,
)
from fullpipe.scenario.ways import way_count

if TYPE_CHECKING:
    from fullpipe.scenario.scenario import Scenario

BOTTLENECK = "bottleneck"
MAX_CROSSED = 5_000_000
"""Links on the ways of all flows of a graph, one after the other."""


@dataclass(frozen=True, slots=True)
class Node:
    """Where links begin and end."""

    name: str
    kind: Literal["host", "router"]
    """A host sends or receives data of a flow; in a graph it forwards as well. A router only forwards."""


@dataclass(frozen=True)
class Link:
    """One direction of a wire, with the queue in front of it."""

    name: str
    source: str
    """The node where it begins, and where its queue is."""
    target: str
    """The node where it ends."""
    rate_bps: int | None
    delay_s: float
    queue: DropTail | Discipline | None
    loss: Loss | None
    where: str
    """The part of the scenario that describes it, for messages."""
    changes: tuple[Change, ...] = ()
    shapes: tuple[Shape, ...] = ()
    trace: Trace | None = None
    frames: Frames | None = None
    duplicate: float | None = None
    thin: int | None = None
    batch_s: float | None = None
    detour: Detour | None = None
    jitter: Jitter | None = None
    steps: tuple[Step, ...] = ()
    """Changes, shapes and rows of a trace as one list in the order of time."""
    host_stream: str | None = None
    """Of a link at a host of a dumbbell: its stream, made from that of the flow, as its name is."""

    @property
    def stream(self) -> str:
        """What its random numbers are called."""
        return self.host_stream or self.name

    @property
    def delay_ns(self) -> int:
        """Propagation in whole nanoseconds."""
        return to_nanoseconds(self.delay_s)

    @property
    def limit_bps(self) -> int | None:
        """What it carries at most: its rate, or that of a shaper in front of it if that is lower."""
        shaped = self.queue.rate_bps if isinstance(self.queue, Discipline) else None
        frames = None if self.frames is None else self.frames.mean_bps
        trace = None if self.trace is None else self.trace.mean_bps
        return min((bps for bps in (self.rate_bps, frames, trace, shaped) if bps is not None), default=None)


@dataclass(frozen=True)
class Route:
    """One flow with its transport, and the numbers of the links that its data and its ACKs cross."""

    name: str
    stream: str
    """What its random numbers are called."""
    flow: Flow
    tcp: Tcp
    source: str
    """The node that sends data. Between it and the node where its first link begins there may be no link:
    then it stands right there."""
    target: str
    """The node that receives data, at the end of the last link or right there."""
    forward: tuple[int, ...]
    reverse: tuple[int, ...]
    new_ways: tuple[NewWay, ...] = ()
    """Other ways from given times on, in the order of time."""

    @property
    def hosts(self) -> tuple[str, str] | None:
        """Where it begins and ends; None: at hosts that no other flow has."""
        ends = self.flow.source, self.flow.target
        return self.flow.hosts or ((ends[0], ends[1]) if ends[0] and ends[1] else None)


@dataclass(frozen=True)
class Network:
    """Every node, link and single flow of a scenario; queues are limited in packets or in bytes."""

    nodes: tuple[Node, ...]
    """Names are unique."""
    links: tuple[Link, ...]
    routes: tuple[Route, ...]

    def base_rtt_s(self, route: Route) -> float:
        """Propagation along the links of the data and back along those of the ACKs, without serialisation."""
        return sum(self.links[i].delay_ns for i in (*route.forward, *route.reverse)) / NANOSECONDS


def resolve(scenario: "Scenario", each: int | None = None) -> Network:
    """Lay out the links, route every flow, and turn sizes such as "1 bdp" into packets.

    Args:
        scenario: What is laid out.
        each: How many flows of every entry at most, which are all alike; None lays out all of them.

    Raises:
        ProblemsError: If a flow has no route, or a size is relative to a link that has no rate or no flow.
    """
    topology = scenario.topology
    nodes, links, routes = (
        _dumbbell(scenario, topology, each)
        if isinstance(topology, Dumbbell)
        else _graph(scenario, topology, each)
    )
    return Network(tuple(nodes), _sized(links, routes), tuple(routes))


_Parts = tuple[Iterable[Node], list[Link], list[Route]]


def _dumbbell(scenario: "Scenario", topology: Dumbbell, each: int | None) -> _Parts:
    """Two routers, between them the bottleneck, which is link 0, and its reverse, link 1; hosts around them.

    An access link that does nothing is left out: its host stands right at the router.
    """
    named = {name for flow in scenario.flows for name in flow.hosts or ()}
    left, right = (_unused(name, named) for name in ("left", "right"))
    nodes = {name: Node(name, "router") for name in (left, right)}
    back = "topology.reverse" if topology.reverse else "topology.bottleneck"
    there, again = (left, right), (right, left)
    links = [
        _link(topology.bottleneck, BOTTLENECK, there, "topology.bottleneck", scenario.duration_s),
        _link(topology.backward, f"{BOTTLENECK}-reverse", again, back, scenario.duration_s),
    ]

    def access(
        end: str, ends: tuple[str, str], flow: _Single, described: Access, where: str, *, leaves_host: bool
    ) -> list[int]:
        queue = described.queue if leaves_host else None
        if described.rate_bps is None and described.delay_s == 0 and queue is None:
            return []
        name, stream = f"{flow.name}-{end}", f"{flow.stream}-{end}"
        rate_bps, delay_s = described.rate_bps, described.delay_s
        links.append(Link(name, *ends, rate_bps, delay_s, queue, None, where, host_stream=stream))
        return [len(links) - 1]

    routes = []
    for entry in _entries(scenario, each):
        own, tcp = topology.access.overridden_by(entry.flow.access), scenario.tcp_of(entry.flow)
        where = f"flows[{entry.place}].access" if _has_own_queue(entry.flow) else "topology.access"
        is_upload = entry.flow.direction == "reverse"
        data, acks, near, far = (1, 0, right, left) if is_upload else (0, 1, left, right)
        for single in entry.singles:
            source, target = entry.flow.hosts or (
                _unused(f"{single.name}-{end}", named) for end in ("sender", "receiver")
            )
            nodes |= {name: Node(name, "host") for name in (source, target)}
            to_host = partial(access, flow=single, described=own, where=where, leaves_host=False)
            to_router = partial(to_host, leaves_host=True)
            forward = [*to_router("sender", (source, near)), data, *to_host("receiver", (far, target))]
            reverse = [
                *to_router("receiver-reverse", (target, far)),
                acks,
                *to_host("sender-reverse", (near, source)),
            ]
            routes.append(Route(*single, entry.flow, tcp, source, target, tuple(forward), tuple(reverse)))
    return nodes.values(), links, routes


def _unused(name: str, taken: Container[str]) -> str:
    """A name for a node, other than those that the scenario gives its hosts."""
    while name in taken:
        name += "-"
    return name


def _has_own_queue(flow: Flow) -> bool:
    return flow.access is not None and "queue" in flow.access.model_fields_set


def _graph(scenario: "Scenario", topology: Graph, each: int | None) -> _Parts:
    links: list[Link] = []
    edges: list[Edge] = []
    numbers: list[int] = []
    for i, described in enumerate(topology.links):
        numbers.append(len(links))
        name = described.name or f"{described.source}-{described.target}"
        ends = (described.source, described.target)
        link = _link(described, name, ends, f"topology.links[{i}]", scenario.duration_s)
        links.append(link)
        edges.append(Edge(described.source, described.target, link.delay_ns))
        if described.duplex:
            back = replace(link, name=f"{link.name}{BACKWARD}", source=link.target, target=link.source)
            links.append(back)
            edges.append(Edge(described.target, described.source, link.delay_ns))
    router, routes = Router(edges, [link.name for link in links]), []
    moves = moves_of(topology.links, numbers, router, scenario.duration_s)
    crossed = 0
    for place, flow, singles in _entries(scenario, each):
        stops = [flow.source or "", *flow.via, flow.target or ""]
        try:
            forward, reverse = router.route(stops), router.back(stops)
            ways = 1 + len(moves) + way_count(flow, scenario.duration_s)
            crossed += flow.count * ways * (len(forward) + len(reverse))
            if crossed > MAX_CROSSED:
                raise ProblemsError(
                    f"flows: their ways have {crossed:,} links, more than {MAX_CROSSED:,} in all"
                )
            later = tuple(new_ways(flow, router, moves, scenario.duration_s))
        except NoRouteError as error:
            raise ProblemsError(f"flows[{place}]: {error}") from None
        tcp = scenario.tcp_of(flow)
        ends = stops[0], stops[-1]
        routes += [Route(*single, flow, tcp, *ends, forward, reverse, later) for single in singles]
    hosts = {end for flow in scenario.flows for end in (flow.source, flow.target)}
    nodes = [Node(name, "host" if name in hosts else "router") for name in topology.nodes]
    return nodes, links, routes


def _link(described: Bottleneck, name: str, ends: tuple[str, str], where: str, duration_s: float) -> Link:
    rate_bps, delay_s = described.rate_bps, described.delay_s
    steps = timeline(described, _known(described), duration_s, where)
    if described.trace is not None and steps and steps[0][0] == 0:
        beginning = steps[0][1]  # the recording says what the link does not
        rate_bps = rate_bps or beginning.get("rate_bps") or None
        delay_s = delay_s or beginning.get("delay_ns", 0) / NANOSECONDS
    return Link(
        name,
        *ends,
        rate_bps,
        delay_s,
        described.queue,
        described.loss,
        where,
        changes=described.changes or (),
        shapes=described.shapes or (),
        trace=described.trace,
        frames=described.frames,
        duplicate=described.duplicate,
        thin=described.thin,
        batch_s=described.batch_s,
        detour=described.detour,
        jitter=described.jitter,
        steps=tuple(steps),
    )


def _known(described: Bottleneck) -> dict[str, Any]:
    """What a link is like at the beginning, as far as the scenario says it, in the words of the plan."""
    queue, rate_bps = described.queue, described.rate_bps
    if rate_bps is None and isinstance(queue, Discipline):
        rate_bps = queue.rate_bps
    known = {
        "rate_bps": rate_bps,
        "delay_ns": to_nanoseconds(described.delay_s),
        "limit": _limit(queue),
        "loss": plan_of(described.loss or Bernoulli(probability=0.0)),
    }
    return {key: value for key, value in known.items() if value is not None}


def _limit(queue: DropTail | Discipline | None) -> dict[str, int | None] | None:
    """The limit that a queue has, if the scenario says it in packets or bytes."""
    if isinstance(queue, DropTail) and queue.size_bdp is None:
        return {"packets": queue.packets, "bytes": queue.limit_bytes}
    if isinstance(queue, Discipline) and queue.limit_key in queue.params:
        return {"packets": queue.params[queue.limit_key], "bytes": None}
    return None


class _Single(NamedTuple):
    """One flow of an entry."""

    name: str
    stream: str


class _Entry(NamedTuple):
    """An entry of `flows`, and the flows that it stands for."""

    place: int
    flow: Flow
    singles: list[_Single]


def _entries(scenario: "Scenario", each: int | None) -> Iterator[_Entry]:
    described = zip(scenario.flows, flow_names(scenario.flows), flow_streams(scenario.flows), strict=True)
    for place, (flow, names, streams) in enumerate(described):
        yield _Entry(place, flow, list(map(_Single, names[:each], streams[:each])))


def _sized(links: Sequence[Link], routes: Sequence[Route]) -> tuple[Link, ...]:
    """The links with queues that count packets or bytes; relative sizes need the flows that cross."""
    relative = {i for i, link in enumerate(links) if link.queue and link.queue.size_bdp is not None}
    crossing: dict[int, list[_Crossing]] = {i: [] for i in relative}
    for route in routes if relative else ():
        for circle in set(_circles(route)):
            rtt_ns = sum(links[i].delay_ns for i in circle)
            for i in relative.intersection(circle):
                crossing[i].append(_Crossing(rtt_ns, route.tcp.segment_bytes))
    return tuple(
        replace(link, queue=_absolute(link, crossing[i])) if i in relative else link
        for i, link in enumerate(links)
    )


@dataclass(frozen=True)
class _Crossing:
    """A flow that crosses a link for at least a part of the run."""

    rtt_ns: int
    segment_bytes: int


def _circles(route: Route) -> Iterator[tuple[int, ...]]:
    """The links of every round trip that a flow makes, one after the other as its ways change."""
    forward, reverse = route.forward, route.reverse
    yield (*forward, *reverse)
    for way in route.new_ways:
        forward, reverse = way.forward or forward, way.reverse or reverse
        yield (*forward, *reverse)


def _absolute(link: Link, crossing: Sequence[_Crossing]) -> DropTail | Discipline:
    """Rate times the largest base RTT of the flows that cross, in whole segments, and at least one."""
    queue, where = link.queue, f"{link.where}.queue.size"
    if queue is None or queue.size_bdp is None or link.limit_bps is None:
        raise ProblemsError(
            f"{where}: a link of unlimited rate has no BDP; give it a rate, or use packets = 100"
        )
    if not crossing:
        raise ProblemsError(f"{where}: no flow crosses this link, so it has no BDP; use packets = 100")
    rtt_ns = max(flow.rtt_ns for flow in crossing)
    segment_bits = 8 * max(flow.segment_bytes for flow in crossing)
    packets = max(1, int(queue.size_bdp * link.limit_bps * rtt_ns / (segment_bits * NANOSECONDS)))
    if packets > MAX_PACKETS:
        raise ProblemsError(f"{where}: makes {packets:,} packets, more than {MAX_PACKETS:,}")
    if isinstance(queue, DropTail):
        return DropTail(packets=packets)
    params = {**queue.params, queue.limit_key or "": packets}
    return queue.model_copy(update={"size_bdp": None, "params": params})
