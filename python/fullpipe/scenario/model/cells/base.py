"""A cell: its stations, SNR, rates and queues."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, PlainSerializer, field_validator, model_validator

from fullpipe.errors import shown
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Delay, Model, Name, WithinError
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.model.link.queues import Queue
from fullpipe.scenario.model.registered import registered, values_of
from fullpipe.scenario.quantities import OrWritten, Seconds, Written

# Selection of modulation and coding schemes (MCS): the base class for all kinds of cells.


class ChosenRate(Model):
    """A rate control law, and the MCS if the law is "fixed"."""

    law: str
    """Rate control law."""
    mcs: int | None
    """MCS of a fixed rate."""

    @model_validator(mode="after")
    def _has_an_mcs_if_fixed(self) -> Self:
        if (self.law == "fixed") != (self.mcs is not None):
            fixed = self.law == "fixed"
            raise WithinError(("mcs", "missing" if fixed else f"{self.law} chooses the MCS; leave mcs out"))
        return self


# Signal-to-noise ratios of stations.


_DECIBELS = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*dB\s*")
_MOST_DECIBELS = 100.0


def _decibels(value: object) -> float:
    found = _DECIBELS.fullmatch(value) if isinstance(value, str) else None
    if found is None or abs(float(found[1])) > _MOST_DECIBELS:
        raise ValueError(f'expected a ratio such as "30 dB", from -100 to 100, got {shown(value)}')
    return float(found[1])


def _text(value: float) -> str:
    return f"{value:g} dB"


Decibels = Annotated[
    float,
    BeforeValidator(_decibels),
    PlainSerializer(_text, return_type=str, when_used="json-unless-none"),
    Written("ratio", "30 dB", ("dB",), _text, signed=True),
]


class ChangingSnr(Model):
    """A signal-to-noise ratio that varies: normally distributed in dB, with a new value every millisecond.

    The correlation of the ratio decays exponentially over time, as the correlation of shadowing does over
    distance (Gudmundson, 1991). Traffic does not affect the ratio.
    """

    mean_db: Decibels = Field(alias="mean", examples=["25 dB"])
    """Mean of the ratio."""
    spread_db: Annotated[Decibels, Field(ge=0)] = Field(0.0, alias="spread", examples=["4 dB"])
    """Standard deviation of the ratio."""
    memory_s: Annotated[Seconds, Field(ge=1e-3, le=1e6)] = Field(1.0, alias="memory", examples=["2 s"])
    """Time after which the correlation has decayed to 1/e."""

    @property
    def numbers(self) -> list[float]:
        """Mean and standard deviation in dB and memory in seconds, as in the plan."""
        return [self.mean_db, self.spread_db, self.memory_s]


def _table(value: object) -> object:
    """Convert a single ratio in dB to a table with a constant ratio."""
    if value is None or isinstance(value, dict | ChangingSnr):
        return value
    return {"mean": _text(_decibels(value))}


Snr = Annotated[ChangingSnr | None, BeforeValidator(_table), OrWritten(Decibels)]
"""A signal-to-noise ratio: `"30 dB"`, or a table if the ratio varies."""


# The base class of cells: a hub, stations, and ports between them, each with a queue.


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
    """Rate of the port while no other port sends. None: unknown."""
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
    """The stations. Each station has a port to the hub; the hub has one port to all stations."""
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
        """Return the queue of station `i` towards the hub, and the part of the cell that describes this
        queue."""
        own = self.stations[i].queue
        return (self.queue, "") if own is None else (own, f".{self.stations_key()}[{i}]")

    @field_validator("stations", mode="before")
    @classmethod
    def _not_too_many(cls, value: object) -> object:
        """Check the number of stations first, as the validation of every station is slow."""
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


# A shared channel on which stations send in turn, as in the upstream direction of cable, fibre and satellite
# networks.


SHARED = catalogue.family("media")["shared"]
"""Parameters of the channel, as the simulator declares them."""


@registered(SHARED)
class Shared(CellModel):
    """A half-duplex channel: one port, of a station or of the hub, sends at a time.

    When a packet reaches an idle port, the port requests a turn. The port can get a turn after the grant
    delay. A port that still has packets at the end of its turn can get the next turn immediately. Ports take
    turns in order. If N ports always have data, each port gets a rate of 8 B / (N (8 B / rate + overhead))
    with turns of B bytes.
    """

    kind: Literal["shared"] = Field(examples=["shared"])
    rate_bps: Rate = Field(alias="rate", examples=["30 Mbit/s"])

    def ports(self) -> Iterator[CellPort]:
        """Yield the port of the hub, then those of the stations in order."""
        nodes = tuple(station.node for station in self.stations)
        yield CellPort(f"{self.name}-{self.hub}", self.hub, nodes, self.queue, self.rate_bps, "")
        for i, node in enumerate(nodes):
            queue, place = self.queue_of(i)
            yield CellPort(f"{self.name}-{node}", node, (self.hub,), queue, self.rate_bps, place)

    def params(self) -> dict[str, Any]:
        """Return the parameters of the channel in the format of the native engine's plan."""
        return dict(values_of(self, SHARED))
