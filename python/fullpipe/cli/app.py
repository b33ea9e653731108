"""The commands together, and what their errors become: exit code 2 for bad input, 1 for a failure."""

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from fullpipe.errors import FullpipeError, ScenarioError, UnknownNameError

_MOST_LINES = 20
_EPILOG = """
Examples:\n
  fullpipe run single-bbr1                        a named scenario, with a table of what came out\n
  fullpipe run my.toml --seeds 10 --jobs 2        your own, ten times; finished runs are kept in runs/\n
  fullpipe run kato2025 --set topology.bottleneck.queue.packets=500 --json\n
  fullpipe show kato2025 > my.toml                start a scenario from one that works\n
  fullpipe plot runs/*/native-1                   goodput, RTT, window and queue over time\n
  fullpipe paper kato2025                         a published study beside our own numbers
"""


class _Group(TyperGroup):
    """Turns errors that are meant for the user into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ScenarioError, UnknownNameError) as error:
            _complain(error)
            raise typer.Exit(2) from None
        except FullpipeError as error:
            _complain(error)
            raise typer.Exit(1) from None


def _complain(error: FullpipeError) -> None:
    lines = str(error).splitlines() or [type(error).__name__]
    for line in lines[:_MOST_LINES]:
        typer.echo(f"fullpipe: {line}", err=True)
    if len(lines) > _MOST_LINES:
        typer.echo(f"fullpipe: and {len(lines) - _MOST_LINES} more", err=True)


app = typer.Typer(
    name="fullpipe",
    cls=_Group,
    help="A laboratory for TCP congestion control.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Entry point of the command."""
    try:
        app()
    except BrokenPipeError:  # the reader of our output has left, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
