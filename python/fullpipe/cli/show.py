"""`fullpipe show`: a scenario, or anything that is declared by name, in full."""

from typing import Annotated

import typer


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A scenario, an algorithm or its preset, a queue, a loss, an impairment, a medium,"
            " a workload, a metric, a table, a study, a test of Flent, an engine, or the folder of a run.",
        ),
    ],
    paths: Annotated[
        bool, typer.Option("--paths", help="Of a scenario: the links that each flow crosses, there and back.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a scenario as TOML, and of anything else that is declared by name what it is and takes.

    A scenario file is shown as it was understood, and of a run its scenario and where it comes from.
    """
    from fullpipe.cli import shown_by_name  # here: help needs none of it

    shown_by_name.show(name, paths=paths, as_json=as_json)
