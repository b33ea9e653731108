"""Runs many jobs on engines: in parallel, with results in order, and no run twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fullpipe import engines
from fullpipe.engines.overtime import limited
from fullpipe.engines.threads import on_threads
from fullpipe.lazy import pl
from fullpipe.runs import Meta, Run, Store
from fullpipe.runs.executor import Executor, Outcome, Progress, RunSource, SweepError, Threads, Update
from fullpipe.runs.jobs import Job, by_point, jobs
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
"""Addresses that are remembered, more than the jobs that executors hand out before they are made: an address
is used then, and again when the run is made."""


@dataclass(frozen=True)
class KeptRuns:
    """Makes runs on the engines that jobs name, and keeps them in a store if there is one."""

    store: Store | None = None
    cca_timeout_s: float | None = None
    threads: int = 1
    listing: Listing | None = None
    """Runs of the store that are found without being read."""
    _addresses: OrderedDict[tuple[str, int], Address] = field(
        default_factory=OrderedDict, init=False, repr=False
    )

    def find(self, job: Job) -> Run | None:
        """The run of a job, if the store has it."""
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
        """Run a job and keep the run; see `stream` for what is raised."""
        chosen = engines.engine(job.engine)
        if self.store:
            self.store.prepare(self._address(job).place)
        is_own = bool(own_algorithms_of(job.scenario))
        with limited(self.cca_timeout_s if is_own else None), on_threads(self.threads):
            made = chosen.run(job.scenario, seed=job.seed, progress=progress).at(job.point)
        return (self.store.save(made) if self.store else made).at(job.point, job.scenario)

    def _address(self, job: Job) -> Address:
        """Found once for all seeds of a scenario, which takes longer than to find a run."""
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
    """Run jobs and yield what became of them, in the order of the jobs, as soon as the order allows.

    A run that the store has is not made again, and every finished run is stored at once. A job that fails
    does not stop the others. Leaving the iterator early, also by an interrupt, stops the jobs that still run.

    Args:
        jobs: What to run.
        workers: How many at the same time. Has no influence on results.
        store: Where finished runs are looked up and kept; None keeps them in memory.
        progress: Told about every step.
        cca_timeout_s: How long one call into an algorithm written in Python may take, in real time; beyond it
            the run fails with a ControllerError, and others go on. None: for ever.
        executor: What runs them, such as one of `fullpipe.cluster`; left out, so many threads as `workers`.
        threads: On how many threads each run of this process is executed. Has no influence on results.
        check: Read every run that the store has, and make those again of which a byte changed although their
            files have the size and the times of before. Otherwise they are errors when they are read.

    Raises:
        ValueError: If `threads` is out of range.
        FolderError: If a run is to be made and the folder of the store cannot be written.
        DiskFullError: If a run cannot be kept because the disk is full.
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
                    if key not in metas and outcome.result.files:  # seeds rest on the same files
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
        SweepError: If any job failed, after all others have finished.
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
    """The runs of a scenario whose seeds were added until they said enough."""

    outcomes: list[Outcome] = field(default_factory=list)
    seeds: int = 0
    known: Sequence[Known] = ()
    """What is known at the last look."""

    @property
    def is_precise(self) -> bool:
        """Whether everything is known as well as was asked for."""
        return bool(self.known) and all(each.is_precise for each in self.known)

    @property
    def is_alike(self) -> bool:
        """Whether seeds change nothing that is asked for."""
        return bool(self.known) and all(not each.interval.half_width for each in self.known)


def until(
    scenario: Scenario,
    targets: Sequence[Target],
    make: Callable[[list[Job]], list[Outcome]],
    *,
    engine: str = "native",
    most: int | None = None,
) -> Enough:
    """Run every point of a scenario with more and more seeds, the same of all points, until targets are
    reached.

    After a pilot of 20 seeds, and then after every tenth more or ten, all intervals are looked at. Seeds end
    when all are narrow enough at two looks in a row: a look that is narrow by chance, as where the pilot has
    seen no rare run, is not believed. Source: Law and Kelton 1982, "Confidence intervals for steady-state
    simulations II: a survey of sequential procedures", of how far such intervals miss what they say, and of
    why the pilot must not be small.

    Args:
        scenario: What is run.
        targets: See `fullpipe.analysis.precision.read_targets`.
        make: Runs jobs. It is called once per look; if a job fails, no more are made.
        engine: Name of the engine.
        most: How many seeds there are at most; left out, `fullpipe.analysis.precision.MOST`.

    Raises:
        ScenarioError: If no run has a metric that is asked for, or only some have it.
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
