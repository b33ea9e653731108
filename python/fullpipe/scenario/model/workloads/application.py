"""What every application says of itself: what the plan of a flow has of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import to_nanoseconds


@dataclass(frozen=True)
class FlowContext:
    """What an application may need to know of the flow that it belongs to."""

    tcp: Tcp
    count: int
    """Flows of its entry of the scenario."""
    rate_bps: int | None
    """Of the slowest link that data crosses at the start. None: none has a rate."""


class Application(Model, ABC):
    """What the application of a flow does. A kind is one subclass."""

    def mean_interval_s(self, flow: FlowContext) -> float | None:
        """The mean time between two transfers of one flow. None: nothing begins before something ends.

        Raises:
            ProblemsError: If it lacks something of the flow.
        """
        return None

    @abstractmethod
    def plan(self, flow: FlowContext) -> dict[str, Any] | None:
        """What the plan of a flow has as its `workload`: integers in base units.

        Raises:
            ProblemsError: If it lacks something of the flow.
        """


def periods_plan(on_s: float, off_s: float, lengths: Literal["constant", "exponential"]) -> dict[str, Any]:
    """Times of activity and of silence, as the plan has them."""
    return {
        "on_ns": to_nanoseconds(on_s),
        "off_ns": to_nanoseconds(off_s),
        "exponential": lengths == "exponential",
    }
