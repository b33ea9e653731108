"""What a link does to packets besides losing them: it delays some longer than others."""

from typing import Annotated, Literal

from pydantic import Field

from fullpipe.scenario.model.base import Model, Switch
from fullpipe.scenario.model.link.changes import Delay
from fullpipe.scenario.quantities import Seconds


class Jitter(Model):
    """Extra delay that differs from packet to packet."""

    spread_s: Delay = Field(alias="spread", examples=["5 ms"])
    """The largest extra delay; of a normal distribution, the standard deviation."""
    shape: Literal["uniform", "normal"] = "uniform"
    """Uniform from 0 to the spread, or the absolute value of a normal variable."""
    reorder: Switch = False
    """Packets may overtake each other; otherwise one that would waits for those before."""


class Reordering(Model):
    """Every so many packets, one takes longer on the wire, and those behind overtake it: reordering."""

    every: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)] = Field(examples=[100])
    """Packets per detour."""
    extra_s: Annotated[Delay, Field(gt=0)] = Field(alias="extra", examples=["30 ms"])
    """How much longer it takes."""
    from_s: Seconds = Field(0.0, alias="from")
    """When it begins."""
    until_s: Seconds | None = Field(None, alias="until")
    """When it ends. Left out: never."""
