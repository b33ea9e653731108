"""`fullpipe paper`: a published study beside our own numbers."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.run import Jobs, Out, processors
from fullpipe.errors import UnknownNameError


def paper(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from list papers.")],
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="The seeds 1 to N.")] = None,
    workers: Jobs = None,
    out: Out = Path("runs"),
    quick: Annotated[bool, typer.Option("--quick", help="A short version, to see that it works.")] = False,
) -> None:
    """Run every experiment of a study, print its tables with ours beside them, and draw its figures."""
    papers = import_module("fullpipe.papers")
    if name not in papers.names():
        raise UnknownNameError("study", name, papers.names())
    papers.run(name, seeds=seeds, jobs=workers or processors(), out=out, quick=quick, progress=None)
