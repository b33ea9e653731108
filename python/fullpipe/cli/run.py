"""`fullpipe run`: a scenario, every point of its sweep, every seed."""

import json
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario, scenario_names
from fullpipe.scenario.checks import MAX_SEED

if TYPE_CHECKING:
    from fullpipe.results import Store
    from fullpipe.sweeps import Job, Outcome

Out = Annotated[Path, typer.Option(help="Folder of finished runs.", metavar="DIR")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", help="Runs at the same time; all processors unless given."),
]


def run(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A TOML file, or a name from list scenarios.")
    ],
    engine: Annotated[str, typer.Option(help="What runs it.", metavar="NAME")] = "native",
    seed: Annotated[
        int | None, typer.Option(min=0, max=MAX_SEED, metavar="N", help="One seed; 1 unless given.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=100_000, metavar="N", help="The seeds 1 to N.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Another value; a path that is swept is swept no more."
        ),
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="TIME", help='Time between samples, such as "10 ms", or "off".')
    ] = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Run again, and keep nothing on disk.")
    ] = False,
    allow_python: Annotated[
        bool,
        typer.Option("--allow-python", help="Import what python:module:Class names, which runs its code."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per run, one per line.")] = False,
) -> None:
    """Run a scenario: every point of its sweep with every seed.

    Finished runs are kept and never made again, so the same command continues an interrupted sweep.
    """
    if seed is not None and seeds is not None:
        raise typer.BadParameter("give one of --seed and --seeds")
    chosen = read_scenario(scenario).with_values(values_of(assignments or [], interval))
    from fullpipe.cli import tables  # after the scenario is known to be right, because tables take a while
    from fullpipe.results import Store
    from fullpipe.sweeps import jobs

    todo = jobs(chosen, range(1, seeds + 1) if seeds else [1 if seed is None else seed], engine)
    if allow_python:
        bring_all(todo, scenario)
    check_all(todo)
    try:
        outcomes = _run(todo, workers or processors(), None if no_store else Store(out), as_json)
    except KeyboardInterrupt:
        if not no_store:
            raise
        typer.echo("fullpipe: interrupted; nothing was kept", err=True)
        raise typer.Exit(1) from None
    if not as_json:
        tables.show([outcome for outcome in outcomes if outcome.error is None])
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        typer.echo(f"fullpipe: {tables.label(outcome.job)}: {outcome.error!s}", err=True)
    if failed:
        raise typer.Exit(1)


def read_scenario(text: str) -> Scenario:
    """A scenario by name, or from a file if `text` looks like a path or is one.

    Raises:
        UnknownNameError: If it is neither.
        ScenarioError: If the file does not hold a scenario.
    """
    looks_like_path = text.endswith(".toml") or os.sep in text or text in (".", "..")
    if text in scenario_names() or not (looks_like_path or os.path.exists(text)):
        return Scenario.named(text)
    return Scenario.from_file(text)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def values_of(assignments: list[str], interval: str | None) -> dict[str, Any]:
    values = dict(_assignment(text) for text in assignments)
    return values | ({} if interval is None else {"record.interval": interval})


def _assignment(text: str) -> tuple[str, Any]:
    """Split `path=value`; the value is TOML; what is not TOML is text, so that quotes are rarely needed."""
    path, equals, value = text.partition("=")
    if not equals:
        raise ScenarioError([f'--set "{text}": write it as PATH=VALUE, as in tcp.mss=1420 B'])
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return path, value.strip()


def bring_all(todo: "list[Job]", scenario: str) -> None:
    """Import Python-written algorithms; modules are found beside the scenario's file and in this folder."""
    from fullpipe.api import bring
    from fullpipe.cca.classes import look_in

    look_in(Path(scenario).parent, Path())
    for job in todo:
        bring(job.scenario)


def check_all(todo: "list[Job]") -> None:
    """Refuse everything before anything runs if an engine cannot run all of its share.

    With several engines, every line begins with the name of the one that refuses.
    """
    from fullpipe import engines
    from fullpipe.api import refusals

    points = {(job.engine, job.scenario.digest): job for job in todo}
    used = {name: engines.engine(name) for name, _ in points}
    refused = [
        (job.engine, line) for job in points.values() for line in refusals(used[job.engine], job.scenario)
    ]
    lines = [f"{name}: {line}" if len(used) > 1 else line for name, line in refused]
    if lines:
        raise ScenarioError(list(dict.fromkeys(lines)))
    for note in dict.fromkeys(note for job in points.values() for note in job.scenario.notes()):
        typer.echo(f"fullpipe: note: {note}", err=True)


def _run(todo: "list[Job]", workers: int, store: "Store | None", as_json: bool) -> "list[Outcome]":
    from fullpipe.cli.progress import progress_bar
    from fullpipe.sweeps import stream

    outcomes = []
    with progress_bar(todo) as progress:
        for outcome in stream(todo, workers=workers, store=store, progress=progress):
            outcomes.append(outcome)
            if as_json and outcome.error is None:
                print(_line(outcome), flush=True)
    return outcomes


def _line(outcome: "Outcome") -> str:
    """The JSON object of a run; in a sweep, `point` says which one it is, and `folder` where it is kept."""
    point = {"point": dict(outcome.job.point)} if outcome.job.point else {}
    folder = {"folder": str(outcome.run.folder)} if outcome.run.folder else {}
    return json.dumps(outcome.run.summary() | point | folder, allow_nan=False)
