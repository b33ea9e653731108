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
        Path, typer.Argument(parser=target, metavar="DIR", help="The store: the --out of `fullpipe run`.")
    ] = Path("runs"),
    workers: Jobs = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="DIR",
            help="Local folder in which runs are made before they are copied to the store.",
        ),
    ] = None,
    wait: Annotated[
        str | None, typer.Option(metavar="TIME", help='Time to wait for new work, such as "5 min".')
    ] = None,
    allow_python: AllowPython = False,
) -> None:
    """The command ends when no run is left. Any number of workers may share a store, also from other machines
    that see the folder. If a worker is killed, another takes over its runs within 30 s.
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
