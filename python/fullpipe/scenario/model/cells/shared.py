"""A shared channel with turns, as upstream in cable, fibre and satellite networks."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from fullpipe.scenario.model.base import Delay
from fullpipe.scenario.model.cells.base import CellModel, CellPort
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.quantities import Bytes, to_nanoseconds


class Shared(CellModel):
    """A half-duplex channel: one port, of a station or of the hub, sends at a time.

    When a packet reaches an idle port, the port requests a turn, which it can get after the grant delay. A
    port that still has packets at the end of its turn can get the next one at once. Ports take turns in
    order. Each of N ports that always have data gets 8 B / (N (8 B / rate + overhead)) in turns of B bytes.
    """

    kind: Literal["shared"] = Field(examples=["shared"])
    rate_bps: Rate = Field(alias="rate", examples=["30 Mbit/s"])
    """Rate at which a turn transmits."""
    grant_delay_s: Delay = Field(0.004, alias="grant_delay", examples=["4 ms"])
    """Time from the request of a port that was idle until it may have a turn."""
    turn_bytes: Annotated[Bytes, Field(gt=0, le=10**12)] = Field(16_384, alias="turn", examples=["16 KiB"])
    """Maximum bytes of a turn; a larger packet has a turn of its own."""
    overhead_s: Delay = Field(1e-5, alias="overhead", examples=["10 us"])
    """Time at the start of every turn, for guard time and preamble."""

    def ports(self) -> Iterator[CellPort]:
        """Yield the port of the hub, then those of the stations in order."""
        nodes = tuple(station.node for station in self.stations)
        yield CellPort(f"{self.name}-{self.hub}", self.hub, nodes, self.queue, self.rate_bps, "")
        for i, node in enumerate(nodes):
            queue, place = self.queue_of(i)
            yield CellPort(f"{self.name}-{node}", node, (self.hub,), queue, self.rate_bps, place)

    def params(self) -> dict[str, Any]:
        """Return the parameters of the channel in the format of the native engine's plan."""
        return {
            "rate_bps": self.rate_bps,
            "delay_ns": to_nanoseconds(self.delay_s),
            "grant_delay_ns": to_nanoseconds(self.grant_delay_s),
            "turn_bytes": self.turn_bytes,
            "overhead_ns": to_nanoseconds(self.overhead_s),
        }
