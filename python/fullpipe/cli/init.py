"""`fullpipe init`: a scenario to begin with."""

import re
from importlib.resources import files as of_package
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.cli.output import echo
from fullpipe.cli.schema import NAME, schema_text
from fullpipe.cli.shared import target
from fullpipe.errors import InputFileError, UnknownNameError
from fullpipe.scenario.flent.path import LINES

LF = "\n"


def init(
    file: Annotated[
        Path, typer.Argument(parser=target, metavar="FILE", help="File to write, such as my.toml.")
    ],
    with_schema: Annotated[
        bool,
        typer.Option("--schema/--no-schema", help=f"Write {NAME} beside it, for editors."),
    ] = True,
    path: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help=f"Start from a home line, with its usual load: {', '.join(LINES)}.",
        ),
    ] = None,
) -> None:
    """The file has two flows and a ping, and comments with other keys. An existing scenario is never
    overwritten; an older schema is.
    """
    if file.suffix != ".toml":
        raise typer.BadParameter(f'"{file.name}" does not end in .toml', param_hint="FILE")
    if path is not None and path not in LINES:
        raise UnknownNameError("line", path, LINES)
    if file.exists():
        raise InputFileError(f"{file}: is there already; choose another name, or remove it")
    files.write(file, first_text(file.stem, with_schema=with_schema, line=path).encode())
    echo(file)
    if with_schema:
        beside = file.with_name(NAME)
        files.write(beside, schema_text().encode())
        echo(beside)
    echo(f"next: fullpipe run {file}", err=True)


def first_text(name: str, *, with_schema: bool = True, line: str | None = None) -> str:
    """The scenario, or that of a line by its name, called after its file as far as a name may be."""
    data = of_package("fullpipe") / "data"
    text = (data / "first.toml").read_text(encoding="utf-8")
    own = "first"
    if line is not None:
        text = (
            f"{text.partition(LF)[0]}{LF}{(data / 'scenarios' / f'{line}.toml').read_text(encoding='utf-8')}"
        )
        own = line
    called = re.sub(r"[^\w.+ -]", "-", name)[:100]
    text = text.replace(f'name = "{own}"', f'name = "{called}"', 1).replace("FILE", f"{name}.toml")
    return text if with_schema else text.partition(LF)[2]
