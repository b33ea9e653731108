"""A network: nodes, links and routes, as every engine lays it out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fullpipe.scenario.model.link.impairments import NO_IMPAIRMENTS, Impairments
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.quantities import NANOSECONDS, to_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from fullpipe.scenario.model.flows import Cca, Flow
    from fullpipe.scenario.model.link.changes import Change, Shape
    from fullpipe.scenario.model.link.losses import Loss
    from fullpipe.scenario.model.link.queues import DropTail
    from fullpipe.scenario.model.link.service import Frames, Trace
    from fullpipe.scenario.model.tcp import Tcp
    from fullpipe.scenario.network.timeline import Step


class Node(NamedTuple):
    """Where links begin and end."""

    name: str
    kind: Literal["host", "router"]
    """A host sends or receives data of a flow; in a graph it forwards as well. A router only forwards."""


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire, with the queue in front of it."""

    name: str
    source: str
    """The node where it begins, and where its queue is."""
    target: str
    """The node where it ends."""
    rate_bps: int | None
    delay_s: float
    """Propagation, with the mean delay of recorded trains."""
    queue: DropTail | Discipline | None
    loss: Loss | None
    where: str
    """The part of the scenario that describes it, for messages."""
    device_packets: int | None = None
    """What the device below the queue holds; None: there is none."""
    changes: tuple[Change, ...] = ()
    shapes: tuple[Shape, ...] = ()
    trace: Trace | None = None
    frames: Frames | None = None
    impairments: Impairments = NO_IMPAIRMENTS
    steps: tuple[Step, ...] = ()
    """Changes, shapes and rows of a trace as one list in the order of time."""
    host_stream: str | None = None
    """Of a link at a host of a dumbbell: its stream, made from that of the flow, as its name is."""
    nic_of: str | None = None
    """The host whose network interface it is; None: it is none."""

    @property
    def stream(self) -> str:
        """What its random numbers are called."""
        return self.host_stream or self.name

    @property
    def delay_ns(self) -> int:
        """Propagation in whole nanoseconds."""
        return to_nanoseconds(self.delay_s)

    @property
    def own_delay_ns(self) -> int:
        """What of it is not recorded with trains of packets."""
        return self.delay_ns - (0 if self.trace is None else to_nanoseconds(self.trace.mean_delay_s))

    @property
    def limit_bps(self) -> int | None:
        """What it carries at most: its rate, or that of a shaper in front of it if that is lower."""
        frames = None if self.frames is None else self.frames.mean_bps
        trace = None if self.trace is None else self.trace.mean_bps
        return _least(self.rate_bps, frames, trace, _shaped_bps(self.queue))


@dataclass(frozen=True, slots=True)
class Port:
    """Where a node sends into a medium, with the queue in front of it."""

    name: str
    node: str
    """The node where it is."""
    queue: DropTail | Discipline | None
    delay_s: float
    """Propagation to the far end."""
    rate_bps: int | None
    """What the medium carries at most while no other port sends."""
    where: str
    """The part of the scenario that describes its queue, for messages."""

    @property
    def stream(self) -> str:
        """What its random numbers are called."""
        return self.name

    @property
    def delay_ns(self) -> int:
        """Propagation in whole nanoseconds."""
        return to_nanoseconds(self.delay_s)

    @property
    def limit_bps(self) -> int | None:
        """What it carries at most: the rate of the medium, or that of a shaper in front if that is lower."""
        return _least(self.rate_bps, _shaped_bps(self.queue))


@dataclass(frozen=True)
class Medium:
    """Ports of which one transmits at a time."""

    name: str
    kind: str
    """The law that says which one, and for how long."""
    ports: tuple[Port, ...]
    params: Mapping[str, Any]
    """What the law goes by, as the plan has it."""
    where: str
    """The part of the scenario that describes it, for messages."""

    @property
    def stream(self) -> str:
        """What its random numbers are called."""
        return self.name


Hop = Link | Port
"""What a packet crosses."""
Route = tuple[int, ...]
"""The hops of data or of ACKs in order, each the number of a link or, counted on from the links, of a port
of a medium."""


class HandOver(NamedTuple):
    """A port that hands what has not left it over to another one."""

    at_s: float
    gap_s: float
    source: int
    """The number of the port as a hop."""
    target: int


class Reroute(NamedTuple):
    """Other routes of data and of ACKs from a time on; `None`: as before."""

    at_s: float
    forward: Route | None
    reverse: Route | None


class Way(NamedTuple):
    """Routes of data and of ACKs that a controller may choose; `None`: as before."""

    forward: Route | None
    reverse: Route | None


class Steering(NamedTuple):
    """The controller that chooses the route of a flow, by its number, and the ways."""

    controller: int
    ways: tuple[Way, ...]


class Relayed(NamedTuple):
    """What a host does with the data of a connection that ends there: it sends it on over another one."""

    buffer_bytes: int
    """Payload that it holds between the two."""
    where: str
    """The part of the scenario that says so, for messages."""
    cca: Cca | None = None
    """The algorithm of the connection from it; None: that of the one before."""


@dataclass(frozen=True, slots=True)
class RoutedFlow:
    """One flow with its transport, and the routes of its data and its ACKs."""

    name: str
    stream: str
    """What its random numbers are called."""
    flow: Flow
    tcp: Tcp
    source: str
    """The node that sends data. Where no link leads from it, or from the end of a link to the beginning of
    the next one, the two nodes stand side by side."""
    target: str
    """The node that receives data."""
    forward: Route
    reverse: Route
    reroutes: tuple[Reroute, ...] = ()
    """Other routes from given times on, in the order of time."""
    steering: Steering | None = None
    relayed: Relayed | None = None
    """It sends on, from a host that ends TCP, what the flow before it in the network brings there."""
    shares_hosts: bool = False
    """Whether other flows may begin or end where it does although it does not say so itself."""

    @property
    def later(self) -> tuple[Reroute | Way, ...]:
        """Every other route that it takes or may take."""
        return (*self.reroutes, *(self.steering.ways if self.steering else ()))

    @property
    def hosts(self) -> tuple[str, str] | None:
        """Where it begins and ends; None: at hosts that no other flow has."""
        if self.shares_hosts:
            return self.source, self.target
        ends = self.flow.source, self.flow.target
        return self.flow.hosts or ((ends[0], ends[1]) if ends[0] and ends[1] else None)


@dataclass(frozen=True)
class Network:
    """Every node, link, medium and single flow of a scenario; queues are limited in packets or in bytes."""

    nodes: tuple[Node, ...]
    """Names are unique."""
    links: tuple[Link, ...]
    flows: tuple[RoutedFlow, ...]
    media: tuple[Medium, ...] = ()
    hand_overs: tuple[HandOver, ...] = ()
    """In the order of time."""

    @cached_property
    def hops(self) -> tuple[Hop, ...]:
        """What the numbers of a route stand for: every link, and behind them every port of every medium."""
        return (*self.links, *chain.from_iterable(medium.ports for medium in self.media))

    def base_rtt_s(self, routed: RoutedFlow) -> float:
        """Propagation along the route of the data and back along that of the ACKs, without serialisation."""
        return sum(self.hops[i].delay_ns for i in (*routed.forward, *routed.reverse)) / NANOSECONDS


def _shaped_bps(queue: DropTail | Discipline | None) -> int | None:
    return queue.rate_bps if isinstance(queue, Discipline) else None


def _least(*rates_bps: int | None) -> int | None:
    return min((bps for bps in rates_bps if bps is not None), default=None)


def unused(name: str, taken: Container[str]) -> str:
    """A name for a node, other than those that are taken."""
    while name in taken:
        name += "-"
    return name
