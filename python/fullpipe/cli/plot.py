"""`fullpipe plot`: finished runs over time."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fullpipe.results import Run


def plot(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of finished runs.")],
    quantity: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="goodput, rtt, cwnd, queue and others; may be repeated."),
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this flow; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the figures.")] = Path("figures"),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the figure; that of the scenario.")
    ] = None,
) -> None:
    """Draw runs over time, several in the same axes, as PNG and SVG with the numbers as CSV."""
    from fullpipe.results import Run

    runs = [Run.load(folder) for folder in folders]
    plots = import_module("fullpipe.plots")
    try:
        chosen = (quantity,) if quantity else ()
        figure, data = plots.overview({_label(run): run.tables for run in runs}, *chosen, only=flow)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    for path in plots.save(figure, data, out, name or runs[0].name):
        typer.echo(path)


def _label(run: "Run") -> str:
    return f"{run.name} {run.meta.digest[:6]} seed {run.meta.seed}"
