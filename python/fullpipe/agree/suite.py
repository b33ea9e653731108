"""Runs the cases on the engines, through the store, so that what has been run is never run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from fullpipe.agree.case import Case
from fullpipe.agree.errors import SCHEMA, errors_of
from fullpipe.api import refusals
from fullpipe.compare import compare
from fullpipe.engines import Engine, engine
from fullpipe.results import Run, Store
from fullpipe.sweeps import Job, stream
from fullpipe.sweeps.executor import Progress


@dataclass(frozen=True, slots=True)
class Refused:
    """A case that an engine did not run, and why."""

    case: str
    engine: str
    why: str


@dataclass(frozen=True)
class Plan:
    """What is to be run, and what cannot be."""

    cases: tuple[Case, ...]
    engines: tuple[str, ...]
    """The reference is the first."""
    jobs: tuple[Job, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True)
class Found:
    """What came out."""

    cases: tuple[Case, ...]
    engines: tuple[str, ...]
    versions: Mapping[str, str]
    """Of the engines."""
    errors: pl.DataFrame
    refused: tuple[Refused, ...]


def plan(cases: Iterable[Case], engines: Sequence[str]) -> Plan:
    """The jobs of the cases, and the refusals.

    A case that the reference, the first engine, refuses is not run at all.

    Raises:
        UnknownNameError: If there is no such engine.
    """
    chosen, used = tuple(cases), {name: engine(name) for name in engines}
    jobs: list[Job] = []
    refused: list[Refused] = []
    for case in chosen:
        no = {name: why for name, made in used.items() if (why := _refusal(made, case))}
        refused += [Refused(case.name, name, why) for name, why in no.items()]
        runnable = [name for name in engines if name not in no]
        if engines[0] in runnable and len(runnable) > 1:
            seeds = range(1, case.seeds + 1)
            jobs += [
                Job(case.scenario, seed, name, {"case": case.name}) for name in runnable for seed in seeds
            ]
    return Plan(chosen, tuple(engines), tuple(jobs), tuple(refused))


def _jobs(case: Case, engines: Sequence[str]) -> list[Job]:
    seeds, point = range(1, case.seeds + 1), {"case": case.name}
    return [Job(case.scenario, seed, name, point) for name in engines for seed in seeds]


def _refusal(made: Engine, case: Case) -> str:
    return "; ".join(refusals(made, case.scenario))


@dataclass
class _Runs:
    """Runs of a case by engine, and what failed."""

    runs: dict[str, list[Run]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def whole(self) -> dict[str, list[Run]]:
        """Of the engines of which no run failed."""
        return {name: runs for name, runs in self.runs.items() if name not in self.failed}


def run(
    todo: Plan, *, workers: int = 1, store: Store | None = None, progress: Progress | None = None
) -> Found:
    """Run a plan and compare every engine with the first. A run that fails takes its case from its engine."""
    of_case = {case.name: _Runs() for case in todo.cases}
    for outcome in stream(todo.jobs, workers=workers, store=store, progress=progress):
        found = of_case[outcome.job.point["case"]]
        if outcome.error:
            found.failed.setdefault(
                outcome.job.engine, f"failed with seed {outcome.job.seed}: {outcome.error}"
            )
        else:
            found.runs.setdefault(outcome.job.engine, []).append(outcome.run)
    reference, frames = todo.engines[0], [pl.DataFrame(schema=SCHEMA)]
    for case in todo.cases:
        whole = of_case[case.name].whole()
        if reference in whole and len(whole) > 1:
            frames.append(errors_of(case, compare(whole, reference)))
    failed = [
        Refused(name, engine_name, why)
        for name, found in of_case.items()
        for engine_name, why in found.failed.items()
    ]
    return Found(
        cases=todo.cases,
        engines=todo.engines,
        versions={
            name: f"{engine(name).version()}, model {engine(name).model_version()}" for name in todo.engines
        },
        errors=pl.concat(frames),
        refused=(*todo.refused, *failed),
    )


def _version(made: Engine) -> str:
    return f"{made.version()}, model {made.model_version()}"
