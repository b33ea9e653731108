"""The keys of an entry of `flows`, and the names and random number streams of its flows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SerializationInfo, model_serializer, model_validator

from fullpipe.algorithms import classes, own
from fullpipe.errors import ScenarioError, shown, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Name, Switch, WithinError
from fullpipe.scenario.model.later import later
from fullpipe.scenario.model.link import Access
from fullpipe.scenario.model.registered import Chosen
from fullpipe.scenario.model.routing import Alternation, RerouteModel
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, OrWritten, Seconds

# Differentiated services code points: values, or the names of values in RFCs and `tc`.


NAMES = {
    "le": 1,
    **{f"cs{n}": 8 * n for n in range(8)},
    **{f"af{n}{drop}": 8 * n + 2 * drop for n in range(1, 5) for drop in range(1, 4)},
    "va": 44,
    "ef": 46,
}
"""Code points by name. Sources: RFC 8622 (LE), 2474 (CS), 2597 (AF), 5865 (VA) and 3246 (EF)."""


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lower() not in NAMES:
        raise ValueError(f"unknown code point {shown(value)}{suggestion(value, NAMES)}")
    return NAMES[value.lower()]


Dscp = Annotated[int, Field(strict=True, ge=0, le=63), BeforeValidator(_number), OrWritten(Literal[*NAMES])]
"""A differentiated services code point: 0 to 63, or a name such as "ef"."""


# Flows: their hosts, algorithm, times and amounts of data.


if TYPE_CHECKING:
    from fullpipe.scenario.model.workloads import Workload
    from fullpipe.scenario.model.workloads.datagrams import Datagrams
else:
    Workload = later("fullpipe.scenario.model.workloads", "Workload")

MAX_FLOWS = 100_000
MAX_GROUPS = 10_000
"""Maximum number of entries of `flows`. An entry may describe many flows with `count`."""


class Cca(Chosen):
    """A congestion control algorithm and the parameters that differ from its defaults.

    Write "bbr1", or { kind = "bbr1", parameter = value }. For your own algorithm, write
    "python:module:Class", or "library:PATH:NAME" for a shared object. From Python you can also pass the class
    itself.
    """

    own_names = "^(python|library):.+$"

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """Return the registered algorithms by name."""
        return catalogue.controllers()

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry | None:
        if not own.is_own(name):
            return catalogue.controller(name)
        own.check_name(name)
        return _own_entry(name)

    @classmethod
    def _spelt(cls, value: object) -> object:
        """Replace a Python class by its name."""
        if isinstance(value, type):
            return _name(value)
        if isinstance(value, dict) and isinstance(value.get("kind"), type):
            return {**value, "kind": _name(value["kind"])}
        return value

    _example = 'a name such as "cubic" or { kind = "cubic", ... }'

    @model_serializer
    def _write(self, info: SerializationInfo) -> str | dict[str, Any]:
        params = self.spelt(as_text=bool(info.by_alias))
        return {"kind": self.kind, **params} if params else self.kind


class Pace(Model):
    """A change of the rate at which the application writes data."""

    at_s: Seconds = Field(alias="at", examples=["5 s"])
    """Time from which the rate applies."""
    rate_bps: BitsPerSecond | None = Field(None, alias="rate", examples=["1 Mbit/s"])
    """Payload rate; data is written packet by packet. "0 bit/s" is silence. Left out: unlimited."""


def _name(cls: type) -> str:
    try:
        return classes.name(cls)
    except ScenarioError as error:
        raise ValueError(str(error)) from None


def _own_entry(name: str) -> catalogue.Entry | None:
    """Return the entry of an algorithm written in Python, or None if its class is not loaded."""
    cls = classes.find(name)
    if cls is None:
        return None
    from fullpipe.algorithms.controller import parameters  # imported here, as most scenarios name no class

    params = {key: catalogue.Param(key, default, "", "") for key, default in parameters(cls).items()}
    return catalogue.Entry(name, title="", source="", aliases=(), params=params)


def own_algorithms(flows: "Sequence[Flow]") -> list[str]:
    """Return the distinct names of the algorithms of `flows` that are not in the registry."""
    kinds = [flow.cca.kind for flow in flows if flow.cca]
    return [kind for kind in dict.fromkeys(kinds) if own.is_own(kind)]


Direction = Literal["forward", "reverse"]


class Flow(Model):
    """One flow, or `count` flows that differ only in their names and random numbers."""

    name: Name | None = None
    """Name of the flow in tables and figures. Left out: the algorithm's name or, without an algorithm, the
    workload's. Several flows with one name are numbered: bbr1-1, bbr1-2, ..."""
    stream: Name | None = None
    """Name of this entry's random number stream, for starts, arrivals, sizes, pauses and the algorithm. An
    entry with the same `stream` draws the same random numbers at any place in `flows`. Left out: the entry's
    place in `flows`. This default does not depend on the flow's name or algorithm, so that two algorithms
    meet the same traffic."""
    cca: Cca | None = Field(None, title="algorithm", examples=["cubic"])
    """The congestion control algorithm; required unless the flow sends datagrams only."""
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_FLOWS)] = 1
    """Number of flows that this entry describes."""
    start_s: Seconds = Field(0.0, alias="start", title="start")
    """Time at which the flow starts to send."""
    start_jitter_s: Seconds = Field(0.0, alias="start_jitter")
    """Upper bound of the random delay of the start. The start is drawn uniformly from
    [start, start + start_jitter), by the seed."""
    stop_s: Seconds | None = Field(None, alias="stop")
    """Time at which the application stops writing data. Left out: never."""
    size_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(
        None, alias="size", title="flow size", examples=["10 MB"]
    )
    """Payload to send. Left out: unlimited."""
    application: tuple[Pace, ...] | None = Field(None, examples=['[{ at = "5 s", rate = "1 Mbit/s" }]'])
    """Rates at which the application writes data, in the order of time. The rate is unlimited before the
    first entry."""
    workload: Workload | None = Field(None, examples=['{ kind = "bulk" }'])
    """Traffic pattern of the application. Left out: one stream of data ("bulk")."""
    dscp: Dscp | None = Field(None, examples=["ef"])
    """Differentiated services code point of data and ACKs, used by queues with classes. Left out: 0."""
    hosts: tuple[Name, Name] | None = Field(None, examples=['["laptop", "server"]'])
    """The sending and the receiving host, for host options and for queues that are fair among hosts. Left
    out: `from` and `to` in a graph; in a dumbbell, two hosts that no other flow uses."""
    direction: Direction | None = Field(None, examples=["reverse"])
    """Direction of the data in a dumbbell: "forward" (download) or "reverse" (upload). Uploads share the
    reverse direction with the ACKs of downloads. Left out: forward."""
    upload: Switch | None = Field(None, examples=[True])
    """`upload = true` is short for `direction = "reverse"`."""
    station: Name | None = Field(None, examples=["laptop"])
    """Station that receives (or, for an upload, sends) in a dumbbell whose bottleneck is a cell. Required if
    the cell has several stations."""
    access: Access | None = None
    """Overrides for the access links of a dumbbell."""
    source: Name | None = Field(None, alias="from")
    """The sending node in a graph."""
    target: Name | None = Field(None, alias="to")
    """The receiving node in a graph."""
    via: tuple[Name, ...] = ()
    """Nodes and links of a graph that data passes in this order and ACKs in reverse order. Between these
    nodes and links, the route is the shortest path by delay. Empty: the shortest path from end to end."""
    reroutes: tuple[RerouteModel, ...] | None = Field(None, examples=['[{ at = "10 s", via = ["slow"] }]'])
    """Changes of the route in a graph at given times, in the order of time."""
    alternate: Alternation | None = Field(None, examples=['{ every = "3 s", via = [["slow"], ["fast"]] }'])
    """Routes in a graph that alternate periodically."""
    tcp: Tcp | None = None
    """Overrides for the transport of the scenario."""

    @property
    def described(self) -> str:
        """The name of the algorithm or, without an algorithm, of the workload."""
        return self.cca.kind if self.cca else self.workload.kind if self.workload else ""

    @property
    def is_upload(self) -> bool:
        """Whether data crosses a dumbbell in the reverse direction."""
        return self.direction == "reverse" or self.upload is True

    @property
    def datagrams(self) -> "Datagrams | None":
        """The workload if it sends datagrams, else None."""
        if self.workload is None:
            return None
        # imported here, as most flows have no workload
        from fullpipe.scenario.model.workloads.datagrams import Datagrams

        return self.workload if isinstance(self.workload, Datagrams) else None

    @property
    def is_of_transfers(self) -> bool:
        """Whether the workload consists of transfers."""
        if self.workload is None:
            return False
        # imported here, as most flows have no workload
        from fullpipe.scenario.model.workloads.transfers import Transfers

        return isinstance(self.workload, Transfers)

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        if self.direction is not None and self.upload is not None:
            raise WithinError(("upload", "direction is given as well; leave out either upload or direction"))
        return self


TOTAL_NAMES = ("all flows", "all downloads", "all uploads")
"""Names of the totals over several entries of `flows` in tables and figures."""


def flow_names(flows: Sequence[Flow]) -> list[list[str]]:
    """Return the name of every single flow, one list per entry of `flows`.

    An explicit name of a single flow is unchanged. Names shared by several flows, and names taken from an
    algorithm, are numbered from 1 across the whole scenario.
    """
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    return [_numbered(flow, numbers[_base_name(flow)]) for flow in flows]


def flow_streams(flows: Sequence[Flow]) -> list[list[str]]:
    """Return the random number stream of every single flow, one list per entry of `flows`.

    A stream is "<entry>/<index>". <entry> is the entry's `stream`, or "#" and the entry's index in `flows`.
    <index> is the index of the flow in the entry. Indices count from 0. Scenario names contain neither # nor
    /, so streams are unique.
    """
    entries = [flow.stream or f"#{place}" for place, flow in enumerate(flows)]
    return [
        [f"{entry}/{number}" for number in range(flow.count)]
        for entry, flow in zip(entries, flows, strict=True)
    ]


def _numbered(flow: Flow, numbers: Iterator[int]) -> list[str]:
    if flow.name and flow.count == 1:
        return [flow.name]
    return [f"{_base_name(flow)}-{next(numbers)}" for _ in range(flow.count)]


def _base_name(flow: Flow) -> str:
    return flow.name or own.title(flow.described)
