"""Parallel execution of many jobs on engines, with results in order; stored runs are re-used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fullpipe import engines
from fullpipe.engines.overtime import limited, on_threads
from fullpipe.lazy import pl
from fullpipe.runs import Meta, Run, Store
from fullpipe.runs.executor import (
    Executor,
    Job,
    Outcome,
    Progress,
    RunSource,
    SweepError,
    Threads,
    Update,
    by_point,
    jobs,
)
from fullpipe.runs.store import Address
from fullpipe.scenario import Scenario
from fullpipe.scenario.remembered import own_algorithms_of

if TYPE_CHECKING:
    from fullpipe.analysis.precision import Known, Target
    from fullpipe.runs.listed import Listing

__all__ = [
    "Enough",
    "Executor",
    "Job",
    "Outcome",
    "Progress",
    "RunSource",
    "SweepError",
    "Threads",
    "Update",
    "by_point",
    "jobs",
    "run",
    "stream",
    "until",
]

_MOST_ADDRESSES = 4_000
"""Size of the cache of addresses. An address is used when an executor hands out a job, and again when the run
is made, so the cache must be larger than the number of jobs between these two uses."""


@dataclass(frozen=True)
class KeptRuns:
    """Source of runs: makes runs on the engines that jobs name, and stores the runs if there is a store."""

    store: Store | None = None
    cca_timeout_s: float | None = None
    threads: int = 1
    listing: Listing | None = None
    """List of the store, by which runs are found without reading the runs."""
    _addresses: OrderedDict[tuple[str, int], Address] = field(
        default_factory=OrderedDict, init=False, repr=False
    )

    def find(self, job: Job) -> Run | None:
        """Return the run of a job if the store has it."""
        if self.store is None:
            return None
        at = self._address(job)
        if self.listing and (listed := self.listing.run(at, job)):
            return listed
        found = self.store.find(job.scenario, at.engine, job.seed, at.digest, at.named, at.place)
        if found and self.listing:
            self.store.enlist(found)
        return found and found.at(job.point, job.scenario)

    def make(self, job: Job, progress: engines.Progress | None) -> Run:
        """Run a job and store the run; see `stream` for exceptions."""
        chosen = engines.engine(job.engine)
        if self.store:
            self.store.prepare(self._address(job).place)
        is_own = bool(own_algorithms_of(job.scenario))
        with limited(self.cca_timeout_s if is_own else None), on_threads(self.threads):
            made = chosen.run(job.scenario, seed=job.seed, progress=progress).at(job.point)
        return (self.store.save(made) if self.store else made).at(job.point, job.scenario)

    def _address(self, job: Job) -> Address:
        """Return the address of a job, cached for all seeds: computing it takes longer than finding a run."""
        key = (job.engine, id(job.scenario))
        known = self._addresses.get(key)
        if known is None:
            chosen, scenario = engines.engine(job.engine), job.scenario
            engine, digest = engines.identity(chosen, scenario), engines.digest_of(chosen, scenario)
            place = engines.place_of(chosen, scenario)
            known = self._addresses[key] = Address(scenario, engine, digest, place, scenario.to_dict())
            if len(self._addresses) > _MOST_ADDRESSES:
                self._addresses.popitem(last=False)
        return known


def stream(
    jobs: Iterable[Job],
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
    cca_timeout_s: float | None = None,
    executor: Executor | None = None,
    threads: int = 1,
    check: bool = False,
) -> Iterator[Outcome]:
    """Run jobs and yield their outcomes in the order of the jobs, as soon as the order allows.

    Stored runs are re-used, and every finished run is stored immediately. A job that fails does not stop
    other jobs. Leaving the iterator early, also by an interrupt, stops the jobs that still run.

    Args:
        jobs: The jobs.
        workers: Number of parallel runs. Never changes results.
        store: Store of finished runs; None keeps runs in memory.
        progress: Called at every step.
        cca_timeout_s: Longest real time of one call into an algorithm written in Python. Beyond this time,
            the run fails with a ControllerError, and other runs continue. None: no limit.
        executor: Executor of the jobs, such as one of `fullpipe.cluster`; left out: as many threads as
            `workers`.
        threads: Number of threads of each run in this process. Never changes results.
        check: Read every stored run, and rerun its job if the content of a file has changed without a change
            of size and time. If false, such a change is an error when the run is read.

    Raises:
        ValueError: If `threads` is out of range.
        FolderError: If a run must be made and the folder of the store cannot be written.
        DiskFullError: If a run cannot be stored because the disk is full.
    """
    named, metas = dict[str, None](), dict[tuple[str, ...], Meta]()
    with store.batch() if store else nullcontext() as batch:
        listing = None if batch is None or check or not isinstance(jobs, Sized) else batch.listing(len(jobs))
        source = KeptRuns(batch, cca_timeout_s, threads, listing)
        try:
            for outcome in (executor or Threads(workers)).stream(jobs, source, progress):
                if isinstance(outcome.result, Run):
                    place = outcome.result.place
                    key = (outcome.job.scenario.name, outcome.job.engine, place)
                    if key not in metas and outcome.result.files:  # all seeds use the same files
                        metas[key] = outcome.result.meta
                    named[place] = None
                yield outcome
        finally:
            if batch:
                batch.note_order(named)
                batch.note_content(metas.values())


def run(
    jobs: Iterable[Job],
    *,
    workers: int = 1,
    store: Store | None = None,
    progress: Progress | None = None,
    cca_timeout_s: float | None = None,
    executor: Executor | None = None,
) -> list[Run]:
    """Run jobs and return the runs in the order of the jobs; see `stream`.

    Raises:
        SweepError: If any job failed, after all other jobs have finished.
    """
    outcomes = list(
        stream(
            jobs,
            workers=workers,
            store=store,
            progress=progress,
            cca_timeout_s=cca_timeout_s,
            executor=executor,
        )
    )
    if any(outcome.error for outcome in outcomes):
        raise SweepError(outcomes)
    return [outcome.run for outcome in outcomes]


@dataclass
class Enough:
    """Runs of a scenario to which seeds were added until targets were reached."""

    outcomes: list[Outcome] = field(default_factory=list)
    seeds: int = 0
    known: Sequence[Known] = ()
    """Precision of every target at the last check."""

    @property
    def is_precise(self) -> bool:
        """Whether all targets are reached."""
        return bool(self.known) and all(each.is_precise for each in self.known)

    @property
    def is_alike(self) -> bool:
        """Whether the values of all targets are the same for every seed."""
        return bool(self.known) and all(not each.interval.half_width for each in self.known)


def until(
    scenario: Scenario,
    targets: Sequence[Target],
    make: Callable[[list[Job]], list[Outcome]],
    *,
    engine: str = "native",
    most: int | None = None,
) -> Enough:
    """Run every point of a scenario with more and more seeds until all targets are reached.

    All points have the same seeds. Intervals are checked after a pilot of 20 seeds, and then whenever 10
    seeds or 10 % have been added, whichever is more. No more seeds are added when all intervals are narrow
    enough at two checks in a row. One check is not enough: an interval can be narrow by chance, for example
    if the pilot has no rare run.

    Source: Law and Kelton 1982, "Confidence intervals for steady-state simulations II: a survey of sequential
    procedures", on the coverage of such intervals and the size of the pilot.

    Args:
        scenario: The scenario.
        targets: See `fullpipe.analysis.precision.read_targets`.
        make: Runs jobs. This function is called once per check. If a job fails, no more jobs are made.
        engine: Name of the engine.
        most: Largest number of seeds; left out: `fullpipe.analysis.precision.MOST`.

    Raises:
        ScenarioError: If the metric of a target is missing in some or all runs.
    """
    from fullpipe.analysis import precision
    from fullpipe.analysis.metrics import busy_links
    from fullpipe.analysis.values import values_of

    found, parts, was_precise = Enough(), list[pl.DataFrame](), False
    links: Sequence[str] = ()
    for seeds in precision.looks(precision.MOST if most is None else most):
        made = make(jobs(scenario, range(found.seeds + 1, seeds + 1), engine))
        found.outcomes += made
        found.seeds = seeds
        if any(outcome.error for outcome in made):
            break
        links = links or list(dict.fromkeys(link for each in made for link in busy_links(each.run)))
        metrics = [target.metric for target in targets]
        parts.append(values_of(((each.job.point, each.run) for each in made), metrics, links))
        found.known = precision.known(pl.concat(parts), targets)
        if found.is_precise and (was_precise or found.is_alike):
            break
        was_precise = found.is_precise
    return found
