"""Applications that write into a connection."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import BitsPerSecond, Bytes, Seconds, to_nanoseconds

# The base class of workloads.


@dataclass(frozen=True)
class FlowContext:
    """Properties of a flow from which its application computes the plan."""

    tcp: Tcp
    count: int
    """Number of flows in the flow's entry of the scenario."""
    rate_bps: int | None
    """Initial rate of the slowest link on the data's route. None: no link on the route has a rate."""


class Application(Model, ABC):
    """The application of a flow. Each kind of workload is a subclass."""

    def mean_interval_s(self, flow: FlowContext) -> float | None:
        """Return the mean time between two transfers of one flow in s, or None if the times are not fixed.

        Raises:
            ProblemsError: If a needed property of the flow is missing.
        """
        return None

    @abstractmethod
    def plan(self, flow: FlowContext) -> dict[str, Any] | None:
        """Return the `workload` of a flow in the format of the plan: integers in base units.

        Raises:
            ProblemsError: If a needed property of the flow is missing.
        """


def periods_plan(on_s: float, off_s: float, lengths: Literal["constant", "exponential"]) -> dict[str, Any]:
    """Return active periods and silences in the format of the plan."""
    return {
        "on_ns": to_nanoseconds(on_s),
        "off_ns": to_nanoseconds(off_s),
        "exponential": lengths == "exponential",
    }


# Workloads of one connection whose application writes at a given rate or in periods.


Rate = Annotated[BitsPerSecond, Field(gt=0)]
Write = Annotated[Bytes, Field(gt=0, le=1_000_000_000)]
WhenFull = Literal["block", "drop"]


class _Writer(Application):
    """Base class of the workloads `cbr` and `on_off`."""

    kind: Literal["cbr", "on_off"]
    rate_bps: Rate | None
    write_bytes: Write | None
    when_full: WhenFull

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan, without periods of silence."""
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
    """Payload rate of the writes."""
    write_bytes: Write | None = Field(None, alias="write", examples=["1024 B"])
    """Payload of each write. Left out: a full segment."""
    when_full: WhenFull = "block"
    """Handling of a write that does not fit into the send buffer (`tcp.send_buffer`), which holds all
    unacknowledged data. "block": wait until the write fits, then continue at the rate. "drop": discard the
    write and continue; `refused_bytes` counts its bytes."""


class OnOff(_Writer):
    """An application that writes in periods separated by silence."""

    kind: Literal["on_off"]
    on_s: Annotated[Seconds, Field(ge=1e-6)] = Field(alias="on", examples=["1 s"])
    """Duration of a writing period; the mean if periods are exponential. The flow starts with a writing
    period."""
    off_s: Seconds = Field(alias="off", examples=["2 s"])
    """Duration of the silence after a writing period; the mean if periods are exponential."""
    periods: Literal["constant", "exponential"] = "constant"
    """Distribution of the durations of writing periods and silences."""
    rate_bps: Rate | None = Field(None, alias="rate", examples=["5 Mbit/s"])
    """Payload rate while writing. Left out: unlimited; the send buffer is always full."""
    write_bytes: Write | None = Field(None, alias="write", examples=["1024 B"])
    """Payload of each write; only with `rate`. Left out: a full segment."""
    when_full: WhenFull = "block"
    """Handling of a write that does not fit into the send buffer, as for `cbr`; only with `rate`."""

    def plan(self, flow: FlowContext) -> dict[str, Any]:
        """Return the workload in the format of the plan."""
        return {**super().plan(flow), "periods": periods_plan(self.on_s, self.off_s, self.periods)}

    @model_validator(mode="after")
    def _of_a_rate(self) -> Self:
        if self.rate_bps is None and self.model_fields_set & {"write_bytes", "when_full"}:
            raise ValueError("write and when_full need a rate; without a rate the send buffer is always full")
        return self


Writer = Cbr | OnOff
"""A workload that writes at a rate or in periods."""
