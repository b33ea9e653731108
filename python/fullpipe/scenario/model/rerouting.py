"""Routes that change during a run: that of a flow, or of all that crosses a link."""

from collections.abc import Iterator
from typing import Annotated, Literal, Protocol

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.quantities import Seconds

Ways = Literal["both", "data", "acks"]


class RerouteModel(Model):
    """Another route from a time on. Packets past the fork by then finish on the old one."""

    at_s: Seconds = Field(alias="at", examples=["10 s"])
    via: tuple[Name, ...] = Field(examples=['["slow"]'])
    """Nodes and links that data passes in this order; empty: the shortest path, and of a link itself."""
    ways: Ways = "both"
    """Whose route changes: that of data, of ACKs, or of both."""


class Alternation(Model):
    """Routes that take turns: the first after one period, the next after two, and so on in a circle."""

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list for every route."""
    ways: Ways = "both"
    """Whose route changes: that of data, of ACKs, or of both."""


class Moving(Protocol):
    """A flow, or a link of a graph: one of the two, or neither."""

    @property
    def reroutes(self) -> tuple[RerouteModel, ...] | None:
        """At given times."""

    @property
    def alternate(self) -> Alternation | None:
        """In turns."""


def reroutes_of(moving: Moving, duration_s: float) -> Iterator[RerouteModel]:
    """Every change of a route during a run, in the order of time."""
    yield from moving.reroutes or ()
    if turns := moving.alternate:
        for n in range(int(duration_s / turns.every_s)):
            at_s, via = (n + 1) * turns.every_s, turns.vias[n % len(turns.vias)]
            yield RerouteModel.model_construct(at_s=at_s, via=via, ways=turns.ways)


def reroute_count(moving: Moving, duration_s: float) -> int:
    """How many changes `reroutes_of` makes, before any is made."""
    turns = int(duration_s / moving.alternate.every_s) if moving.alternate else 0
    return len(moving.reroutes or ()) + turns
