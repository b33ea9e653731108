"""Changes of routes: reroutes, controllers, mobility."""

from collections.abc import Iterator
from typing import Annotated, Literal, Protocol

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.quantities import Seconds

# Changes of routes during a run: a new route for a flow, or a new path for all packets that cross a link.


Ways = Literal["both", "data", "acks"]


class RerouteModel(Model):
    """A new route from a time on. Packets that have already passed the fork stay on the old route."""

    at_s: Seconds = Field(alias="at", examples=["10 s"])
    """Time of the change."""
    via: tuple[Name, ...] = Field(examples=['["slow"]'])
    """Nodes and links that data passes, in this order. Empty: the shortest path for a flow, the link itself
    for a link."""
    ways: Ways = "both"
    """Packets whose route changes: data, ACKs, or both."""


class Alternation(Model):
    """Routes that alternate. The first route takes effect after one period, the second after two periods, and
    so on."""

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    """Time between changes."""
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list per route. After the last route, the first route follows."""
    ways: Ways = "both"
    """Packets whose route changes: data, ACKs, or both."""


class Moving(Protocol):
    """A flow or a link of a graph, with reroutes, an alternation, or neither."""

    @property
    def reroutes(self) -> tuple[RerouteModel, ...] | None:
        """Routes at given times."""

    @property
    def alternate(self) -> Alternation | None:
        """Routes that alternate."""


def reroutes_of(moving: Moving, duration_s: float) -> Iterator[RerouteModel]:
    """Yield every change of a route during a run, in the order of time."""
    yield from moving.reroutes or ()
    if turns := moving.alternate:
        for n in range(int(duration_s / turns.every_s)):
            at_s, via = (n + 1) * turns.every_s, turns.vias[n % len(turns.vias)]
            yield RerouteModel.model_construct(at_s=at_s, via=via, ways=turns.ways)


def reroute_count(moving: Moving, duration_s: float) -> int:
    """Return the number of changes that `reroutes_of` would yield, without generating them."""
    turns = int(duration_s / moving.alternate.every_s) if moving.alternate else 0
    return len(moving.reroutes or ()) + turns


# Route controllers, as in software-defined networks.


Policy = Literal["periodic", "least_loaded"]


class RouteController(Model):
    """A controller that periodically reads link counters, chooses a route per flow, and updates routers.

    The routers of a route are updated one after the other, the last router first, `delay` apart. So no packet
    reaches a router without an entry for its flow. Packets in flight follow the entry that a router has when
    they arrive.
    """

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    """Time between decisions; a multiple of `record.interval`, as counters are read with the samples."""
    policy: Policy
    """"periodic": every flow takes the next route in the list. "least_loaded": each flow in turn takes the
    route whose busiest link transmitted least in the last period. Links common to all routes do not count.
    The policy assumes that a flow that changes its route moves an equal share of its busiest link's load to
    the new route. A flow keeps its route if no other route is better."""
    delay_s: Annotated[Seconds, Field(gt=0)] = Field(0.005, alias="delay", examples=["5 ms"])
    """Time from a decision to the update of the first router, and from each router to the next."""
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list per route."""
    ways: Ways = "both"
    """Packets whose route is chosen: data, ACKs, or both."""
    flows: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(None, examples=['["dynamic"]'])
    """Names of the flows that are controlled. Left out: all flows."""


# Moves of nodes from one medium to another.


class Move(Model):
    """A node attaches to a medium at a time; all of its flows then use that medium.

    The media of a moving node are the cells in which it is a station and the links that its moves name. The
    node uses one medium at a time. Before its first move, the node uses all of its media except the target of
    the move. Other links of the node are unaffected. To make the node leave a link, name that link in an
    earlier move, for example one with at = "0 s". Packets already on the old medium are delivered over the
    old medium unless `gap` is set.
    """

    at_s: Seconds = Field(alias="at", examples=["20 s"])
    """Time of the move."""
    node: Name = Field(examples=["handset"])
    """The node that moves."""
    to: Name = Field(examples=["mast-b"])
    """A cell in which the node is a station, or a link that begins or ends at the node, in both
    directions."""
    gap_s: Annotated[Seconds, Field(gt=0)] | None = Field(None, alias="gap", examples=["50 ms"])
    """Handover time between two LTE or NR cells, in which the node neither sends nor receives. Waiting
    packets of both directions, and packets that still reach the old cell, are forwarded to the new one.
    Packets on the new route wait for the forwarded packets, so that order is preserved. Left out: no gap;
    packets in the old cell are delivered there."""
