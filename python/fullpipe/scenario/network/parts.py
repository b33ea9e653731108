"""Parts of a network: nodes, links, media and routes. All engines build their networks from these parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fullpipe.scenario.model.link.impairments import NO_IMPAIRMENTS, Impairments
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.quantities import NANOSECONDS, to_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from fullpipe.scenario.model.flows import Cca, Flow
    from fullpipe.scenario.model.link.changes import Change, Shape
    from fullpipe.scenario.model.link.losses import Loss
    from fullpipe.scenario.model.link.queues import DropTail
    from fullpipe.scenario.model.link.trace import Frames, Trace
    from fullpipe.scenario.model.tcp import Tcp
    from fullpipe.scenario.model.workloads.writers import FlowContext
    from fullpipe.scenario.network.timeline import Step


class Node(NamedTuple):
    """A node, at which links begin and end."""

    name: str
    kind: Literal["host", "router"]
    """A "host" sends or receives data of a flow. In a graph, it also forwards packets. A "router" only
    forwards packets."""


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire, with the queue in front of it."""

    name: str
    source: str
    """The node where the link begins and where its queue is."""
    target: str
    """The node where the link ends."""
    rate_bps: int | None
    delay_s: float
    """Propagation delay, including the mean delay of recorded trains."""
    queue: DropTail | Discipline | None
    loss: Loss | None
    where: str
    """The part of the scenario that describes the link, for messages."""
    device_packets: int | None = None
    """Limit of the device queue, which `queue` feeds. None: no device queue."""
    changes: tuple[Change, ...] = ()
    shapes: tuple[Shape, ...] = ()
    trace: Trace | None = None
    frames: Frames | None = None
    impairments: Impairments = NO_IMPAIRMENTS
    steps: tuple[Step, ...] = ()
    """Changes, shapes and rows of a trace as one list in the order of time."""
    host_stream: str | None = None
    """Random number stream of a link at a host of a dumbbell, derived from the flow's stream."""
    nic_of: str | None = None
    """The host whose network interface this link is, or None."""

    @property
    def stream(self) -> str:
        """Name of the link's random number stream."""
        return self.host_stream or self.name

    @property
    def delay_ns(self) -> int:
        """Propagation delay in whole nanoseconds."""
        return to_nanoseconds(self.delay_s)

    @property
    def own_delay_ns(self) -> int:
        """Propagation delay without the mean delay of recorded trains."""
        return self.delay_ns - (0 if self.trace is None else to_nanoseconds(self.trace.mean_delay_s))

    @property
    def limit_bps(self) -> int | None:
        """The lowest of the rates of the link, its frames, its trace and its shaper; None: unlimited."""
        frames = None if self.frames is None else self.frames.mean_bps
        trace = None if self.trace is None else self.trace.mean_bps
        return _least(self.rate_bps, frames, trace, _shaped_bps(self.queue))


@dataclass(frozen=True, slots=True)
class Port:
    """A port through which a node sends into a medium, with its queue."""

    name: str
    node: str
    """The node of the port."""
    queue: DropTail | Discipline | None
    delay_s: float
    """Propagation delay to the far end."""
    rate_bps: int | None
    """Rate of the medium while no other port sends. None: unknown."""
    where: str
    """The part of the scenario that describes the queue, for messages."""

    @property
    def stream(self) -> str:
        """Name of the port's random number stream."""
        return self.name

    @property
    def delay_ns(self) -> int:
        """Propagation delay in whole nanoseconds."""
        return to_nanoseconds(self.delay_s)

    @property
    def limit_bps(self) -> int | None:
        """The lower rate of the medium and the port's shaper; None: unknown."""
        return _least(self.rate_bps, _shaped_bps(self.queue))


@dataclass(frozen=True)
class Medium:
    """A medium: a set of ports. One port transmits at a time."""

    name: str
    kind: str
    """Kind of medium, which determines the order and the length of transmissions."""
    ports: tuple[Port, ...]
    params: Mapping[str, Any]
    """Parameters in the format of the plan."""
    where: str
    """The part of the scenario that describes the medium, for messages."""

    @property
    def stream(self) -> str:
        """Name of the medium's random number stream."""
        return self.name


Hop = Link | Port
"""A link or a port that a packet crosses."""
Route = tuple[int, ...]
"""The hops of data or ACKs, in order. A hop is the index of a link; the ports of media are counted after all
links."""


class HandOver(NamedTuple):
    """A handover: a port forwards its waiting packets to a port of another cell."""

    at_s: float
    gap_s: float
    source: int
    """Hop index of the old port."""
    target: int
    """Hop index of the new port."""


class Reroute(NamedTuple):
    """New routes of data and ACKs from a time on; `None`: unchanged."""

    at_s: float
    forward: Route | None
    reverse: Route | None


class Way(NamedTuple):
    """A route of data and a route of ACKs that a controller can choose together; `None`: this route stays
    unchanged."""

    forward: Route | None
    reverse: Route | None


class Steering(NamedTuple):
    """The index of the controller that chooses the route of a flow, and the possible routes."""

    controller: int
    ways: tuple[Way, ...]


class Relayed(NamedTuple):
    """A host that splits a connection into two, and forwards the data of the first over the second."""

    buffer_bytes: int
    """Buffer for payload between the two connections."""
    where: str
    """The key of the scenario that makes the host split connections, for messages."""
    cca: Cca | None = None
    """Algorithm of the second connection. None: the algorithm of the first connection."""


@dataclass(frozen=True, slots=True)
class RoutedFlow:
    """One flow with its transport, and the routes of its data and its ACKs."""

    name: str
    stream: str
    """Name of the flow's random number stream."""
    flow: Flow
    tcp: Tcp
    source: str
    """The node that sends data. If the first link of the route starts at another node, no delay separates
    that node from the sender. Likewise, no delay separates the end of a link from the start of the next
    link."""
    target: str
    """The node that receives data."""
    forward: Route
    reverse: Route
    reroutes: tuple[Reroute, ...] = ()
    """Changes of the route, in the order of time."""
    steering: Steering | None = None
    relayed: Relayed | None = None
    """The terminating host that opens this connection, to forward the data of another connection; or None."""
    shares_hosts: bool = False
    """Whether other flows may use the same end nodes even if the scenario does not name `hosts`."""

    @property
    def later(self) -> tuple[Reroute | Way, ...]:
        """All later routes that the flow takes or may take."""
        return (*self.reroutes, *(self.steering.ways if self.steering else ()))

    @property
    def hosts(self) -> tuple[str, str] | None:
        """The sending and the receiving host; None: hosts that no other flow uses."""
        if self.shares_hosts:
            return self.source, self.target
        ends = self.flow.source, self.flow.target
        return self.flow.hosts or ((ends[0], ends[1]) if ends[0] and ends[1] else None)


@dataclass(frozen=True)
class Network:
    """All nodes, links, media and single flows of a scenario. Limits of queues are in packets or bytes."""

    nodes: tuple[Node, ...]
    """The nodes; their names are unique."""
    links: tuple[Link, ...]
    flows: tuple[RoutedFlow, ...]
    media: tuple[Medium, ...] = ()
    hand_overs: tuple[HandOver, ...] = ()
    """Handovers in the order of time."""

    @cached_property
    def hops(self) -> tuple[Hop, ...]:
        """All hops by their index in routes: the links, then the ports of all media."""
        return (*self.links, *chain.from_iterable(medium.ports for medium in self.media))

    def base_rtt_s(self, routed: RoutedFlow) -> float:
        """Return the sum of propagation delays of the routes of data and of ACKs, without serialisation."""
        return sum(self.hops[i].delay_ns for i in (*routed.forward, *routed.reverse)) / NANOSECONDS


def flow_context(routed: RoutedFlow, hops: Sequence[Hop]) -> FlowContext:
    """Return the transport of a flow, the number of flows of its entry, and the lowest rate on its route."""
    from fullpipe.scenario.model.workloads.writers import FlowContext  # imported here: rarely used

    rates = (hops[i].limit_bps for i in routed.forward)
    slowest_bps = min((rate for rate in rates if rate is not None), default=None)
    return FlowContext(routed.tcp, routed.flow.count, slowest_bps)


def _shaped_bps(queue: DropTail | Discipline | None) -> int | None:
    return queue.rate_bps if isinstance(queue, Discipline) else None


def _least(*rates_bps: int | None) -> int | None:
    return min((bps for bps in rates_bps if bps is not None), default=None)


def unused(name: str, taken: Container[str]) -> str:
    """Return `name`, with hyphens appended until it is not in `taken`."""
    while name in taken:
        name += "-"
    return name
