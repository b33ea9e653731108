"""`fullpipe man`: the manual page, for man itself."""

import re
from collections.abc import Iterator

import fullpipe
from fullpipe.cli.examples import EXAMPLES
from fullpipe.cli.output import echo
from fullpipe.cli.tree import Command, Parameter, every_command

_INTRODUCTION = (
    "fullpipe simulates TCP congestion control packet by packet, with a transport that follows Linux. A"
    " scenario is a TOML file; a run of it is a folder of tables, which commands measure, compare, draw and"
    " export."
)
_STATUS = (("0", "Done."), ("1", "A failure."), ("2", "Bad input: one line says what, where and what to do."))


def man() -> None:
    """The page has every command with its options, in the words of `--help`."""
    echo(page(), nl=False)


def page() -> str:
    """The page, in the macros of man(7)."""
    commands = list(every_command())
    parts = [
        f'.TH FULLPIPE 1 "" "fullpipe {fullpipe.__version__}" "User Commands"',
        ".na",  # long lists of words leave lines that no spaces between words could fill
        ".SH NAME\nfullpipe \\- a laboratory for TCP congestion control",
        ".SH SYNOPSIS\n.B fullpipe\n.I command\n.RI [ options ]",
        f".SH DESCRIPTION\n{_escaped(_INTRODUCTION)}",
        ".SH COMMANDS",
        *(part for command in commands for part in _command(command)),
        ".SH EXAMPLES",
        *(f".TP\n.B {_escaped(command)}\n{_escaped(what)}" for command, what in EXAMPLES),
        ".SH EXIT STATUS",
        *(f".TP\n.B {code}\n{_escaped(what)}" for code, what in _STATUS),
    ]
    return "\n".join(parts) + "\n"


def _command(command: Command) -> Iterator[str]:
    yield f".SS {_escaped(f'fullpipe {command.usage}')}"
    yield "\n.PP\n".join(map(_escaped, command.paragraphs))
    yield from map(_parameter, (*command.arguments, *command.options))


def _parameter(given: Parameter) -> str:
    title = _escaped(given.title).replace("|", "|\\:")  # a line may end after each of the words
    return f".TP\n.B {title}\n{_escaped(given.meaning)}"


def _escaped(text: str) -> str:
    """Text that troff prints as it is: no escapes, minus signs, and no line that is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)
