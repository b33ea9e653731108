"""Options of several commands, and how they are checked and converted before anything runs."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.cli.forms import Form
from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario, scenario_names


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
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", metavar="NAME", help="Show this metric; may be repeated.")
]
FormOption = Annotated[Form, typer.Option("--format", help="How a table of several runs is printed.")]
AllowPython = Annotated[
    bool,
    typer.Option(
        "--allow-python",
        "--allow-code",
        help="Run the code that python:module:Class or library:PATH:NAME names.",
    ),
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


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def values_of(assignments: list[str], interval: str | None) -> dict[str, Any]:
    """Values by their paths: those that are set, and the time between samples if it is given."""
    values = dict(assignment(text) for text in assignments)
    return values | ({} if interval is None else {"record.interval": interval})


def assignment(text: str, option: str = "--set") -> tuple[str, Any]:
    """Split `path=value`; the value is TOML; what is not TOML is text, so that quotes are rarely needed."""
    path, equals, value = text.partition("=")
    if not equals:
        raise ScenarioError([f'{option} "{text}": write it as PATH=VALUE, as in tcp.mss=1420 B'])
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return path, value.strip()
