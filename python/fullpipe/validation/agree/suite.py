"""Suites: catalogues of cases by name, their runs on the engines, and more runs of doubtful cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import polars as pl

from fullpipe.api import refusals
from fullpipe.engines import Engine, engine
from fullpipe.runs import Run, Store
from fullpipe.sweeps import Job, Outcome, Progress, stream
from fullpipe.validation.agree import kernels
from fullpipe.validation.agree.case import CHANCE_STARTS, Case
from fullpipe.validation.agree.catalogue import cases, held_out_cases
from fullpipe.validation.agree.errors import QUANTITIES, SCHEMA, ErrorTarget, errors_of, large
from fullpipe.validation.compare import compare


@dataclass(frozen=True)
class Suite:
    """Cases that make a page."""

    title: str
    command: str
    """That writes the page."""
    cases: Callable[[], list[Case]]
    held_out: Callable[[], list[Case]] = list
    quantities: tuple[ErrorTarget, ...] = QUANTITIES
    kernel: str = ""
    """Which kernel the reference is, if not one as it is released, and how it is built."""
    known: str = ""
    """What is known of the differences."""


LINUX = Suite("Agreement between engines", "fullpipe agree", cases, held_out_cases)
"""Against a kernel as it is released."""
SUITES: Mapping[str, Suite] = {
    "linux": LINUX,
    "bbr3": Suite(
        "Agreement with Google's BBRv3",
        "fullpipe agree --suite bbr3",
        kernels.bbr3_cases,
        quantities=kernels.BBR3_QUANTITIES,
        kernel=kernels.BBR3_KERNEL,
        known=kernels.BBR3_KNOWN,
    ),
    "prague": Suite(
        "Agreement with Linux's TCP Prague",
        "fullpipe agree --suite prague",
        kernels.prague_cases,
        quantities=kernels.PRAGUE_QUANTITIES,
        kernel=kernels.PRAGUE_KERNEL,
        known=kernels.PRAGUE_KNOWN,
    ),
}
"""By name; the first is for a kernel as it is released."""


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


def doubtful(found: Found) -> list[Case]:
    """The cases to run again, with as many starts as any case has.

    A case is doubtful if the first engine after the reference is further from it than is aimed at, whether or
    not that can be told from chance by the starts that there are.
    """
    names = set(large(found.errors.filter(engine=found.engines[1]), found.suite.quantities)["case"])
    return [replace(case, seeds=max(case.seeds, CHANCE_STARTS)) for case in found.cases if case.name in names]


def confirmed(found: Found, again: Found) -> Found:
    """What came out, with what came out of doubtful cases when they were run again in its place."""
    whole = {case.name: case for case in again.cases}
    cases = tuple(whole.get(case.name, case) for case in found.cases)
    errors = pl.concat([found.errors.filter(~pl.col("case").is_in(list(whole))), again.errors])
    places = {case.name: place for place, case in enumerate(cases)}
    place = pl.col("case").replace_strict(places, return_dtype=pl.Int64)
    refused = [one for one in found.refused if one.case not in whole]
    return replace(
        found,
        cases=cases,
        errors=errors.sort(place, maintain_order=True),
        refused=(*refused, *again.refused),
    )
