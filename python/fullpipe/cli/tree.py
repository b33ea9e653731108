"""All commands with their parameters, as data: for help, the reference, shell completion and the man page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

_LISTED = re.compile(r"\blist ([a-z-]+)")
"""The kind whose names an argument takes, in its help."""
_MOST_CHOICES = 20
"""Characters of a metavar that has all values."""
_OF_OPTIONS = {"--metric": "metrics", "--engine": "engines", "--cca": "ccas"}
_EVERYTHING = ("show", "name")
"""The argument that takes a name of any kind."""
_ANY = "*"
"""Names of any kind."""


@dataclass(frozen=True)
class Parameter:
    """An option, or an argument if it has no spellings."""

    spellings: tuple[str, ...]
    metavar: str
    """The word for its value; empty: an option that takes none."""
    help: str
    default: str = ""
    """The value if it is not given; empty: none, or one that its help explains."""
    is_required: bool = False
    choices: tuple[str, ...] = ()
    """All values there are, if they are few; empty: others."""
    kind: str = ""
    """The kind of names that a value is, as in `fullpipe list KIND`; empty: not known, such as a file."""

    @property
    def title(self) -> str:
        """Spellings and metavar, as help shows them."""
        return " ".join(part for part in (", ".join(self.spellings), self.metavar) if part)

    @property
    def meaning(self) -> str:
        """The help, with all values there are and the default."""
        choices = f"One of {', '.join(self.choices)}." if self.choices and "|" not in self.metavar else ""
        default = f"(default: {self.default})" if self.default else ""
        return " ".join(filter(None, [self.help, choices, default]))

    @property
    def names(self) -> tuple[str, ...]:
        """All names that a value may have; empty: not known. Collecting names of a kind takes a while."""
        if not self.kind:
            return self.choices
        from fullpipe.cli.kinds import KINDS, Kind, known_names  # here: help shows no names

        return tuple(known_names() if self.kind == _ANY else KINDS[Kind(self.kind)]())


@dataclass(frozen=True)
class Command:
    """A command with its full name, such as "engines install"."""

    name: str
    help: str
    options: tuple[Parameter, ...]
    arguments: tuple[Parameter, ...]

    @property
    def usage(self) -> str:
        """The name with what has to be given and what may be given, but for options that may be left out."""
        given = [one.metavar if one.is_required else _optional(one.metavar) for one in self.arguments]
        needed = [f"{one.spellings[0]} {one.metavar}" for one in self.options if one.is_required]
        return " ".join([self.name, *given, *needed])

    @property
    def paragraphs(self) -> list[str]:
        """Its help; line breaks within a paragraph are spaces."""
        return [" ".join(part.split()) for part in self.help.split("\n\n")]

    @property
    def summary(self) -> str:
        """The first paragraph of its help."""
        return self.paragraphs[0]


def every_command() -> Iterator[Command]:
    """All commands, in the order of the help."""
    from fullpipe.cli.commands import COMMANDS, load  # here: the help of one command needs no other

    yield from _within({name: load(name) for name in COMMANDS})


def described(name: str, command: Any) -> Command:
    """A command of typer's by its full name, as data."""
    choices = _choices(command)
    found = [_parameter(name, one, choices) for one in command.params if one.name != "help"]
    options, arguments = ([one for one in found if bool(one.spellings) == side] for side in (True, False))
    return Command(name, command.help or "", tuple(options), tuple(arguments))


def _within(commands: Mapping[str, Any]) -> Iterator[Command]:
    for name, command in commands.items():
        if hasattr(command, "commands"):
            yield from _within({f"{name} {inner}": found for inner, found in command.commands.items()})
        else:
            yield described(name, command)


def _parameter(command: str, given: Any, of_enums: Mapping[str, tuple[str, ...]]) -> Parameter:
    said, choices = " ".join((given.help or "").split()), of_enums.get(given.name, ())
    found: dict[str, Any] = {
        "default": _default(given),
        "is_required": bool(given.required),
        "choices": choices,
    }
    if given.param_type_name == "argument":
        listed = _LISTED.search(said)
        kind = _ANY if (command, given.name) == _EVERYTHING else listed[1] if listed else ""
        return Parameter((), given.metavar or given.name.upper(), said, kind=kind, **found)
    spellings = (*given.opts, *given.secondary_opts)
    takes_names = given.metavar in ("NAME", "NAMES")
    kind = next((_OF_OPTIONS[one] for one in spellings if takes_names and one in _OF_OPTIONS), "")
    metavar = "" if getattr(given, "is_flag", False) else given.metavar or _metavar(spellings[0], choices)
    return Parameter(spellings, metavar, said, kind=kind, **found)


def _metavar(spelling: str, choices: tuple[str, ...]) -> str:
    """All values of an option, or a word for them if they take much room."""
    listed = "|".join(choices)
    return listed if 0 < len(listed) <= _MOST_CHOICES else spelling.lstrip("-").upper()


def _optional(metavar: str) -> str:
    return metavar if metavar.startswith("[") else f"[{metavar}]"


def _default(given: Any) -> str:
    """The default of a parameter as it can be typed; empty: none, or none that says anything."""
    value = given.default.value if isinstance(given.default, Enum) else given.default
    if isinstance(value, bool):
        spelt = given.opts if value else given.secondary_opts
        return str(spelt[0]) if given.secondary_opts else ""
    return str(value) if given.show_default and isinstance(value, str | int | float | Path) else ""


def _choices(command: Any) -> dict[str, tuple[str, ...]]:
    """The words that parameters take which are of an enumeration: typer's own lists move between versions."""
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    return {
        name: tuple(str(member.value) for member in cls)
        for name, hint in hints.items()
        for cls in (hint, *get_args(hint), *(part for arg in get_args(hint) for part in get_args(arg)))
        if isinstance(cls, type) and issubclass(cls, Enum)
    }
