"""What several commands share: options, and what becomes of them before anything runs."""

import os
import tomllib
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullpipe.cli.output import complain
from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario, scenario_names

if TYPE_CHECKING:
    from fullpipe.runs import Run
    from fullpipe.sweeps import Job


def target(text: str | Path) -> Path:
    """Where an option says that something is to be written; what is no name is refused before anything runs.

    Raises:
        BadParameter: If it is empty or no Unicode text.
    """
    name = str(text)
    if not name:
        raise typer.BadParameter("is empty; write . for this folder")
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode(errors="backslashreplace").decode()
        raise typer.BadParameter(f'"{shown}" is not Unicode text; choose another name') from None
    return Path(name)


Out = Annotated[Path, typer.Option(parser=target, help="Folder of finished runs.", metavar="DIR")]
MAX_SEEDS = 100_000
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, metavar="N", help="Runs at the same time; all processors unless given."),
]
ScenarioName = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A TOML file, or a name from list scenarios.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Another value; a path that is swept is swept no more."),
]
AllowPython = Annotated[
    bool, typer.Option("--allow-python", help="Import what python:module:Class names, which runs its code.")
]


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


def read_runs(folders: Iterable[Path]) -> "list[Run]":
    """Finished runs, each once, and a note on standard error for what is to be known of one.

    Raises:
        NoRunError: If a folder does not hold a finished run.
    """
    from fullpipe.runs import Run

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = [Run.load(folder) for folder in dict.fromkeys(folders)]
    for warning in caught:
        complain(f"note: {warning.message}")
    return runs


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def values_of(assignments: list[str], interval: str | None) -> dict[str, Any]:
    """Values by their paths: those that are set, and the time between samples if it is given."""
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
    from fullpipe.algorithms.classes import look_in
    from fullpipe.api import bring

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
        complain(f"note: {note}")


def engine_names(text: str) -> list[str]:
    """The engines of a list with commas, each once.

    Raises:
        UnknownNameError: If there is no such engine.
    """
    from fullpipe.engines import engine

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        engine(name)
    if len(names) < 2:
        raise typer.BadParameter("name two engines or more, as in --engines linux,native")
    return names
