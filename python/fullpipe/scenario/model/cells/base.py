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
    """Name of the node."""
    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Queue of packets to the hub. Left out: the queue of the cell."""


class CellPort(NamedTuple):
    """A port through which a node sends into a cell."""

    name: str
    source: str
    targets: tuple[str, ...]
    """The nodes that the port reaches."""
    queue: Queue | None
    limit_bps: int | None
    """Rate of the port if it is the only one to send. None: unknown."""
    place: str
    """The part of the cell that describes the queue, for messages. Empty: the cell itself."""


class CellModel(Model, ABC):
    """A medium that joins stations to a hub. Packets from station to station pass the hub."""

    most_stations: ClassVar[int] = MAX_STATIONS

    name: Name = Field(examples=["cable"])
    """Name of the cell."""
    kind: str
    hub: Name = Field(examples=["headend"])
    """The node that all stations send to and that sends to all stations."""
    stations: Annotated[tuple[Station, ...], Field(min_length=1)] = Field(examples=['[{ node = "laptop" }]'])
    """The stations. Each has a port to the hub; the hub has one port to all stations."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["1 ms"])
    """Propagation delay from every port to its far end."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Queue of every port without a queue of its own. Left out: first in, first out, without a limit."""

    @property
    def mean_delay_s(self) -> float:
        """Mean propagation delay from a port to its far end."""
        return self.delay_s

    @abstractmethod
    def ports(self) -> Iterator[CellPort]:
        """Yield the ports in the order of the plan."""

    @abstractmethod
    def params(self) -> dict[str, Any]:
        """Return the parameters of the medium in the format of the plan."""

    @classmethod
    def stations_key(cls) -> str:
        """Return the key of the stations in scenarios."""
        return cls.model_fields["stations"].alias or "stations"

    def queue_of(self, i: int) -> tuple[Queue | None, str]:
        """Return the queue of station `i` towards the hub, and the part of the cell that describes it."""
        own = self.stations[i].queue
        return (self.queue, "") if own is None else (own, f".{self.stations_key()}[{i}]")

    @field_validator("stations", mode="before")
    @classmethod
    def _not_too_many(cls, value: object) -> object:
        """Check the number before every station is validated, which is slow."""
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
