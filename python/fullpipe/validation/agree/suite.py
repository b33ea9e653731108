"""Runs the cases on the engines, through the store, so that what has been run is never run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from fullpipe.api import refusals
from fullpipe.engines import Engine, engine
from fullpipe.runs import Run, Store
from fullpipe.sweeps import Job, Outcome, Progress, stream
from fullpipe.validation.agree.case import Case
from fullpipe.validation.agree.errors import SCHEMA, errors_of
from fullpipe.validation.agree.suites import LINUX, Suite
from fullpipe.validation.compare import compare

MOST_SEEDS = {"ns3": 1}
"""Where more would cost much and tell little: ns-3 is much further from Linux than chance."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A case that an engine did not run, and why."""

    case: str
    engine: str
    why: str


@dataclass(frozen=True)
class JobList:
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
    suite: Suite = LINUX


def seeds_of(case: Case, engine_name: str) -> range:
    """The seeds of a case on an engine."""
    return range(1, min(case.seeds, MOST_SEEDS.get(engine_name.partition("-")[0], case.seeds)) + 1)


def job_list(cases: Iterable[Case], engines: Sequence[str]) -> JobList:
    """The jobs of the cases, and the refusals.

    A case that the reference, the first engine, refuses is not run at all.

    Raises:
        UnknownNameError: If there is no such engine.
    """
    chosen, used = tuple(cases), {name: engine(name) for name in engines}
    jobs: list[Job] = []
    refused: list[Refused] = []
    for case in chosen:
        no = {name: why for name, made in used.items() if (why := "; ".join(refusals(made, case.scenario)))}
        refused += [Refused(case.name, name, why) for name, why in no.items()]
        runnable = [name for name in engines if name not in no]
        if engines[0] in runnable and len(runnable) > 1:
            jobs += [
                Job(case.scenario, seed, name, {"case": case.name})
                for name in runnable
                for seed in seeds_of(case, name)
            ]
    return JobList(chosen, tuple(engines), tuple(jobs), tuple(refused))


def run(
    todo: JobList,
    suite: Suite = LINUX,
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Found:
    """Run the jobs and compare engines with the first, in what the suite holds against it.

    A run that fails takes its case from its engine.
    """
    by_name, reference = {case.name: case for case in todo.cases}, todo.engines[0]
    frames, refused = [pl.DataFrame(schema=SCHEMA)], list(todo.refused)
    outcomes = stream(todo.jobs, workers=workers, store=store, progress=progress)
    for name, of_case in groupby(outcomes, lambda outcome: str(outcome.job.point["case"])):
        runs, failed = _sorted(name, of_case)
        refused += failed
        if reference in runs and len(runs) > 1:
            frames.append(errors_of(by_name[name], compare(runs, reference), suite.quantities))
    return Found(
        cases=todo.cases,
        engines=todo.engines,
        versions={name: _version(engine(name)) for name in todo.engines},
        errors=pl.concat(frames),
        refused=tuple(refused),
        suite=suite,
    )


def _sorted(case: str, outcomes: Iterable[Outcome]) -> tuple[dict[str, list[Run]], list[Refused]]:
    """The runs of a case by engine, of the engines of which none failed; and the first failure of others."""
    runs: dict[str, list[Run]] = {}
    failed: dict[str, Refused] = {}
    for outcome in outcomes:
        name = outcome.job.engine
        if outcome.error:
            why = f"failed with seed {outcome.job.seed}: {outcome.error}"
            failed.setdefault(name, Refused(case, name, why))
        else:
            runs.setdefault(name, []).append(outcome.run)
    return {name: made for name, made in runs.items() if name not in failed}, list(failed.values())


def _version(made: Engine) -> str:
    return f"{made.version()}, model {made.model_version()}"
