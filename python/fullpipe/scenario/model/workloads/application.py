"""The base class of workloads."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from fullpipe.scenario.model.base import Model
from fullpipe.scenario.model.tcp import Tcp
from fullpipe.scenario.quantities import to_nanoseconds


@dataclass(frozen=True)
class FlowContext:
    """Properties of a flow that its application may need."""

    tcp: Tcp
    count: int
    """Number of flows in the flow's entry of the scenario."""
    rate_bps: int | None
    """Rate of the slowest link on the data's route at the start. None: no link has a rate."""


class Application(Model, ABC):
    """The application of a flow. Each kind of workload is a subclass."""

    def mean_interval_s(self, flow: FlowContext) -> float | None:
        """Return the mean time between two transfers of one flow, or None if each transfer waits for another.

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
    """Return periods of activity and silence in the format of the plan."""
    return {
        "on_ns": to_nanoseconds(on_s),
        "off_ns": to_nanoseconds(off_s),
        "exponential": lengths == "exponential",
    }
