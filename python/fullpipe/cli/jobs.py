"""Jobs of a command, and their progress on the terminal."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from fullpipe import engines
from fullpipe.algorithms.own import look_in
from fullpipe.api import import_algorithms, refusals
from fullpipe.cli.output import complain
from fullpipe.engines import engine
from fullpipe.errors import ControllerError, NoRunError, ScenarioError, brief
from fullpipe.runs import Run, Store, population
from fullpipe.runs.executor import points_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.progress import Progress

    from fullpipe.cluster import Executor
    from fullpipe.runs.executor import Job
    from fullpipe.sweeps import Outcome, Update
    from fullpipe.sweeps import Progress as Listener


# Progress of many runs: a bar on a terminal, and periodic lines in a pipe or a log.


_LONGEST_CAUSE = 200
"""Most characters of an exception of a user's class."""
EVERY_S = 10.0
"""Seconds between two lines of progress. Work shorter than this prints no line."""


class Reached:
    """Progress of all jobs of a command: simulated seconds, and the number of finished runs."""

    def __init__(self, todo: Sequence[Job]) -> None:
        self.runs = len(todo)
        self.total_s = sum(job.scenario.duration_s for job in todo)
        self.simulated_s = 0.0
        self.stored_s = 0.0
        self.finished = 0
        self._of_job = [0.0] * len(todo)
        self._is_done = [False] * len(todo)
        self._lock = Lock()

    @property
    def is_over(self) -> bool:
        """Whether all jobs have ended."""
        return self.finished == self.runs

    def left(self, passed_s: float) -> str:
        """Estimate of the remaining time, such as "about 3 min left"; empty if the speed is not known yet.

        The speed is that of the runs that were not stored before. Stored runs count as taking no time.
        """
        made_s = self.simulated_s - self.stored_s
        if made_s <= 0 or self.is_over:
            return ""
        return f"about {_shown(passed_s * (self.total_s - self.simulated_s) / made_s)} left"

    def update(self, update: Update) -> None:
        """Record the progress of a job; may be called from any thread."""
        is_done = update.state != "running"
        simulated_s = update.job.scenario.duration_s if is_done else update.simulated_s
        with self._lock:
            if update.state == "stored":
                self.stored_s += simulated_s
            self.simulated_s += simulated_s - self._of_job[update.index]
            self.finished += is_done - self._is_done[update.index]
            self._of_job[update.index], self._is_done[update.index] = simulated_s, is_done


LONG_S = 600.0
"""Expected duration from which a command names it before the first run, s."""
_LONG_SIMULATED_S = 60.0
"""Simulated time up to which runs are never long, s."""
_PACKET_S = {"native": 2e-7, "ns3": 5e-5}
"""Time per data packet of a simulator, s, on one core of a virtual machine. Source: a run of
CUBIC beside BBRv1; ns-3 takes about 250 times as long (README.md)."""
_PACKET_BITS = 8 * 1_514
_RUN_S = 0.005
"""Time per run besides its packets, s."""


def announce(todo: Sequence[Job], store: Store | None, place: Executor) -> None:
    """Print how long jobs are expected to take if it is long; on a terminal, ask before the first run.

    Stored runs take no time. Algorithms written in Python and slow machines take longer.

    Args:
        todo: All jobs.
        store: Store with finished runs.
        place: Executor of the jobs. Clusters get no estimate, as their number of processors is unknown.

    Raises:
        Abort: If the user declines.
    """
    from fullpipe.sweeps import KeptRuns  # imported here, as most runs are short

    workers = getattr(place, "workers", 0)
    is_long = sum(job.scenario.duration_s for job in todo) > _LONG_SIMULATED_S
    costs_s = _costs_s(todo) if workers and is_long else []
    if _together_s(costs_s, workers) < LONG_S:
        return
    kept = KeptRuns(store)
    left = [cost_s for job, cost_s in zip(todo, costs_s, strict=True) if kept.find(job) is None]
    expected_s = _together_s(left, workers)
    if expected_s < LONG_S:
        return
    several = f", {min(workers, len(left))} at a time" if len(left) > 1 else ""
    runs = f"{len(left):,} {'runs' if several else 'run'}"
    complain(f"note: {runs} will take about {_shown(expected_s)}{several}")
    if sys.stdin.isatty() and sys.stderr.isatty():
        import typer  # imported here, as jobs run without typer

        typer.confirm("Start?", default=True, abort=True, err=True)


def _together_s(costs_s: Sequence[float], workers: int) -> float:
    """The expected duration of jobs that run in parallel, at least that of the longest job.

    >>> _together_s([660, 60], 16), _together_s([60] * 100, 2)
    (660, 3000.0)
    """
    return max(sum(costs_s) / max(workers, 1), max(costs_s, default=0.0))


def _costs_s(todo: Sequence[Job]) -> list[float]:
    """The expected duration of every job: by the packets that its links carry; on Linux, real time."""
    from fullpipe.analysis.metrics.groups import is_bulk  # imported here, as a single run is short
    from fullpipe.analysis.metrics.paths import narrowest
    from fullpipe.scenario import resolve

    costs_s: dict[tuple[int, str], float] = {}
    for job in todo:
        key = id(job.scenario), job.engine
        if key in costs_s:
            continue
        costs_s[key] = job.scenario.duration_s
        if job.engine in _PACKET_S:
            network = resolve(job.scenario, each=1)
            limits_bps = [hop.limit_bps for hop in network.hops]
            bulk = (routed for routed in network.flows if is_bulk(routed.flow))
            slowest = {hop for routed in bulk if (hop := narrowest(routed, limits_bps)) is not None}
            bits = sum(limits_bps[hop] or 0 for hop in slowest) * job.scenario.duration_s
            packets = bits / _PACKET_BITS
            costs_s[key] = _RUN_S + _PACKET_S[job.engine] * packets
    return [costs_s[id(job.scenario), job.engine] for job in todo]


@contextmanager
def progress_bar(todo: Sequence[Job], *, then: str = "") -> Iterator[Listener]:
    """Show progress of all jobs on standard error. Yields the listener to which jobs report updates.

    Args:
        todo: All jobs.
        then: Text that is shown after the last run, such as ", drawing figures".
    """
    reached, begun_s = Reached(todo), monotonic()
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lines(reached, monotonic)
        return
    with _bar() as bar:
        task = bar.add_task(f"0/{reached.runs:,} runs", total=reached.total_s, left="")

        def report(update: Update) -> None:
            reached.update(update)
            said = f"{reached.finished:,}/{reached.runs:,} runs{then if reached.is_over else ''}"
            left = reached.left(monotonic() - begun_s)
            bar.update(task, completed=reached.simulated_s, description=said, left=left)

        yield report


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn  # imported here, as pipes need no bar

    from fullpipe.cli.console import terminal

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.1f} of {task.total:,.1f} s simulated"),
        TextColumn("{task.fields[left]}"),
    )
    return Progress(*columns, console=terminal(stderr=True), transient=True, redirect_stdout=False)


def lines(reached: Reached, now_s: Callable[[], float], say: Callable[[str], None] = complain) -> Listener:
    """A listener that prints the progress and the remaining time every ten seconds."""
    begun_s = said_s = now_s()

    def report(update: Update) -> None:
        nonlocal said_s
        reached.update(update)
        passed_s = now_s() - begun_s
        if now_s() - said_s < EVERY_S or reached.is_over:
            return
        said_s = now_s()
        share = reached.simulated_s / reached.total_s if reached.total_s else 1.0
        far = f"{reached.finished:,} of {reached.runs:,} runs finished, {100 * share:.0f} % simulated"
        say(", ".join(filter(None, [far, reached.left(passed_s)])))

    return report


def _shown(seconds: float) -> str:
    """A remaining time, rounded.

    >>> _shown(200)
    '3 min'
    """
    for unit, length in (("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


# Functions that several commands share, for jobs and finished runs.


@contextmanager
def noted() -> Iterator[None]:
    """Print warnings on standard error as notes, one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        complain(f"note: {warning.message}")


def runs_in(
    folders: Iterable[Path], content: str = population.NEWEST, tell: Callable[[str], object] = lambda _: None
) -> list[Path]:
    """The folders of runs that `folders` name: a folder of a single run, or all runs in a store.

    Results depend on the content of files, such as algorithms, and on the version of the model. Runs in a
    store with older content are left out unless `content` is "all". A note on standard error then says so,
    and `tell` is called with the note.
    """
    found: list[Path] = []
    for folder in folders:
        if not folder.exists():
            raise NoRunError(
                f"{folder}: no such folder; name the folder of a run, or the --out folder of `run`"
            )
        is_run = (folder / "meta.json").exists()
        own = [folder] if is_run else [run.folder for run in stored_runs(folder, content, tell)]
        own = own or [*_runs_of_point(folder)]
        if not own:
            raise NoRunError(
                f"{folder}: has no finished run; name the folder of a run, or the --out folder of `run`"
            )
        found += [each for each in own if each]
    return found


def _runs_of_point(folder: Path) -> list[Path]:
    """The folders of the runs of one scenario of a store, such as runs/HASH, in the order of their names."""
    found = [meta.parent for meta in folder.glob("*/meta.json")]
    return sorted(found, key=lambda run: (len(run.name), run.name))


def stored_runs(
    folder: Path, content: str = population.NEWEST, tell: Callable[[str], object] = lambda _: None
) -> list[Run]:
    """The runs of a store. `content`, "newest" or "all", and `tell` are as in `runs_in`."""
    runs = list(Store(folder))
    if content == population.ALL:
        return runs
    found = population.of_runs([run.meta for run in runs], [folder])
    if found.left_out:
        complain(f"note: {found.left_out}")
        tell(found.left_out)
    return [run for run, counts in zip(runs, found.counts, strict=True) if counts]


def read_runs(folders: Iterable[Path]) -> list[Run]:
    """Read finished runs, each once. Warnings about a run are printed as notes on standard error.

    Raises:
        NoRunError: If a folder does not hold a finished run.
    """
    with noted():
        return [Run.load(folder) for folder in dict.fromkeys(folders)]


def each_once(runs: Sequence[Run]) -> list[Run]:
    """Runs without duplicates from other folders. A note on standard error gives the number left out."""
    found: dict[tuple[str, ...], Run] = {}
    for run in runs:
        found.setdefault(identity(run), run)
    if len(found) < len(runs):
        complain(f"note: runs in several folders are counted once; {len(runs) - len(found)} left out")
    return list(found.values())


def identity(run: Run) -> tuple[str, ...]:
    """Name and digest of the scenario, engine with version and code, and seed: equal for copies of a run."""
    engine = run.meta.engine
    version = (engine.name, engine.version, str(engine.model_version))
    return (run.name, run.meta.digest, *version, engine.code, str(run.meta.seed))


def warn_of_short(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> None:
    """Name on standard error the points whose means should not be trusted, if there are any."""
    for line in warnings_of_short(points, runs):
        complain(line)


def warnings_of_short(points: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> list[str]:
    """Warnings about runs that are too short for means, and about means that have not settled."""
    from fullpipe.analysis.length import reservations  # imported here, as JSON output has no such warning

    return [f"warning: {told}" for told in reservations(points, runs)]


def bring_all(todo: list[Job], scenario: str) -> None:
    """Import the user's own algorithms, from the folder of the scenario file or from the current folder."""
    look_in(Path(scenario).parent, Path())
    for job in points_of(todo):
        import_algorithms(job.scenario)


def check_all(todo: list[Job]) -> None:
    """Refuse all jobs before the first run if an engine cannot run one of its jobs.

    With several engines, every line of the error begins with the name of the engine that cannot run a job.
    """
    points = points_of(todo)
    used = {name: engines.engine(name) for name in dict.fromkeys(job.engine for job in points)}
    refused = [(job.engine, line) for job in points for line in refusals(used[job.engine], job.scenario)]
    lines = [f"{name}: {line}" if len(used) > 1 else line for name, line in refused]
    if lines:
        raise ScenarioError(list(dict.fromkeys(lines)))
    for note in dict.fromkeys(note for job in points for note in job.scenario.notes()):
        complain(f"note: {note}")


def finished_runs(todo: Sequence[Job], place: Executor, store: Store, status: int = 1) -> list[Outcome]:
    """Run jobs and return their outcomes; end with an exit code if a run failed."""
    from fullpipe.sweeps import stream

    announce(todo, store, place)
    with progress_bar(todo) as progress:
        outcomes = list(stream(todo, executor=place, store=store, progress=progress))
    if complain_of_failures(outcomes, has_engine=True):
        import typer  # imported here, as jobs run without typer

        raise typer.Exit(status)
    return outcomes


def complain_of_failures(outcomes: Sequence[Outcome], *, has_engine: bool = False) -> list[Outcome]:
    """Name failed runs on standard error, a line per cause, and return them.

    Exceptions of a user's class that one line raised in one method have one cause. Their first text is shown.

    Args:
        outcomes: Finished and failed runs.
        has_engine: Also name the engine of each run.
    """
    failed = [outcome for outcome in outcomes if outcome.error]
    causes: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in failed:
        causes.setdefault(_alike(outcome.error), []).append(outcome)
    for of_cause in causes.values():
        first, several = of_cause[0].job, len(of_cause) > 1
        which = _named(first, first.engine if has_engine else "", several=several)
        if several:
            which = f"{len(of_cause):,} of {len(outcomes):,} runs failed, the first with {which}"
        error = of_cause[0].error
        cause = _cause(error)
        at = (
            f", failed at {error.time_s:g} s"
            if isinstance(error, ControllerError) and error.__cause__
            else ""
        )
        complain(f"{which}: {cause}{at}")
    return failed


def _named(job: Job, engine: str, *, several: bool) -> str:
    """Sweep point, seed and engine of a failed run, as the words of a sentence if several runs failed."""
    from fullpipe.analysis.shown import listed, point_shown  # imported here, as most runs do not fail

    parts = [*point_shown(job.point), f"seed {job.seed}"]
    if several:
        return listed([*parts, *([f"engine {engine}"] if engine else [])])
    return ", ".join(filter(None, [*parts, engine]))


def _alike(error: BaseException | None) -> tuple[object, ...]:
    """The key of errors with one cause, whose texts may differ in numbers, seed and time."""
    if not isinstance(error, ControllerError):
        return (str(error),)
    if raised := error.__cause__:
        file, line = _raised_at(raised)
        return (file, line, type(raised), error.event, "" if file else str(raised))
    _, time, problem = str(error).rpartition(f"{error.time_s:.9f} s")
    return (error.controller, error.event, problem if time else str(error))


def _raised_at(raised: BaseException) -> tuple[str, int | None]:
    """File and line that raised an exception; an empty name without a traceback."""
    from traceback import extract_tb  # imported here, as most runs do not fail

    frames = extract_tb(raised.__traceback__)
    return (frames[-1].filename, frames[-1].lineno) if frames else ("", 0)


def _cause(error: BaseException | None) -> str:
    """The text of an error; for an exception of a user's class one line, with its file and line."""
    raised = error.__cause__ if isinstance(error, ControllerError) else None
    if raised is None or not isinstance(error, ControllerError):
        return str(error)
    file, line = _raised_at(raised)
    path, here = Path(file), Path().absolute()
    place = f"{path.relative_to(here) if path.is_relative_to(here) else path}:{line}: " if file else ""
    what = brief(f"{type(raised).__name__}: {raised}", _LONGEST_CAUSE)
    return f"{place}{what}; in {error.event} of {error.controller}, flow {error.flow}"


def engine_names(text: str) -> list[str]:
    """The engines of a comma-separated list, each once.

    Raises:
        UnknownNameError: If an engine does not exist.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        engine(name)
    if len(names) < 2:
        import typer  # imported here, as jobs run without typer

        raise typer.BadParameter("name at least two engines, as in --engines linux,native")
    return names
