"""A network: nodes, links and routes, as every engine lays it out."""

from dataclasses import dataclass
from typing import Literal

from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.link.changes import Change, Shape
from fullpipe.scenario.model.link.impairments import Jitter, Reordering
from fullpipe.scenario.model.link.losses import Loss
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.model.link.service import Frames, Trace
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.network.timeline import Step
from fullpipe.scenario.quantities import NANOSECONDS, to_nanoseconds


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
    detour: Reordering | None = None
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


Path = tuple[int, ...]
"""Numbers of links, in order."""


@dataclass(frozen=True)
class NewWay:
    """The links of data and of ACKs from a time on; `None`: as before."""

    at_s: float
    forward: Path | None
    reverse: Path | None


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
