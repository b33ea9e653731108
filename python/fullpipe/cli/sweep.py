"""`fullpipe sweep status`: how far the sweeps of a store are."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.help import Command, Group
from fullpipe.cli.output import complain, echo, say
from fullpipe.cli.shared import target
from fullpipe.cluster.status import Status, statuses
from fullpipe.errors import VersionError

app = typer.Typer(cls=Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    pass


@app.command("status", cls=Command)
def status(
    root: Annotated[
        Path, typer.Argument(parser=target, metavar="DIR", help="The store: the --out of `fullpipe run`.")
    ] = Path("runs"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per sweep, one per line.")
    ] = False,
) -> None:
    """Show open, claimed, finished and failed runs of each unfinished `run --on files` sweep."""
    found = statuses(root)
    for sweep in found:
        if isinstance(sweep, VersionError):
            complain(sweep)
        elif as_json:
            echo(json.dumps(sweep.to_dict()))
        else:
            _show(sweep)
    if not found and not as_json:
        echo(f"no sweep is under way in {root}")


def _show(sweep: Status) -> None:
    echo(f'sweep {sweep.id} of "{sweep.name}": {sweep.finished:,} of {sweep.runs:,} runs finished')
    echo(f"  open     {sweep.open_chunks:,} chunks, {sweep.open_runs:,} runs")
    for held in sweep.held:
        owner, runs = held.claim.owner, held.claim.range.runs
        echo(
            f"  claimed  {runs:,} runs by {owner.host}:{owner.pid}, renewed {max(0.0, held.age_s):.0f} s ago"
        )
    for failure in sweep.failed:
        say(f"  failed   run {failure.index}: {failure.error}", indent=" " * 11)
