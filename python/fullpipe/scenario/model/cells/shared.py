"""A shared channel with turns, as upstream in cable, fibre and satellite networks."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from fullpipe.scenario import catalogue
from fullpipe.scenario.model.cells.base import CellModel, CellPort
from fullpipe.scenario.model.link import Rate
from fullpipe.scenario.model.registered import registered, values_of

SHARED = catalogue.family("media")["shared"]
"""Parameters of the channel, as the simulator declares them."""


@registered(SHARED)
class Shared(CellModel):
    """A half-duplex channel: one port, of a station or of the hub, sends at a time.

    When a packet reaches an idle port, the port requests a turn, which it can get after the grant delay. A
    port that still has packets at the end of its turn can get the next one at once. Ports take turns in
    order. Each of N ports that always have data gets 8 B / (N (8 B / rate + overhead)) in turns of B bytes.
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
