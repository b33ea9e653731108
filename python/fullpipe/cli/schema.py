"""`fullpipe schema`: JSON Schemas of scenario files, and of files of findings and of tests."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target

NAME = "fullpipe.schema.json"
"""Name of the file beside a scenario."""


class Of(StrEnum):
    """Kinds of files that have a schema."""

    SCENARIO = "scenario"
    FINDINGS = "findings"
    TESTS = "tests"


def schema(
    of: Annotated[
        Of,
        typer.Argument(
            metavar="KIND",
            help="scenario, findings (files of compare -o and check -o), or tests (files of test -o).",
        ),
    ] = Of.SCENARIO,
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
    """Editors complete, explain and check scenarios with it. Programs read files of findings and of tests
    with theirs. Taplo (Even Better TOML) needs "#:schema ./fullpipe.schema.json" as the first line of a
    scenario, as `fullpipe init` writes it.
    """
    text = {Of.SCENARIO: schema_text, Of.FINDINGS: findings_text, Of.TESTS: tests_text}[of]()
    if out is None:
        echo(text, nl=False)
        return
    files.write(out, text.encode())
    echo(out)


def schema_text() -> str:
    """The schema as a file has it."""
    from fullpipe.scenario.schema import file_schema  # here: it reads the text of all models

    return json.dumps(file_schema(), indent=1, ensure_ascii=False) + "\n"


def findings_text() -> str:
    """The schema of files of findings."""
    from fullpipe.validation.compare import stored  # here, as above

    return json.dumps(stored.schema(), indent=1, ensure_ascii=False) + "\n"


def tests_text() -> str:
    """The schema of files of tests."""
    from fullpipe.validation.factors import stored  # here, as above

    return json.dumps(stored.schema(), indent=1, ensure_ascii=False) + "\n"
