"""Routes that change during a run: of a flow, or of all packets that cross a link."""

from collections.abc import Iterator
from typing import Annotated, Literal, Protocol

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.quantities import Seconds

Ways = Literal["both", "data", "acks"]


class RerouteModel(Model):
    """A new route from a time on. Packets already past the fork finish on the old route."""

    at_s: Seconds = Field(alias="at", examples=["10 s"])
    """Time of the change."""
    via: tuple[Name, ...] = Field(examples=['["slow"]'])
    """Nodes and links that data passes, in this order. Empty: the shortest path for a flow, the link itself
    for a link."""
    ways: Ways = "both"
    """Packets whose route changes: data, ACKs, or both."""


class Alternation(Model):
    """Routes that alternate. The first takes effect after one period, the second after two, and so on."""

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    """Time between changes."""
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list per route. After the last route the first one follows."""
    ways: Ways = "both"
    """Packets whose route changes: data, ACKs, or both."""


class Moving(Protocol):
    """A flow or a link of a graph. It has reroutes, an alternation, or neither."""

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
