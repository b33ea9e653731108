"""What an engine is: it says what it can do, what it cannot, and runs a scenario into tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from fullpipe.cca import classes
from fullpipe.results import EngineId, Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.flows import own_algorithms

Progress = Callable[[float], None]
"""Told the simulated time reached, in seconds. May raise, which stops the run."""


@dataclass(frozen=True)
class Problem:
    """Why an engine cannot run a scenario, and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Capabilities:
    """What an engine knows and measures."""

    ccas: frozenset[str]
    queues: frozenset[str]
    not_measured: frozenset[str] = frozenset()
    """Columns that stay null, as "table.column"."""


class Engine(Protocol):
    """Runs scenarios. It refuses loudly what it cannot model, and never approximates in silence."""

    name: ClassVar[str]

    def version(self) -> str:
        """Version of the engine's code."""
        ...

    def model_version(self) -> str:
        """Changes whenever results may."""
        ...

    def capabilities(self) -> Capabilities:
        """What it knows and measures."""
        ...

    def check(self, scenario: Scenario) -> list[Problem]:
        """Why it cannot run a scenario; empty if it can."""
        ...

    def run(self, scenario: Scenario, *, seed: int, progress: Progress | None = None) -> Run:
        """Run a scenario without a sweep.

        Raises:
            EngineError: If it cannot, or fails.
        """
        ...


def identity(engine: Engine, scenario: Scenario) -> EngineId:
    """What results depend on apart from scenario and seed: the code, that of own algorithms included."""
    own = [kind for kind in own_algorithms(scenario.flows) if classes.find(kind)]
    return EngineId(
        name=engine.name,
        version=engine.version(),
        model_version=engine.model_version(),
        code=" ".join(classes.fingerprint(kind) for kind in own),
    )
