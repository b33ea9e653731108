"""`fullpipe run`: a scenario, every point of its sweep, every seed."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import sweeps
from fullpipe.analysis.precision import MOST, PILOT, read_targets
from fullpipe.analysis.subjects import Subject
from fullpipe.cli.forms import Form
from fullpipe.cli.jobs import bring_all, check_all
from fullpipe.cli.output import complain
from fullpipe.cli.progress import progress_bar
from fullpipe.cli.shared import (
    MAX_SEEDS,
    AllowPython,
    Assignments,
    FormOption,
    Jobs,
    Metrics,
    On,
    Out,
    ScenarioName,
    processors,
    read_scenario,
    seconds_of,
    values_of,
)
from fullpipe.cli.shown import label
from fullpipe.cli.until import shown_until, tell
from fullpipe.cluster import Executor, executor
from fullpipe.engines.threads import MAX_THREADS
from fullpipe.errors import ScenarioError
from fullpipe.runs import Store
from fullpipe.scenario.checks import MAX_SEED
from fullpipe.sweeps import Job, Outcome, jobs, stream

_encode = json.JSONEncoder(allow_nan=False).encode


def run(
    scenario: ScenarioName,
    engine: Annotated[str, typer.Option(help="What runs it.", metavar="NAME")] = "native",
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="One seed; 1 unless given.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="The seeds 1 to N.")
    ] = None,
    assignments: Assignments = None,
    interval: Annotated[
        str | None, typer.Option(metavar="TIME", help='Time between samples, such as "10 ms", or "off".')
    ] = None,
    workers: Jobs = None,
    threads: Annotated[
        int,
        typer.Option(
            "--threads",
            min=1,
            max=MAX_THREADS,
            metavar="N",
            help="Threads within each run; several runs prefer --jobs.",
        ),
    ] = 1,
    out: Out = Path("runs"),
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Run again, and keep nothing on disk.")
    ] = False,
    allow_python: AllowPython = False,
    cca_timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Longest call into an algorithm of yours, such as "10 s".'),
    ] = None,
    on: On = "local",
    metric: Metrics = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TARGETS",
            help='Add seeds until intervals are narrow enough: "goodput ci<2%, rtt_p95 ci<5%".',
        ),
    ] = None,
    max_seeds: Annotated[
        int | None,
        typer.Option(
            min=PILOT, max=MAX_SEEDS, metavar="N", help="With --until, at most so many; 500 unless given."
        ),
    ] = None,
    form: FormOption = Form.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per run, one per line.")] = False,
) -> None:
    """Run a scenario: every point of its sweep with every seed.

    Of several runs there is a row per point of the sweep and group of flows: means over seeds with their 95 %
    intervals. With --until, seeds are added until the intervals of every group of flows at every point are
    narrow enough. Finished runs are kept and never made again, so the same command continues an interrupted
    sweep.
    """
    for text in metric or ():
        Subject.read(text)
    if sum(choice is not None for choice in (seed, seeds, until)) > 1:
        raise typer.BadParameter("give one of --seed, --seeds and --until")
    if max_seeds is not None and until is None:
        raise typer.BadParameter(
            "it goes with --until, which says when there are enough", param_hint="--max-seeds"
        )
    if threads > 1 and (engine != "native" or on != "local"):
        raise typer.BadParameter(
            "only the native engine in this process has several; leave it out", param_hint="--threads"
        )
    targets = read_targets(until) if until is not None else []
    timeout_s = seconds_of(cca_timeout, "--cca-timeout")
    place = executor(
        on,
        root=None if no_store else out,
        workers=workers or max(1, processors() // threads),
        cca_timeout_s=timeout_s,
        allow_python=allow_python,
    )
    chosen = read_scenario(scenario).with_values(values_of(assignments or [], interval))
    todo = jobs(chosen, range(1, seeds + 1) if seeds else [1 if seed is None else seed], engine)
    if allow_python:
        bring_all(todo, scenario)
    check_all(todo)
    try:
        store = None if no_store else Store(out)

        def make(each: list[Job]) -> list[Outcome]:
            return _run(each, place, store, as_json, timeout_s, threads)

        enough = (
            sweeps.until(chosen, targets, make, engine=engine, most=max_seeds or MOST) if targets else None
        )
        outcomes = enough.outcomes if enough else make(todo)
    except KeyboardInterrupt:
        if not no_store:
            raise
        complain("interrupted; nothing was kept")
        raise typer.Exit(1) from None
    if not as_json:
        from fullpipe.cli import tables  # here: JSON needs none of it

        shown = metric or shown_until(targets)
        tables.show([outcome for outcome in outcomes if outcome.error is None], shown, form)
    if enough:
        tell(enough)
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"{label(outcome.job)}: {outcome.error!s}")
    if failed:
        raise typer.Exit(2 if any(isinstance(outcome.error, ScenarioError) for outcome in failed) else 1)


def _run(
    todo: list[Job],
    place: Executor,
    store: Store | None,
    as_json: bool,
    cca_timeout_s: float | None,
    threads: int,
) -> list[Outcome]:
    outcomes = []
    with progress_bar(todo) as progress:
        made = stream(
            todo,
            executor=place,
            store=store,
            progress=progress,
            cca_timeout_s=cca_timeout_s,
            threads=threads,
        )
        for outcome in made:
            outcomes.append(outcome)
            if as_json and outcome.error is None:
                print(_line(outcome), flush=True)
    return outcomes


def _line(outcome: Outcome) -> str:
    """The JSON object of a run; in a sweep, `point` says which one it is, and `folder` where it is kept."""
    point = {"point": dict(outcome.job.point)} if outcome.job.point else {}
    folder = {"folder": str(outcome.run.folder)} if outcome.run.folder else {}
    return _encode(outcome.run.summary() | point | folder)
