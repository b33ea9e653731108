"""`fullpipe show`: a scenario, or anything that is declared by name, in full."""

from typing import Annotated

import typer


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=(
                "A scenario file, the folder of a run, or the name of a scenario, algorithm, preset,"
                " queue, loss, impairment, medium, workload, metric, table, study, Flent test or"
                " engine."
            ),
        ),
    ],
    paths: Annotated[
        bool,
        typer.Option("--paths", help="Print the links that each flow of a scenario crosses, there and back."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """A scenario is printed as TOML, as fullpipe understood it. The folder of a run prints its scenario and
    its provenance.
    """
    from fullpipe.cli import shown_by_name  # here: help needs none of it

    shown_by_name.show(name, paths=paths, as_json=as_json)
