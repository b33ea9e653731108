"""`fullpipe engines`: which there are, and how to get those that have to be installed."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.list_ import Kind, names
from fullpipe.errors import EngineError

app = typer.Typer(help="List engines, or install one.", no_args_is_help=True)


@app.command("list")
def list_engines(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, by engine.")] = False,
) -> None:
    """List the engines and whether they can run here; doctor says more."""
    from fullpipe.engines import engine, missing

    ready = {name: not missing(engine(name)) for name in names(Kind.engines)}
    if as_json:
        about = names(Kind.engines)
        typer.echo(json.dumps({name: {"ready": ready[name], "about": about[name]} for name in ready}))
        return
    for name, text in names(Kind.engines).items():
        typer.echo(f"{name:<8} {'ready      ' if ready[name] else 'cannot run '} {text}")


@app.command()
def install(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An engine that has to be installed.")],
    version: Annotated[
        str | None, typer.Option(metavar="V", help="Of what the engine is built from, such as 6.1.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="linux: a kernel tree of your own, such as one with BBRv3."),
    ] = None,
    kernel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="linux: a ready kernel, which is not built.")
    ] = None,
    rootfs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="linux: a ready guest, which is not built.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Compilers at the same time.")
    ] = None,
) -> None:
    """Install an engine, without special rights. The same command continues an installation that stopped."""
    from fullpipe.cli.shared import processors
    from fullpipe.engines import Installable, Wishes, engine

    chosen = engine(name)
    if not isinstance(chosen, Installable):
        raise EngineError(f"{name} has nothing to install")
    wishes = Wishes(version, source, kernel, rootfs, workers or processors())
    ready = chosen.install(wishes, lambda line: typer.echo(line, err=True)) or chosen
    typer.echo(f"{ready.name} is ready: {ready.version()}")
