"""The progress bar: simulated time and what is left, on a terminal; nothing in a pipe."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fullpipe.cli.console import terminal
from fullpipe.sweeps import Job, Update
from fullpipe.sweeps import Progress as Listener


@contextmanager
def progress_bar(todo: Sequence[Job]) -> Iterator[Listener]:
    """A bar on standard error over all jobs, as something to report updates to."""
    console = terminal(stderr=True)
    total_s = sum(job.scenario.duration_s for job in todo)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.1f} of {task.total:,.1f} s simulated"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal, redirect_stdout=False
    ) as bar:
        task = bar.add_task(f"0/{len(todo)} runs", total=total_s)
        reached_s, done = [0.0] * len(todo), [False] * len(todo)

        def report(update: Update) -> None:
            final = update.state != "running"
            reached_s[update.index] = update.job.scenario.duration_s if final else update.simulated_s
            done[update.index] = final
            bar.update(task, completed=sum(reached_s), description=f"{sum(done)}/{len(todo)} runs")

        yield report
