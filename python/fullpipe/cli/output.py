"""All output of commands to a terminal: control characters in files and arguments are printed as text."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from fullpipe.errors import visible

if TYPE_CHECKING:
    from typing import TextIO

    import typer

ARGUMENTS = "fullpipe.arguments"
"""Under which a context has the words behind `fullpipe`."""
_WIDTH = 80


def command_line(context: typer.Context) -> str:
    """The command as it can be typed again."""
    import shlex  # here: most commands never say themselves

    return shlex.join(["fullpipe", *context.meta.get(ARGUMENTS, ())])


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print lines of text; control characters in them are escapes."""
    said = plain(str(text))
    if said.isascii():
        print(said, end="\n" if nl else "", file=sys.stderr if err else sys.stdout, flush=True)
        return
    import typer  # here: it finds an encoding for what a terminal may not take, and takes a while to import

    typer.echo(said, err=err, nl=nl)


def plain(text: str) -> str:
    """Lines of text in which control characters are escapes."""
    return re.sub(r"[^\n\t]+", lambda line: visible(line[0]), text)


def say(sentences: str, *, err: bool = False, indent: str = "  ") -> None:
    """Print a line of sentences: whole to a pipe, in whole words to a terminal, with later lines indented."""
    if (sys.stderr if err else sys.stdout).isatty() and len(sentences) > (columns := width()):
        from textwrap import fill  # here: most lines fit

        sentences = fill(
            sentences, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    echo(sentences, err=err)


def complain(problem: object) -> None:
    """Say on standard error what is wrong, each line with the name of the command."""
    for line in str(problem).split("\n"):
        say(f"fullpipe: {line}", err=True)


def width() -> int:
    """Columns of a line: COLUMNS if it is set, or else those of the terminal; 80 if there is none."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):  # a pager reads standard output
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH if stream else _WIDTH
        except (OSError, ValueError):
            continue
    return _WIDTH


def has_colours(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal does. NO_COLOR forbids them, FORCE_COLOR demands them.

    Source: no-color.org and force-color.org; each counts if it is not empty.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
