"""Queues in front of links: drop-tail, or another queue discipline of the registry."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AliasChoices,
    Discriminator,
    Field,
    SerializationInfo,
    Tag,
    model_serializer,
    model_validator,
)

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Packets, short_for
from fullpipe.scenario.model.registered import Chosen, field_of, with_fields
from fullpipe.scenario.quantities import Bdps, Bytes, DrainSeconds

_LIMITS = catalogue.queue("drop_tail").params


@with_fields(
    {
        "packets": (Packets | None, field_of(_LIMITS["packets"])[1]),
        "limit_bytes": (Annotated[Bytes, Field(gt=0)] | None, field_of(_LIMITS["bytes"])[1]),
    }
)
class DropTail(Model):
    """First in, first out; packets that arrive while the queue is full are dropped.

    The limit counts waiting packets, without the packet in transmission. Give exactly one of `packets`,
    `bytes` and `size`.
    """

    kind: Literal["drop_tail"] = "drop_tail"
    size_bdp: Bdps = Field(None, alias="size", title="buffer", examples=["1 bdp"])
    """Limit as a multiple of the link's BDP, in whole packets of a full segment, rounded down, at least one.
    The BDP is the link's initial rate times the largest base RTT of the flows that cross the link. For a
    trace or frames, the mean rate is used."""
    size_s: DrainSeconds = Field(
        None,
        title="buffer",
        validation_alias=AliasChoices("size"),
        serialization_alias="size",
        examples=["50 ms"],
    )
    """Limit as a time: the number of bytes on the wire that the link sends in this time, but at least one
    full segment."""

    if TYPE_CHECKING:
        packets: ClassVar[int | None]
        limit_bytes: ClassVar[int | None]

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        limits = (self.packets, self.limit_bytes, self.size_bdp, self.size_s)
        given = sum(limit is not None for limit in limits)
        if given == 0:
            how = 'packets, bytes or size, as in { kind = "drop_tail", size = "1 bdp" }'
            raise ValueError(f"drop_tail needs a limit: {how}")
        if given != 1:
            raise ValueError(
                f'give one of packets = 100, bytes = "1 MiB" and size = "1 bdp"; {given} are given'
            )
        return self

    @property
    def is_relative(self) -> bool:
        """Whether the limit depends on the rate of the link or on the path."""
        return self.size_bdp is not None or self.size_s is not None

    @property
    def limit_units(self) -> tuple[str, ...]:
        """The unit of the limit: "packets" or "bytes"."""
        return ("packets",) if self.limit_bytes is None and self.size_s is None else ("bytes",)


class DeviceQueue(Model):
    """The queue of a network device. When the device queue is full, it stops the link's `queue`, as a driver
    stops a qdisc. When the device queue has space again, `queue` resumes."""

    packets: Annotated[Packets, Field(le=1_000_000)] = Field(title="device queue", examples=[100])
    """Limit in packets, without the packet in transmission. The device queue is first in, first out."""


class Discipline(Chosen):
    """A queue discipline of the registry other than drop_tail, with the parameters that differ from its
    defaults.

    Write { kind = "codel", parameter = value }. `size` sets the limit in packets, as for drop_tail.
    """

    size_bdp: Bdps = Field(None, alias="size", title="buffer", examples=["1 bdp"])
    """Limit in packets as a multiple of the link's BDP. This limit replaces the parameter that limits
    packets. For a shaper slower than the link or its device, the BDP is computed with the shaper's rate."""
    size_s: DrainSeconds = Field(
        None,
        title="buffer",
        validation_alias=AliasChoices("size"),
        serialization_alias="size",
        examples=["50 ms"],
    )
    """Limit in packets as a time: the number of full segments that the link sends in this time."""

    _example = 'a queue such as { kind = "codel", ... }'

    @model_validator(mode="after")
    def _thresholds_rise(self) -> Self:
        low, high = self.params.get("min", 0), self.params.get("max", 0)
        if self.kind == "red" and 0 < high < low:
            raise ValueError(f"max: {high} bytes are less than min, {low} bytes; write the smaller as min")
        return self

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """Return all queues except drop_tail, which has a model of its own."""
        return {name: entry for name, entry in catalogue.queues().items() if name != "drop_tail"}

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry:
        return catalogue.queue(name)

    @property
    def is_relative(self) -> bool:
        """Whether the limit depends on the rate or the path."""
        return self.size_bdp is not None or self.size_s is not None

    @property
    def limit_key(self) -> str | None:
        """The parameter that limits waiting packets, or None if there is no such parameter."""
        return next((key for key, unit in self._limits.items() if unit == "packets"), None)

    @property
    def limit_units(self) -> tuple[str, ...]:
        """The possible units of the limit: "packets", "bytes", or both."""
        return tuple(self._limits.values())

    @property
    def _limits(self) -> dict[str, str]:
        """The parameters that limit the backlog, with their units."""
        return {param.name: param.unit for param in catalogue.queue(self.kind).with_role("limit")}

    @property
    def rate_bps(self) -> int | None:
        """The rate of a shaper, else None."""
        params = catalogue.queue(self.kind).with_role("rate")
        rates = (self.params.get(param.name, param.default) for param in params)
        return next((int(rate) for rate in rates if rate is not None), None)

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.is_relative and self.limit_key is None:
            raise ValueError(f"{self.kind} has no limit in packets, which size would set; leave out size")
        if self.is_relative and self.limit_key in self.params:
            raise ValueError(f"give one of {self.limit_key} and size")
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any, info: SerializationInfo) -> dict[str, Any]:
        sizes = ("size", "size_bdp", "size_s")
        size = {key: v for key, v in write(self).items() if key in sizes and v is not None}
        return {"kind": self.kind, **size, **self.spelt(as_text=bool(info.by_alias))}


def _queue_class(value: object) -> str:
    if isinstance(value, DropTail | Discipline):
        return type(value).__name__
    kind = value.get("kind", "drop_tail") if isinstance(value, dict) else "drop_tail"
    return "DropTail" if kind == "drop_tail" else "Discipline"


Queue = Annotated[
    Annotated[DropTail, Tag("DropTail")] | Annotated[Discipline, Tag("Discipline")],
    Discriminator(_queue_class),
    short_for("kind"),
]
"""A queue, as a table or as text. A name without parameters means the queue with its defaults."""
