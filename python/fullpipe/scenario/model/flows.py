"""Flows: between which hosts, with which algorithm, when and how much."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_serializer, model_validator

from fullpipe.algorithms import classes, own
from fullpipe.errors import ScenarioError
from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Name, Switch, WithinError
from fullpipe.scenario.model.chosen import Chosen
from fullpipe.scenario.model.dscp import Dscp
from fullpipe.scenario.model.later import later
from fullpipe.scenario.model.link import Access
from fullpipe.scenario.model.rerouting import Alternation, RerouteModel
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, Seconds

if TYPE_CHECKING:
    from fullpipe.scenario.model.workloads import Workload
    from fullpipe.scenario.model.workloads.datagrams import Datagrams
else:
    Workload = later("fullpipe.scenario.model.workloads", "Workload")

MAX_FLOWS = 100_000
MAX_GROUPS = 10_000
"""Entries of `flows`, each of which may stand for many with `count`."""


class Cca(Chosen):
    """A congestion control algorithm and the parameters that differ from its defaults.

    Written "bbr1", or { kind = "bbr1", parameter = value }. One of your own is "python:module:Class", or
    "library:PATH:NAME" in a shared object; in Python the class itself will do.
    """

    own_names = "^(python|library):.+$"

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """The algorithms."""
        return catalogue.controllers()

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry | None:
        if not own.is_own(name):
            return catalogue.controller(name)
        own.check_name(name)
        return _own_entry(name)

    @classmethod
    def _spelt(cls, value: object) -> object:
        """A class stands for its name."""
        if isinstance(value, type):
            return _name(value)
        if isinstance(value, dict) and isinstance(value.get("kind"), type):
            return {**value, "kind": _name(value["kind"])}
        return value

    _example = 'a name such as "cubic" or { kind = "cubic", ... }'

    @model_serializer
    def _write(self) -> str | dict[str, Any]:
        return {"kind": self.kind, **self.params} if self.params else self.kind


class Pace(Model):
    """How fast the application hands data out from a time on."""

    at_s: Seconds = Field(alias="at", examples=["5 s"])
    rate_bps: BitsPerSecond | None = Field(None, alias="rate", examples=["1 Mbit/s"])
    """Payload, packet by packet; "0 bit/s" is silence. Left out: without limit."""


def _name(cls: type) -> str:
    try:
        return classes.name(cls)
    except ScenarioError as error:
        raise ValueError(str(error)) from None


def _own_entry(name: str) -> catalogue.Entry | None:
    """What is known of a Python-written algorithm whose class has come; nothing of one that has not."""
    cls = classes.find(name)
    if cls is None:
        return None
    from fullpipe.algorithms.controller import parameters  # here: most scenarios name no class

    params = {key: catalogue.Param(key, default, "", "") for key, default in parameters(cls).items()}
    return catalogue.Entry(name, title="", source="", aliases=(), params=params)


def own_algorithms(flows: "Sequence[Flow]") -> list[str]:
    """The names of algorithms that are not of the registry, each once."""
    kinds = [flow.cca.kind for flow in flows if flow.cca]
    return [kind for kind in dict.fromkeys(kinds) if own.is_own(kind)]


Direction = Literal["forward", "reverse"]


class Flow(Model):
    """One flow, or `count` flows that differ in nothing but their names."""

    name: Name | None = None
    """Left out: the name of the algorithm or, without one, of the workload. Several flows of a name are
    numbered: bbr1-1, bbr1-2, ..."""
    stream: Name | None = None
    """What the random numbers of this entry are called: those of its starts, arrivals, sizes and pauses, and
    of its algorithm. It draws the same wherever it stands. Left out: its place in `flows`. Neither name nor
    algorithm has a part in it, so that another algorithm meets the same traffic."""
    cca: Cca | None = Field(None, title="algorithm", examples=["cubic"])
    """The congestion control algorithm, without which no flow but one of datagrams can be."""
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_FLOWS)] = 1
    """How many flows this describes."""
    start_s: Seconds = Field(0.0, alias="start", title="start")
    """When the flow begins to send."""
    start_jitter_s: Seconds = Field(0.0, alias="start_jitter")
    """The start is uniform in [start, start + start_jitter), drawn from the seed."""
    stop_s: Seconds | None = Field(None, alias="stop")
    """When the application stops handing out data. Left out: never."""
    size_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(
        None, alias="size", title="flow size", examples=["10 MB"]
    )
    """Payload to send. Left out: unlimited."""
    application: tuple[Pace, ...] | None = Field(None, examples=['[{ at = "5 s", rate = "1 Mbit/s" }]'])
    """How fast the application hands data out, in the order of time; without limit before the first entry."""
    workload: Workload | None = Field(None, examples=['{ kind = "bulk" }'])
    """What the application does. Left out: it sends one stream of data."""
    dscp: Dscp | None = Field(None, examples=["ef"])
    """Differentiated services code point of data and ACKs, for queues with classes. Left out: 0."""
    hosts: tuple[Name, Name] | None = Field(None, examples=['["laptop", "server"]'])
    """The hosts that send and receive, for queues that share among hosts. Left out: in a graph `from` and
    `to`, in a dumbbell hosts of its own."""
    direction: Direction | None = Field(None, examples=["reverse"])
    """In a dumbbell, which way data crosses it: "forward", which is a download, or "reverse", an upload that
    shares the reverse direction with the ACKs of downloads. Left out: forward."""
    upload: Switch | None = Field(None, examples=[True])
    """true: `direction = "reverse"` in one word."""
    station: Name | None = Field(None, examples=["laptop"])
    """In a dumbbell whose bottleneck is a cell, the station that receives or, of an upload, sends. Left out:
    the only one."""
    access: Access | None = None
    """In a dumbbell, what differs from the access links of the topology."""
    source: Name | None = Field(None, alias="from")
    """In a graph, the node that sends."""
    target: Name | None = Field(None, alias="to")
    """In a graph, the node that receives."""
    via: tuple[Name, ...] = ()
    """In a graph, nodes and links that data passes in this order, and ACKs in the opposite one. Between them,
    and from end to end if there are none, the path is the shortest by delay."""
    reroutes: tuple[RerouteModel, ...] | None = Field(None, examples=['[{ at = "10 s", via = ["slow"] }]'])
    """In a graph, other routes from given times on, in the order of time."""
    alternate: Alternation | None = Field(None, examples=['{ every = "3 s", via = [["slow"], ["fast"]] }'])
    """In a graph, routes that take turns."""
    tcp: Tcp | None = None
    """What differs from the transport of the scenario."""

    @property
    def described(self) -> str:
        """The name of its algorithm or, without one, of its workload."""
        return self.cca.kind if self.cca else self.workload.kind if self.workload else ""

    @property
    def is_upload(self) -> bool:
        """Whether its data crosses a dumbbell in the reverse direction."""
        return self.direction == "reverse" or self.upload is True

    @property
    def datagrams(self) -> "Datagrams | None":
        """The workload, if it is one of datagrams."""
        if self.workload is None:
            return None
        from fullpipe.scenario.model.workloads.datagrams import Datagrams  # here: it is there by now

        return self.workload if isinstance(self.workload, Datagrams) else None

    @property
    def is_of_transfers(self) -> bool:
        """Whether the workload is one of transfers."""
        if self.workload is None:
            return False
        from fullpipe.scenario.model.workloads.transfers import Transfers  # here, as above

        return isinstance(self.workload, Transfers)

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        if self.direction is not None and self.upload is not None:
            raise WithinError(("upload", "direction says it already; leave out one of the two"))
        return self


def flow_names(flows: Sequence[Flow]) -> list[list[str]]:
    """The name of every single flow, one list for every entry of `flows`.

    A name that stands for one flow is kept; one that stands for several, and one taken from an algorithm, is
    numbered from 1 across the whole scenario.
    """
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    return [_numbered(flow, numbers[_base_name(flow)]) for flow in flows]


def flow_streams(flows: Sequence[Flow]) -> list[list[str]]:
    """What the random numbers of every single flow are called, one list for every entry of `flows`.

    After the entry's place in the list or what it says itself, and the number of the flow in it, both from 0.
    Names hold neither # nor /, so that no two are equal.
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
