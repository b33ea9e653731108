"""`fullpipe work`: one of any number of processes, on any machine that sees the folder of a store."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.algorithms.own import look_in
from fullpipe.cli.asked import processors
from fullpipe.cli.output import complain, echo
from fullpipe.cli.shared import AllowPython, Jobs, seconds_of, stoppable, target
from fullpipe.cluster.work import Counts, Worker


def work(
    root: Annotated[
        Path, typer.Argument(parser=target, metavar="DIR", help="The store: what run was given as --out.")
    ] = Path("runs"),
    workers: Jobs = None,
    scratch: Annotated[
        Path | None,
        typer.Option(parser=target, metavar="DIR", help="Make runs here, then copy them to the store."),
    ] = None,
    wait: Annotated[
        str | None, typer.Option(metavar="TIME", help='How long to wait for work, such as "5 min".')
    ] = None,
    allow_python: AllowPython = False,
) -> None:
    """Work on the sweeps that `run --on files` has begun in a store.

    It ends when nothing is left. Any number may work beside the command itself, also on other machines that
    see the folder; what one leaves behind that is killed, another takes over after 30 s at most.
    """
    if allow_python:
        look_in(Path())
    counts = Counts()
    worker = Worker(
        root, workers or processors(), scratch, allow_python, seconds_of(wait, "--wait") or 0.0, complain
    )
    try:
        with stoppable():
            worker.work(counts)
    except KeyboardInterrupt:
        complain(f"interrupted after {counts.finished:,} runs; what was not finished is given back")
        raise typer.Exit(1) from None
    for line in counts.refused:
        complain(line)
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    echo(f"{counts.finished:,} runs finished{failed}")
    if counts.refused:
        raise typer.Exit(2)
    if counts.failed:
        raise typer.Exit(1)
