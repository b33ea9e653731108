"""Jobs of a command: their engines and algorithms, checks before the first run, and outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe import engines
from fullpipe.algorithms.own import look_in
from fullpipe.api import import_algorithms, refusals
from fullpipe.cli.failures import complain_of_failures
from fullpipe.cli.output import complain
from fullpipe.cli.progress import announce, progress_bar
from fullpipe.errors import ScenarioError
from fullpipe.runs.executor import points_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullpipe.cluster import Executor
    from fullpipe.runs import Store
    from fullpipe.runs.executor import Job
    from fullpipe.sweeps import Outcome


def engine_names(text: str) -> list[str]:
    """The engines of a comma-separated list, each once.

    Raises:
        UnknownNameError: If an engine does not exist.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        engines.engine(name)
    if len(names) < 2:
        import typer  # imported here, as jobs run without typer

        raise typer.BadParameter("name at least two engines, as in --engines linux,native")
    return names


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
