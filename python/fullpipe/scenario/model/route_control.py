"""Route controllers, as in software-defined networks."""

from typing import Annotated, Literal

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.model.rerouting import Ways
from fullpipe.scenario.quantities import Seconds

Policy = Literal["periodic", "least_loaded"]


class RouteController(Model):
    """A controller that periodically reads link counters, chooses a route per flow, and updates routers.

    The routers of a route are updated one after the other, the last one first, `delay` apart. So no packet
    reaches a router without an entry for it. Packets in flight follow the entry that each router has when
    they arrive.
    """

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    """Time between decisions; a multiple of `record.interval`, as counters are read with the samples."""
    policy: Policy
    """"periodic": every flow takes the next route in the list. "least_loaded": each flow in turn takes the
    route whose busiest link transmitted least in the last period. Links common to all routes do not count. A
    flow that moves takes an equal share of its busiest link's load with it. It stays if no other route is
    better."""
    delay_s: Annotated[Seconds, Field(gt=0)] = Field(0.005, alias="delay", examples=["5 ms"])
    """Time from a decision to the update of the first router, and from each router to the next."""
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list per route."""
    ways: Ways = "both"
    """Packets whose route is chosen: data, ACKs, or both."""
    flows: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(None, examples=['["dynamic"]'])
    """Names of the flows that are controlled. Left out: all flows."""
