"""All commands with what they take, as data: for the reference, completion in shells and the man page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_type_hints

from fullpipe.cli.commands import COMMANDS, load
from fullpipe.cli.kinds import KINDS, Kind, known_names

_LISTED = re.compile(r"\blist ([a-z-]+)")
"""In the help of an argument, the kind whose names it takes."""
_OF_OPTIONS = {"--metric": Kind.metrics, "--engine": Kind.engines, "--cca": Kind.ccas}
_EVERYTHING = ("show", "name")
"""The argument that takes a name of any kind."""


@dataclass(frozen=True)
class Parameter:
    """An option, or an argument if it has no spellings."""

    spellings: tuple[str, ...]
    metavar: str
    """What stands for its value; empty: an option that takes none."""
    help: str
    names: tuple[str, ...] = ()
    """What a value may be called; empty: not known, such as a file."""

    @property
    def title(self) -> str:
        """As the reference shows it."""
        return " ".join(part for part in (", ".join(self.spellings), self.metavar) if part)


@dataclass(frozen=True)
class Command:
    """A command with its full name, such as "engines install"."""

    name: str
    help: str
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]

    @property
    def summary(self) -> str:
        """The first paragraph of its help, in one line."""
        return " ".join(self.help.partition("\n\n")[0].split())


def every_command() -> Iterator[Command]:
    """All commands, in the order of the help."""
    yield from _within({name: load(name) for name in COMMANDS})


def _within(commands: Mapping[str, Any]) -> Iterator[Command]:
    for name, command in commands.items():
        if hasattr(command, "commands"):
            yield from _within({f"{name} {inner}": found for inner, found in command.commands.items()})
        else:
            yield _command(name, command)


def _command(name: str, command: Any) -> Command:
    choices = _choices(command)
    found = [_parameter(name, one, choices) for one in command.params if one.name != "help"]
    options, arguments = ([one for one in found if bool(one.spellings) == side] for side in (True, False))
    return Command(name, command.help or "", tuple(options), tuple(arguments))


def _parameter(command: str, given: Any, choices: Mapping[str, tuple[str, ...]]) -> Parameter:
    said, names = given.help or "", choices.get(given.name, ())
    if given.param_type_name == "argument":
        if kind := _LISTED.search(said):
            names = tuple(KINDS[Kind(kind[1])]())
        if (command, given.name) == _EVERYTHING:
            names = tuple(known_names())
        return Parameter((), given.metavar or given.name.upper(), said, names)
    spellings = (*given.opts, *given.secondary_opts)
    if given.metavar in ("NAME", "NAMES"):
        names = next((tuple(KINDS[_OF_OPTIONS[one]]()) for one in spellings if one in _OF_OPTIONS), names)
    metavar = "" if getattr(given, "is_flag", False) else given.metavar or "|".join(names)
    return Parameter(spellings, metavar, said, names)


def _choices(command: Any) -> dict[str, tuple[str, ...]]:
    """The words that parameters take which are of an enumeration: typer's own lists move between versions."""
    hints = get_type_hints(inspect.unwrap(command.callback))
    return {
        name: tuple(str(member.value) for member in cls)
        for name, hint in hints.items()
        for cls in (hint, *get_args(hint), *(part for arg in get_args(hint) for part in get_args(arg)))
        if isinstance(cls, type) and issubclass(cls, Enum)
    }
