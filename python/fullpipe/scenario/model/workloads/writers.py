"""Workloads of one connection whose application writes at a pace of its own."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.workloads.application import Application, FlowContext, periods_plan
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, Seconds

Rate = Annotated[BitsPerSecond, Field(gt=0)]
Write = Annotated[Bytes, Field(gt=0, le=1_000_000_000)]
WhenFull = Literal["block", "drop"]


class _Writer(Application):
    """What both kinds say of themselves."""

    kind: Literal["cbr", "on_off"]
    rate_bps: Rate | None
    write_bytes: Write | None
    when_full: WhenFull

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it: all the time."""
        return {
            "kind": "writes",
            "rate_bps": self.rate_bps,
            "write_bytes": self.write_bytes or flow.tcp.mss_bytes,
            "periods": None,
            "drops": self.when_full == "drop",
        }


class Cbr(_Writer):
    """An application that writes at a constant rate."""

    kind: Literal["cbr"]
    rate_bps: Rate = Field(alias="rate", examples=["5 Mbit/s"])
    """Payload."""
    write_bytes: Write | None = Field(None, alias="write", examples=["1024 B"])
    """Payload of each write. Left out: a full segment."""
    when_full: WhenFull = "block"
    """When a write does not fit into the send buffer (`tcp.send_buffer`, which holds all that is not
    acknowledged): "block" waits until it does, and keeps the pace from then on; "drop" loses it and goes on,
    which `refused_bytes` counts."""


class OnOff(_Writer):
    """An application that writes now and then: for a while, and then nothing for a while."""

    kind: Literal["on_off"]
    on_s: Annotated[Seconds, Field(ge=1e-6)] = Field(alias="on", examples=["1 s"])
    """How long it writes, beginning with the start; the mean if periods are exponential."""
    off_s: Seconds = Field(alias="off", examples=["2 s"])
    """How long it rests after that."""
    periods: Literal["constant", "exponential"] = "constant"
    """How the lengths of both are distributed."""
    rate_bps: Rate | None = Field(None, alias="rate", examples=["5 Mbit/s"])
    """Payload while it writes. Left out: as much as goes."""
    write_bytes: Write | None = Field(None, alias="write", examples=["1024 B"])
    """Payload of each write. Left out: a full segment."""
    when_full: WhenFull = "block"
    """With a rate, as for cbr."""

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """As the plan has it."""
        return {**super().plan(flow), "periods": periods_plan(self.on_s, self.off_s, self.periods)}

    @model_validator(mode="after")
    def _of_a_rate(self) -> Self:
        if self.rate_bps is None and self.model_fields_set & {"write_bytes", "when_full"}:
            raise ValueError("write and when_full need a rate; without one the send buffer is always full")
        return self


Writer = Cbr | OnOff
"""Any of them."""
