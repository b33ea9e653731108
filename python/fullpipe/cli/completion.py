"""`fullpipe completion`: scripts that complete commands, options and names in a shell."""

from enum import StrEnum
from typing import Annotated

import typer

from fullpipe.cli.completion_scripts import SCRIPTS
from fullpipe.cli.output import echo
from fullpipe.cli.tree import every_command


class Shell(StrEnum):
    """Shells with completion."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="Shell to complete in.")]) -> None:
    """The script completes commands, options, and names of scenarios, algorithms and others. It never calls
    fullpipe, so completion is immediate. Print it again after an update.
    """
    echo(SCRIPTS[shell](list(every_command())), nl=False)
