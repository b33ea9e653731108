"""The simulator in Rust; ARCHITECTURE.md describes the plan and the tables."""

from typing import Any, final

MODEL_VERSION: str
"""Changes whenever results may."""

class PlanError(ValueError):
    """A plan is wrong."""

    path: str
    message: str

class SimulationPanic(RuntimeError):
    """The simulator broke one of its own rules."""

    digest: str
    seed: int

@final
class Simulation:
    """A plan with a seed, ready to run."""

    def __new__(cls, plan_json: str, seed: int) -> Simulation: ...
    @property
    def duration_ns(self) -> int:
        """Simulated time of the whole run."""

    def advance(self, until_ns: int) -> int:
        """Simulate up to a time, without the interpreter lock; returns the time reached."""

    def finish(self) -> dict[str, Any]:
        """The tables by name, and the integers data_packets and packet_hops."""

def controllers() -> list[dict[str, Any]]:
    """The algorithms: name, title, source, aliases, params."""

def queues() -> list[dict[str, Any]]:
    """The queue disciplines, described likewise."""
