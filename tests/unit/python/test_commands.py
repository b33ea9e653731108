"""The list of commands imports none of them."""

import subprocess
import sys


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
