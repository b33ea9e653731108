"""Controllers of routes, as in software-defined networks."""

from typing import Annotated, Literal

from pydantic import Field

from fullpipe.scenario.model.base import Model, Name
from fullpipe.scenario.model.rerouting import Ways
from fullpipe.scenario.quantities import Seconds

Policy = Literal["periodic", "least_loaded"]


class RouteController(Model):
    """Every period it reads the counters of links, chooses the route of each of its flows, and tells routers.

    The last router of a way is told first, after a delay, and the one before it after as much again, so that
    no packet comes to one that does not know where to. What is on its way takes what each router knows by
    then.
    """

    every_s: Annotated[Seconds, Field(gt=0)] = Field(alias="every", examples=["3 s"])
    """Time between decisions: a multiple of `record.interval`, as counters are read with the samples."""
    policy: Policy
    """"periodic": every flow takes the next way in the list. "least_loaded": flow by flow, the way whose
    busiest link transmitted least in the last period; links that all ways have do not count, a flow that
    moves takes an equal share of its busiest link with it, and it stays where that is no worse."""
    delay_s: Annotated[Seconds, Field(gt=0)] = Field(0.005, alias="delay", examples=["5 ms"])
    """From a decision to the first router, and from each router to the next one."""
    vias: Annotated[tuple[tuple[Name, ...], ...], Field(min_length=1)] = Field(
        alias="via", examples=['[["slow"], ["fast"]]']
    )
    """Nodes and links that data passes, one list for every way."""
    ways: Ways = "both"
    """Whose route is chosen: that of data, of ACKs, or of both."""
    flows: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(None, examples=['["dynamic"]'])
    """Entries of `flows`, by name. Left out: all of them."""
