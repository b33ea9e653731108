"""Printing on a terminal or in a pipe, and a fast parser of simple arguments."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullpipe.errors import visible

if TYPE_CHECKING:
    from typing import IO, TextIO

    import typer


# A parser for simple arguments of `run`, because importing typer takes longer than a short run.
#
# All other arguments are parsed by typer, which also reports errors.


KINDS = (
    *("ccas", "queues", "losses", "impairments", "media", "workloads", "metrics", "scenarios", "papers"),
    *("flent-tests", "tables"),
)
"""Kinds that `fullpipe list` prints in the same way. The kind engines has a printer of its own."""
_MOST_DIGITS = 9


def of_run(words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of `running.run` from the words after `run`; None if a word needs typer.

    The parser accepts a scenario, --json, --no-store, --seed N and --out DIR, each at most once, and
    --set PATH=VALUE any number of times.

    >>> of_run(["my.toml", "--json", "--seed", "3"])
    {'scenario': 'my.toml', 'as_json': True, 'seeds': (3,)}
    >>> of_run(["my.toml", "--jsn"]), of_run(["my.toml", "--seed", "three"])
    (None, None)
    """
    if not all(word and word.isascii() and word.isprintable() for word in words):
        return None
    found: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        if word == "--set":
            value = _value(left)
            found.setdefault("assignments", []).append(value)
        else:
            key, value = _read(word, left)
            if key in found:
                return None
            found[key] = value
        if value is None:
            return None
    if "scenario" not in found:
        return None
    if found.pop("no_store", False):
        found["out"] = None
    return found


def is_plain(word: str) -> bool:
    """Whether a word is printable ASCII and not an option."""
    return word.isascii() and word.isprintable() and not word.startswith("-") and bool(word)


def _read(word: str, left: Iterator[str]) -> tuple[str, Any]:
    """The name and the value of an argument. The value is None if the argument needs typer."""
    match word:
        case "--json":
            return "as_json", True
        case "--no-store":
            return "no_store", True
        case "--out":
            from pathlib import Path  # imported here, as it is slow to import

            folder = _value(left)
            return "out", folder and Path(folder)
        case "--seed":
            number = _value(left) or ""
            is_plain = number.isdigit() and len(number) <= _MOST_DIGITS and number == str(int(number))
            return "seeds", (int(number),) if is_plain else None
        case _:
            return "scenario", None if word.startswith("-") else word


def _value(left: Iterator[str]) -> str | None:
    """The word after an option; None if there is none, or if the word is an option."""
    word = next(left, "-")
    return None if word.startswith("-") else word


# All output of commands to a terminal. Control characters from files and arguments are escaped.


ARGUMENTS = "fullpipe.arguments"
"""Key of typer's context for the words of the command line after `fullpipe`."""
_WIDTH = 80
_REMARKS = ("note: ", "warning: ", "warning of ")
"""Prefixes of lines that are not errors."""
_NO_BREAK = "\u00a0"
_GLUED = r"(?<=\d) (?=%|ms\b|Mbit/s|\[)|(?<=%) (?=\[)|(?<=\d,) (?=[-+\d.,]+\])|(?<=²) (?=\d)"
"""Spaces at which lines do not break: those between a number, its unit and its interval."""
_COMMAND = r"`[^`]+`"


def command_line(context: typer.Context, names: Mapping[Path, str] | None = None) -> str:
    """The command line, for a rerun in a folder that has its files. A path to another folder is replaced by
    its last name.

    Args:
        context: Context of the command.
        names: Replacements of arguments by path. Values of options are not replaced.
    """
    import shlex  # imported here, as most commands never print themselves

    words = [str(word) for word in context.meta.get(ARGUMENTS, ())]
    known = names or {}
    shown = (
        _portable(word) if before.startswith("-") else known.get(Path(word)) or _portable(word)
        for before, word in pairwise(["", *words])
    )
    return shlex.join(["fullpipe", *shown])


def _portable(word: str) -> str:
    """A word in which each path to another folder is replaced by the last name of the path.

    >>> _portable("/usr/bin"), _portable("scenario=/usr/a.toml,b.toml"), _portable("dask://host:1")
    ('bin', 'scenario=a.toml,b.toml', 'dask://host:1')
    """
    name = _name_elsewhere(word)
    return re.sub(r"[^=,:]+", lambda part: _name_elsewhere(part[0]), word) if name == word else name


def _name_elsewhere(path: str) -> str:
    """The last name of a path in another existing folder; other text is returned unchanged."""
    folder, _, name = path.rstrip("/").rpartition("/")
    is_elsewhere = os.path.isabs(path) or path.startswith("../") or "/../" in path
    is_path = is_elsewhere and not path.startswith("//") and os.path.isdir(folder or "/")
    return name if name and is_path else path


def echo(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text with control characters escaped, except line breaks and tabs."""
    said = plain(str(text))
    if said.isascii():
        print(said, end="\n" if nl else "", file=sys.stderr if err else sys.stdout, flush=True)
        return
    import typer  # imported here, as this import is slow; typer.echo handles encodings of terminals

    typer.echo(said, err=err, nl=nl)


def plain(text: str) -> str:
    """Text with control characters escaped, except line breaks and tabs."""
    return re.sub(r"[^\n\t]+", lambda line: visible(line[0]), text)


def say(sentences: str, *, err: bool = False, indent: str = "  ") -> None:
    """Print sentences wrapped to `prose_width`, with continuation lines indented."""
    echo("\n".join(in_lines(sentences, prose_width(sys.stderr if err else sys.stdout), indent)), err=err)


def complain(problem: object) -> None:
    """Print a problem on standard error, with "fullpipe:" before each line.

    On a terminal, lines are wrapped. In a pipe, an error is one line; notes and warnings are wrapped only if
    COLUMNS is set.
    """
    for line in str(problem).split("\n"):
        told = f"fullpipe: {line}"
        say(told, err=True) if line.startswith(_REMARKS) or sys.stderr.isatty() else echo(told, err=True)


def in_lines(text: str, columns: int | None, indent: str = "") -> list[str]:
    """Text wrapped into lines of `columns` characters; one line if `columns` is None.

    Words, commands in backticks, and numbers with their unit and interval are not broken.
    """
    if columns is None or len(text) <= columns:
        return [text]
    from textwrap import wrap  # imported here, as most lines fit

    whole = re.sub(_COMMAND, lambda found: found[0].replace(" ", _NO_BREAK), re.sub(_GLUED, _NO_BREAK, text))
    lines = wrap(whole, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_NO_BREAK, " ") for line in lines]


def prose_width(stream: IO[str]) -> int | None:
    """Width to which sentences are wrapped: `width()`, or None (no wrapping) in a pipe without COLUMNS."""
    return width() if stream.isatty() or _columns() else None


def width() -> int:
    """Width of a line in characters: COLUMNS if set, else the width of the terminal, else 80."""
    if said := _columns():
        return said
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):  # standard output may be a pager
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH if stream else _WIDTH
        except (OSError, ValueError):
            continue
    return _WIDTH


def _columns() -> int:
    """The number in the environment variable COLUMNS; 0 if its value is not a number."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() else 0


def has_colours(stream: TextIO) -> bool:
    """Whether output has colours: on a terminal, unless NO_COLOR is set; with FORCE_COLOR always.

    Source: no-color.org and force-color.org. An empty variable has no effect.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
