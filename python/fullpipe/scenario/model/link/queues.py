"""Queues in front of links: drop-tail, or any discipline of the catalogue."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, Discriminator, Field, Tag, model_serializer, model_validator

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.base import Model, Packets, short_for
from fullpipe.scenario.model.chosen import Chosen
from fullpipe.scenario.quantities import Bdps, Bytes, DrainSeconds


class DropTail(Model):
    """First in, first out; a packet that finds the queue full is dropped.

    The limit counts waiting packets, not the one being sent. Exactly one of `packets`, `bytes` and `size` is
    given.
    """

    kind: Literal["drop_tail"] = "drop_tail"
    packets: Packets | None = Field(None, title="buffer")
    """At most so many packets."""
    limit_bytes: Annotated[Bytes, Field(gt=0)] | None = Field(
        None, alias="bytes", title="buffer", examples=["1 MiB"]
    )
    """At most so many bytes on the wire."""
    size_bdp: Bdps = Field(None, alias="size", title="buffer", examples=["1 bdp"])
    """A multiple of the link's bandwidth-delay product: its rate times the largest base RTT of the flows that
    cross it, rounded down to whole packets of a full segment on the wire, and at least one. The rate is
    that of the link as it begins; of a trace or of frames it is their mean."""
    size_s: DrainSeconds = Field(
        None,
        title="buffer",
        validation_alias=AliasChoices("size"),
        serialization_alias="size",
        examples=["50 ms"],
    )
    """Or a time: what the link sends in it, in bytes on the wire, and at least a full segment."""

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        limits = (self.packets, self.limit_bytes, self.size_bdp, self.size_s)
        given = sum(limit is not None for limit in limits)
        if given != 1:
            raise ValueError(
                f'give one of packets = 100, bytes = "1 MiB" and size = "1 bdp"; there are {given}'
            )
        return self

    @property
    def is_relative(self) -> bool:
        """Whether its limit takes a rate, or a path, to be known."""
        return self.size_bdp is not None or self.size_s is not None

    @property
    def limit_units(self) -> tuple[str, ...]:
        """Of what its limit is one: "packets" or "bytes"."""
        return ("packets",) if self.limit_bytes is None and self.size_s is None else ("bytes",)


class DeviceQueue(Model):
    """The queue of a device: it stops the queue above it when it is full, and wakes it when it has room."""

    packets: Annotated[Packets, Field(le=1_000_000)] = Field(title="device queue", examples=[100])
    """What it holds besides the packet being sent, first in, first out."""


class Discipline(Chosen):
    """Any other queue discipline of the catalogue, with the parameters that differ from its defaults.

    Written { kind = "codel", parameter = value }. `size` sets its limit in packets, as for drop_tail.
    """

    size_bdp: Bdps = Field(None, alias="size", title="buffer", examples=["1 bdp"])
    """A multiple of the link's bandwidth-delay product in place of the parameter that limits packets. Of
    a shaper that is slower than the link, or its device, the product is that of the shaper's rate."""
    size_s: DrainSeconds = Field(
        None,
        title="buffer",
        validation_alias=AliasChoices("size"),
        serialization_alias="size",
        examples=["50 ms"],
    )
    """Or a time: as many full segments as the link sends in it."""

    _example = 'a queue such as { kind = "codel", ... }'

    @model_validator(mode="after")
    def _thresholds_rise(self) -> Self:
        low, high = self.params.get("min", 0), self.params.get("max", 0)
        if self.kind == "red" and 0 < high < low:
            raise ValueError(f"max: {high} bytes are less than min, {low} bytes; write the smaller as min")
        return self

    @classmethod
    def known(cls) -> Mapping[str, catalogue.Entry]:
        """The queues but for drop_tail, which has a model of its own."""
        return {name: entry for name, entry in catalogue.queues().items() if name != "drop_tail"}

    @classmethod
    def _entry(cls, name: str) -> catalogue.Entry:
        return catalogue.queue(name)

    @property
    def is_relative(self) -> bool:
        """Whether its limit takes a rate, or a path, to be known."""
        return self.size_bdp is not None or self.size_s is not None

    @property
    def limit_key(self) -> str | None:
        """The parameter that limits the packets that wait, if it has one."""
        return next((key for key, unit in self._limits.items() if unit == "packets"), None)

    @property
    def limit_units(self) -> tuple[str, ...]:
        """Of what its limit may be one: "packets", "bytes" or either."""
        return tuple(self._limits.values())

    @property
    def _limits(self) -> dict[str, str]:
        """The parameters that limit what waits, and their units."""
        return {param.name: param.unit for param in catalogue.queue(self.kind).with_role("limit")}

    @property
    def rate_bps(self) -> int | None:
        """The rate to which it shapes, if it does."""
        params = catalogue.queue(self.kind).with_role("rate")
        rates = (self.params.get(param.name, param.default) for param in params)
        return next((int(rate) for rate in rates if rate is not None), None)

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.is_relative and self.limit_key is None:
            raise ValueError(f"{self.kind} has no limit in packets that a size could set")
        if self.is_relative and self.limit_key in self.params:
            raise ValueError(f"give one of {self.limit_key} and size")
        return self

    @model_serializer(mode="wrap")
    def _write(self, write: Any) -> dict[str, Any]:
        sizes = ("size", "size_bdp", "size_s")
        size = {key: v for key, v in write(self).items() if key in sizes and v is not None}
        return {"kind": self.kind, **size, **self.params}


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
"""A queue; its name stands for it with its defaults."""
