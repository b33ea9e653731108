"""The base class of cells: a hub, stations, and ports between them, each with a queue."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field, field_validator, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Delay, Model, Name
from fullpipe.scenario.model.link.queues import Queue

MAX_STATIONS = 10_000


class Station(Model):
    """A node in a cell."""

    node: Name = Field(examples=["laptop"])
    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Of what it sends to the hub. Left out: that of the cell."""


class CellPort(NamedTuple):
    """Where a node sends into a cell."""

    name: str
    source: str
    targets: tuple[str, ...]
    """The nodes that it reaches."""
    queue: Queue | None
    limit_bps: int | None
    """What it carries at most, all by itself; None: it is not known."""
    place: str
    """The part of the cell that describes its queue, for messages; empty: the cell itself."""


class CellModel(Model, ABC):
    """A medium that joins stations to a hub. What one station sends to another passes the hub."""

    most_stations: ClassVar[int] = MAX_STATIONS

    name: Name = Field(examples=["cable"])
    kind: str
    hub: Name = Field(examples=["headend"])
    """The node that the stations reach, and that sends to all of them."""
    stations: Annotated[tuple[Station, ...], Field(min_length=1)] = Field(examples=['[{ node = "laptop" }]'])
    """Each has a port, from which it sends to the hub; the hub has one, from which it sends to all."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["1 ms"])
    """Propagation delay from every port to its far end."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Of every port that has none of its own. Left out: never full."""

    @property
    def mean_delay_s(self) -> float:
        """Propagation from every port to its far end, in the mean."""
        return self.delay_s

    @abstractmethod
    def ports(self) -> Iterator[CellPort]:
        """Every port, in the order in which the plan has them."""

    @abstractmethod
    def params(self) -> dict[str, Any]:
        """What its law goes by, as the plan has it."""

    @classmethod
    def stations_key(cls) -> str:
        """What scenarios call the stations."""
        return cls.model_fields["stations"].alias or "stations"

    def queue_of(self, i: int) -> tuple[Queue | None, str]:
        """The queue of what a station sends, by the number of the station, and the part that describes it."""
        own = self.stations[i].queue
        return (self.queue, "") if own is None else (own, f".{self.stations_key()}[{i}]")

    @field_validator("stations", mode="before")
    @classmethod
    def _not_too_many(cls, value: object) -> object:
        """Before each is read, which takes a while."""
        if isinstance(value, list | tuple) and len(value) > cls.most_stations:
            raise ValueError(f"has {len(value)}, must have at most {cls.most_stations}")
        return value

    @model_validator(mode="after")
    def _nodes_differ(self) -> "CellModel":
        nodes = [self.hub, *(station.node for station in self.stations)]
        seen: set[str] = set()
        for i, node in enumerate(nodes):
            if node in seen:
                what = "is the hub" if node == self.hub else "is a station already"
                raise ValueError(f"{self.stations_key()}[{i - 1}].node: {shown(node)} {what}")
            seen.add(node)
        return self
