"""Progress of many runs: a bar on a terminal, and a line now and then in a pipe or a log."""

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

    from fullpipe.sweeps import Job, Update
    from fullpipe.sweeps import Progress as Listener

EVERY_S = 10.0
"""Between two lines; work that takes less has none."""


class Reached:
    """Progress of all jobs."""

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
        """The time that the rest takes, such as "about 3 min left", at the rate of the runs that were made.

        Runs of the store take no time. Empty if the rate is not known yet.
        """
        made_s = self.simulated_s - self.stored_s
        if made_s <= 0 or self.is_over:
            return ""
        return f"about {_shown(passed_s * (self.total_s - self.simulated_s) / made_s)} left"

    def update(self, update: Update) -> None:
        """Take in what a job says; called from any thread."""
        is_done = update.state != "running"
        simulated_s = update.job.scenario.duration_s if is_done else update.simulated_s
        with self._lock:
            if update.state == "stored":
                self.stored_s += simulated_s
            self.simulated_s += simulated_s - self._of_job[update.index]
            self.finished += is_done - self._is_done[update.index]
            self._of_job[update.index], self._is_done[update.index] = simulated_s, is_done


@contextmanager
def progress_bar(todo: Sequence[Job], *, then: str = "") -> Iterator[Listener]:
    """Progress on standard error over all jobs, as something to report updates to; `then` says what goes on
    after the last."""
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
    from rich.progress import BarColumn, Progress, TextColumn  # here: pipes need no bar

    from fullpipe.cli.console import terminal

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.1f} of {task.total:,.1f} s simulated"),
        TextColumn("{task.fields[left]}"),
    )
    return Progress(*columns, console=terminal(stderr=True), transient=True, redirect_stdout=False)


def lines(reached: Reached, now_s: Callable[[], float], say: Callable[[str], None] = complain) -> Listener:
    """A listener that says how far it is every ten seconds, and how long the rest takes at this rate."""
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
    """A time to wait, roughly.

    >>> _shown(200)
    '3 min'
    """
    for unit, length in (("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
