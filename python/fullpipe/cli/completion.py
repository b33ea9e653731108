"""`fullpipe completion`: scripts that complete commands, options and names in a shell."""

from enum import StrEnum
from typing import Annotated

import typer

from fullpipe.cli.completion_scripts import SCRIPTS
from fullpipe.cli.output import echo
from fullpipe.cli.tree import every_command


class Shell(StrEnum):
    """What can complete."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="Of which shell.")]) -> None:
    """Print a script that completes commands, options, and names of scenarios, algorithms and others.

    bash: fullpipe completion bash > ~/.local/share/bash-completion/completions/fullpipe

    zsh: fullpipe completion zsh > a folder of $fpath, as _fullpipe

    fish: fullpipe completion fish > ~/.config/fish/completions/fullpipe.fish

    The script asks nothing of fullpipe, so that completing takes no time; write it anew after an update.
    """
    echo(SCRIPTS[shell](list(every_command())), nl=False)
