"""Progress of the jobs of a command on the terminal, and their expected duration before the first run."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from fullpipe.cli.output import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.progress import Progress

    from fullpipe.cluster import Executor
    from fullpipe.runs import Store
    from fullpipe.runs.executor import Job
    from fullpipe.sweeps import Progress as Listener
    from fullpipe.sweeps import Update


# Progress of many runs: a bar on a terminal, and periodic lines in a pipe or a log.


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
"""Minimum expected duration, in s, that a command prints before the first run."""
_LONG_SIMULATED_S = 60.0
"""Total simulated time, in s, up to which no duration is estimated."""
_PACKET_S = {"native": 2e-7, "ns3": 5e-5}
"""Time per data packet of a simulator, s, on one core of a virtual machine. Source: a run of
CUBIC beside BBRv1; ns-3 takes about 250 times as long (README.md)."""
_PACKET_BITS = 8 * 1_514
_RUN_S = 0.005
"""Fixed time per run, in addition to the time of its packets, s."""


def announce(todo: Sequence[Job], store: Store | None, place: Executor) -> None:
    """Print the expected duration of jobs if it is long; on a terminal, also ask before the first run.

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
    """The expected duration of every job in s: for simulators from the number of packets on the bottleneck
    links, otherwise the duration of the scenario, as Linux runs in real time."""
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
