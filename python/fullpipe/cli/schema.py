"""`fullpipe schema`: the JSON Schema of scenario files, for editors."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target

NAME = "fullpipe.schema.json"
"""Name of the file beside a scenario."""


def schema(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=target,
            metavar="FILE",
            help="Write the schema to this file, and print its name.",
        ),
    ] = None,
) -> None:
    """Editors complete, explain and check scenarios with it. Taplo (Even Better TOML) needs "#:schema
    ./fullpipe.schema.json" as the first line of a scenario, as `fullpipe init` writes it.
    """
    if out is None:
        echo(schema_text(), nl=False)
        return
    files.write(out, schema_text().encode())
    echo(out)


def schema_text() -> str:
    """The schema as a file has it."""
    from fullpipe.scenario.schema import file_schema  # here: it reads the text of all models

    return json.dumps(file_schema(), indent=1, ensure_ascii=False) + "\n"
