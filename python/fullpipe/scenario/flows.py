"""Flows: who sends, with which algorithm, when and how much."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Annotated, Any

from pydantic import Field, model_serializer, model_validator

from fullpipe.errors import UnknownNameError, suggestion
from fullpipe.scenario import catalogue
from fullpipe.scenario.model import Model, Name
from fullpipe.scenario.quantities import Bytes, Seconds, shown
from fullpipe.scenario.tcp import Tcp
from fullpipe.scenario.topology import Access

MAX_FLOWS = 100_000
MAX_GROUPS = 10_000
"""Entries of `flows`, each of which may stand for many with `count`."""


class Cca(Model):
    """A congestion control algorithm and the parameters that differ from its defaults.

    Written "bbr1", or { kind = "bbr1", parameter = value }.
    """

    kind: str
    """Name in the catalogue; an alias becomes the name it stands for."""
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if isinstance(value, Cca):
            return value
        if isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
            raise ValueError(
                f'expected a name such as "cubic" or {{ kind = "cubic", ... }}, got {shown(value)}'
            )
        params = {key: v for key, v in value.items() if key != "kind"}
        entry = _entry(value["kind"])
        problems = [problem for key, v in params.items() if (problem := _problem(entry, key, v))]
        if problems:
            raise ValueError("; ".join(problems))
        return {"kind": entry.name, "params": params}

    @model_serializer
    def _write(self) -> str | dict[str, Any]:
        return {"kind": self.kind, **self.params} if self.params else self.kind


def _entry(name: str) -> catalogue.Entry:
    try:
        return catalogue.controller(name)
    except UnknownNameError as error:
        raise ValueError(str(error)) from None


def _problem(entry: catalogue.Entry, key: str, value: object) -> str | None:
    """Why `value` cannot be parameter `key` of an algorithm, if it cannot."""
    param = entry.params.get(key)
    if param is None:
        return f'unknown parameter "{key}" of {entry.name}{suggestion(key, entry.params)}'
    if not _same_type(param.default, value):
        return f"{key}: expected a value like {shown(param.default)}, got {shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        low = float("-inf") if param.min is None else param.min
        high = float("inf") if param.max is None else param.max
        if not low <= value <= high or value in (float("inf"), float("-inf")):
            return f"{key}: {shown(value)} is out of range; from {low:g} to {high:g}"
    return None


def _same_type(default: object, value: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


class Flow(Model):
    """One flow, or `count` flows that differ in nothing but their names."""

    name: Name | None = None
    """Left out: the algorithm's name. Several flows of a name are numbered: bbr1-1, bbr1-2, ..."""
    cca: Cca = Field(examples=["cubic"])
    """The congestion control algorithm."""
    count: Annotated[int, Field(strict=True, ge=1, le=MAX_FLOWS)] = 1
    """How many flows this describes."""
    start_s: Seconds = Field(0.0, alias="start")
    """When the flow begins to send."""
    start_jitter_s: Seconds = Field(0.0, alias="start_jitter")
    """The start is uniform in [start, start + start_jitter), drawn from the seed and the name of the flow."""
    stop_s: Seconds | None = Field(None, alias="stop")
    """When the application stops handing out data. Left out: never."""
    size_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(None, alias="size", examples=["10 MB"])
    """Payload to send. Left out: unlimited."""
    access: Access | None = None
    """In a dumbbell, what differs from the access links of the topology."""
    source: Name | None = Field(None, alias="from")
    """In a graph, the node that sends."""
    target: Name | None = Field(None, alias="to")
    """In a graph, the node that receives."""
    via: tuple[Name, ...] = ()
    """In a graph, nodes that data passes in this order, and ACKs in the opposite one. Between them, and from
    end to end if there are none, the path is the shortest by delay."""
    tcp: Tcp | None = None
    """What differs from the transport of the scenario."""


def flow_names(flows: Sequence[Flow]) -> list[list[str]]:
    """The name of every single flow, one list for every entry of `flows`.

    A name that stands for one flow is kept; one that stands for several, and one taken from an algorithm, is
    numbered from 1 across the whole scenario.
    """
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    return [_numbered(flow, numbers[flow.name or flow.cca.kind]) for flow in flows]


def _numbered(flow: Flow, numbers: Iterator[int]) -> list[str]:
    if flow.name and flow.count == 1:
        return [flow.name]
    return [f"{flow.name or flow.cca.kind}-{next(numbers)}" for _ in range(flow.count)]
