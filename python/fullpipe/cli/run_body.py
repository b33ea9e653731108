"""Body of `fullpipe run`, without the parser of its arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fullpipe import lazy, sweeps
from fullpipe.cli.asked import processors, read_scenario, values_of
from fullpipe.cli.failures import complain_of_failures
from fullpipe.cli.jobs import bring_all, check_all
from fullpipe.cli.output import complain
from fullpipe.cli.progress import announce, progress_bar
from fullpipe.cluster import executor
from fullpipe.errors import ScenarioError
from fullpipe.runs import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from fullpipe.analysis.precision import Target
    from fullpipe.cluster import Executor
    from fullpipe.scenario import Scenario
    from fullpipe.sweeps import Enough, Job, Outcome

STORE = Path("runs")
"""Default folder of stored runs."""
_encode = json.JSONEncoder(allow_nan=False).encode


def check_metrics(names: Iterable[str]) -> None:
    """Check that all metrics exist.

    Raises:
        UnknownNameError: If a metric does not exist.
    """
    for text in names:
        from fullpipe.analysis.points import Subject  # imported here, as most runs show the default metrics

        Subject.read(text)


def run(
    scenario: str,
    *,
    engine: str = "native",
    seeds: Iterable[int] = (1,),
    assignments: Sequence[str] = (),
    interval: str | None = None,
    targets: Sequence[Target] = (),
    max_seeds: int | None = None,
    workers: int | None = None,
    threads: int = 1,
    out: Path | None = STORE,
    allow_python: bool = False,
    cca_timeout_s: float | None = None,
    on: str = "local",
    metrics: Sequence[str] | None = None,
    form: str = "table",
    as_json: bool = False,
    all_rows: bool = False,
    labels: Mapping[str, str] | None = None,
) -> int:
    """Run a scenario, print the results and return the exit code.

    Args:
        scenario: A file, or the name of a scenario that comes with fullpipe.
        engine: The name of the engine.
        seeds: The seeds of every point; ignored if there are targets.
        assignments: Changes to the scenario, each PATH=VALUE.
        interval: The time between samples, such as "10 ms".
        targets: Metrics with interval widths. Seeds are added until all intervals are narrow enough.
        max_seeds: Maximum number of seeds for the targets.
        workers: Number of parallel runs; None for one per processor.
        threads: The threads of each run.
        out: The folder of finished runs; None stores nothing.
        allow_python: Run the code of algorithms that are not in the registry.
        cca_timeout_s: Time limit of a call into an algorithm that is not in the registry.
        on: The place where runs execute, such as "local", "files" or "dask": see `fullpipe.cluster.executor`.
        metrics: The metrics to show; None for the default metrics.
        form: The form of the table of several runs.
        as_json: Print a line of JSON per run instead of tables.
        all_rows: Print all rows and notes.
        labels: Labels of paths and values, which override the labels of the scenario.

    Raises:
        FullpipeError: If the scenario cannot be run.
        KeyboardInterrupt: If the command was interrupted and finished runs are stored.
    """
    place = executor(
        on,
        root=out,
        workers=workers or max(1, processors() // threads),
        cca_timeout_s=cca_timeout_s,
        allow_python=allow_python,
    )
    chosen = read_scenario(scenario).with_values(values_of(assignments, interval))
    todo = sweeps.jobs(chosen, seeds, engine)
    if allow_python:
        bring_all(todo, scenario)
    if labels:
        from fullpipe.cli.selection import check_labels_of_jobs  # imported here, as most runs have none

        check_labels_of_jobs(labels, todo)
    check_all(todo)
    lazy.resume_collection()  # the slow imports are over, so garbage collection may resume

    store = None if out is None else Store(out)

    def make(each: list[Job]) -> list[Outcome]:
        return _made(each, place, store, as_json, cca_timeout_s, threads)

    try:
        enough = _until(chosen, targets, make, engine, max_seeds) if targets else None
        outcomes = enough.outcomes if enough else make(todo)
    except KeyboardInterrupt:
        if store is not None:
            raise
        complain("interrupted; nothing was stored")
        return 1
    if not as_json:
        from fullpipe.cli import tables  # imported here, as JSON output needs no tables

        also = list(dict.fromkeys(target.metric for target in targets or ()))
        made = [outcome for outcome in outcomes if outcome.error is None]
        tables.show(made, metrics, form, also, all_rows=all_rows, labels=labels)
    if enough:
        from fullpipe.cli.answer import tell

        tell(enough)
    return _failures(outcomes)


def _made(
    todo: list[Job],
    place: Executor,
    store: Store | None,
    as_json: bool,
    cca_timeout_s: float | None,
    threads: int,
) -> list[Outcome]:
    outcomes = []
    announce(todo, store, place)
    with progress_bar(todo) as progress:
        made = sweeps.stream(
            todo,
            executor=place,
            store=store,
            progress=progress,
            cca_timeout_s=cca_timeout_s,
            threads=threads,
            check=as_json,
        )
        for outcome in made:
            outcomes.append(outcome)
            if as_json and outcome.error is None:
                print(_line(outcome), flush=True)
    return outcomes


def _until(
    scenario: Scenario,
    targets: Sequence[Target],
    make: Callable[[list[Job]], list[Outcome]],
    engine: str,
    most: int | None,
) -> Enough:
    from fullpipe.analysis.precision import MOST  # imported here, as most runs have no targets

    return sweeps.until(scenario, targets, make, engine=engine, most=most or MOST)


def _line(outcome: Outcome) -> str:
    """The JSON object of a run: its summary, its sweep point if any, and its folder if it is stored."""
    point = {"point": dict(outcome.job.point)} if outcome.job.point else {}
    folder = {"folder": str(outcome.run.folder)} if outcome.run.folder else {}
    return _encode(outcome.run.summary() | point | folder)


def _failures(outcomes: Sequence[Outcome]) -> int:
    """Print the failed runs on standard error. Return the exit code: 2 for bad input, 1 for failures."""
    failed = complain_of_failures(outcomes)
    wrong = any(isinstance(outcome.error, ScenarioError) for outcome in failed)
    return (2 if wrong else 1) if failed else 0
