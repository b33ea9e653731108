"""The base class of cells: a hub, stations, and for each of them a port with a queue."""

from abc import ABC, abstractmethod
from typing import Annotated, Any

from pydantic import Field, model_validator

from fullpipe.errors import shown
from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.model.link.changes import Delay
from fullpipe.scenario.model.link.queues import Queue

MAX_STATIONS = 10_000


class Station(Model):
    """A node in a cell."""

    node: Name = Field(examples=["laptop"])
    queue: Queue | None = Field(None, examples=['{ kind = "fq_codel" }'])
    """Of what it sends to the hub. Left out: that of the cell."""


class CellModel(Model, ABC):
    """A medium that joins stations to a hub. What one station sends to another passes the hub."""

    name: Name = Field(examples=["cable"])
    kind: str
    hub: Name = Field(examples=["headend"])
    """The node that the stations reach, and that sends to all of them."""
    stations: Annotated[tuple[Station, ...], Field(min_length=1, max_length=MAX_STATIONS)] = Field(
        examples=['[{ node = "laptop" }]']
    )
    """Each has a port, from which it sends to the hub; the hub has one, from which it sends to all."""
    delay_s: Delay = Field(0.0, alias="delay", examples=["1 ms"])
    """Propagation delay from every port to its far end."""
    queue: Queue | None = Field(None, examples=['{ kind = "drop_tail", packets = 100 }'])
    """Of every port that has none of its own. Left out: never full."""

    @property
    @abstractmethod
    def limit_bps(self) -> int | None:
        """What all ports together carry at most; None: it is not known."""

    @abstractmethod
    def params(self) -> dict[str, Any]:
        """What its law goes by, as the plan has it."""

    @model_validator(mode="after")
    def _nodes_differ(self) -> "CellModel":
        nodes = [self.hub, *(station.node for station in self.stations)]
        for i, node in enumerate(nodes[1:]):
            if node in nodes[: i + 1]:
                what = "is the hub" if node == self.hub else "is a station already"
                raise ValueError(f"stations[{i}].node: {shown(node)} {what}")
        return self
