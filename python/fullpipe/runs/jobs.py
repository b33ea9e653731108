"""Conversion of scenarios to jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from typing import Any, TypeVar

from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario
from fullpipe.scenario.seeds import check_seed

MAX_JOBS = 1_000_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A run to execute: a scenario without a sweep, a seed, and the name of an engine."""

    scenario: Scenario
    seed: int
    engine: str = "native"
    point: Mapping[str, Any] = field(default_factory=dict)
    """Swept paths with their values at this point; empty without a sweep."""

    def __post_init__(self) -> None:
        check_seed(self.seed)


def jobs(scenario: Scenario, seeds: Iterable[int] = (1,), engine: str = "native") -> list[Job]:
    """Return a job for every point of a scenario's sweep and every seed; the seed changes fastest.

    Raises:
        ScenarioError: If a point or a seed is invalid, or there are more than a million jobs.
    """
    count = prod(len(axis) for axis in scenario.sweep.values())
    seeds = _few(seeds, count)
    points = zip(scenario.expand(), scenario.points(), strict=True)
    return [Job(expanded, seed, engine, point) for expanded, point in points for seed in seeds]


def points_of(todo: Iterable[Job]) -> list[Job]:
    """Return one job per engine and scenario. Seeds of a point share the scenario."""
    found = {(job.engine, id(job.scenario)): job for job in todo}
    return list({(job.engine, job.scenario.digest): job for job in found.values()}.values())


def _few(seeds: Iterable[int], points: int) -> list[int]:
    """Return the seeds as a list, or raise ScenarioError if they would make too many jobs."""
    chosen = list(islice(seeds, MAX_JOBS + 1))
    if points * len(chosen) > MAX_JOBS:
        least = "at least " if len(chosen) > MAX_JOBS else ""
        made = f"{least}{points * len(chosen):,} runs, {points:,} points with {least}{len(chosen):,} seeds"
        raise ScenarioError([f"sweep: {made}, are more than {MAX_JOBS:,}; take fewer of one of the two"])
    return chosen


def by_point(made: Iterable[tuple[Job, T]]) -> list[tuple[Mapping[str, Any], list[T]]]:
    """Group results of jobs by the point of the sweep, in the order of the jobs."""
    points: dict[str, tuple[Mapping[str, Any], list[T]]] = {}
    for job, each in made:
        points.setdefault(str(job.point), (job.point, []))[1].append(each)
    return list(points.values())
