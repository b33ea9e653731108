"""The list of commands: it says what the commands say, and imports none of them."""

import subprocess
import sys

import pytest

from fullpipe.cli.commands import COMMANDS, LazyCommand, load


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    command = load(name)
    summary = (command.help or "").partition("\n\n")[0].replace("\n", " ")
    assert (command.name, summary) == (name, LazyCommand(name).help)


def test_help_and_version_import_no_command_and_nothing_large() -> None:
    lines = (
        "import sys, typer.testing, fullpipe.cli",
        "for asked in '--help', '--version':",
        "    assert typer.testing.CliRunner().invoke(fullpipe.cli.app, [asked]).exit_code == 0",
        "large = {'numpy', 'polars', 'pydantic', 'scipy', 'matplotlib'}",
        "commands = {f'fullpipe.cli.{entry.module}' for entry in fullpipe.cli.commands.COMMANDS.values()}",
        "print(sorted((large | commands) & set(sys.modules)))",
    )
    made = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert made.stdout == "[]\n"
