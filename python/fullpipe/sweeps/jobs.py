"""From scenarios to jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullpipe.scenario import Scenario
from fullpipe.scenario.checks import check_seed


@dataclass(frozen=True)
class Job:
    """One run to make: a scenario without a sweep, a seed, and an engine by name."""

    scenario: Scenario
    seed: int
    engine: str = "native"
    point: Mapping[str, Any] = field(default_factory=dict)
    """The swept paths and their values at this point; empty without a sweep."""

    def __post_init__(self) -> None:
        check_seed(self.seed)


def jobs(scenario: Scenario, seeds: Iterable[int] = (1,), engine: str = "native") -> list[Job]:
    """Every point of a scenario's sweep with every seed; the seed changes fastest.

    Raises:
        ScenarioError: If a point or a seed is wrong.
    """
    seeds = list(seeds)
    points = zip(scenario.expand(), scenario.points(), strict=True)
    return [Job(expanded, seed, engine, point) for expanded, point in points for seed in seeds]
