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
from fullpipe.errors import InputFileError


def init(
    file: Annotated[
        Path, typer.Argument(parser=target, metavar="FILE", help="The file to write, such as my.toml.")
    ],
    with_schema: Annotated[
        bool,
        typer.Option("--schema/--no-schema", help=f"Write {NAME} beside it, by which editors help."),
    ] = True,
) -> None:
    """Write a scenario to begin with: two flows and a ping, and what else may be said as comments.

    A file that is there is left alone, but for an older schema.
    """
    if file.suffix != ".toml":
        raise typer.BadParameter(f'"{file.name}" does not end in .toml', param_hint="FILE")
    if file.exists():
        raise InputFileError(f"{file}: is there already; choose another name, or remove it")
    files.write(file, first_text(file.stem, with_schema=with_schema).encode())
    echo(file)
    if with_schema:
        beside = file.with_name(NAME)
        files.write(beside, schema_text().encode())
        echo(beside)
    echo(f"next: fullpipe run {file}", err=True)


def first_text(name: str, *, with_schema: bool = True) -> str:
    """The scenario, called after its file as far as a name of a scenario may be."""
    text = (of_package("fullpipe") / "data" / "first.toml").read_text(encoding="utf-8")
    called = re.sub(r"[^\w.+ -]", "-", name)[:100]
    text = text.replace('name = "first"', f'name = "{called}"', 1).replace("FILE", f"{name}.toml")
    return text if with_schema else text.partition("\n")[2]
