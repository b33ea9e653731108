"""All commands with their parameters as data, for help, reference pages, shell completion and man page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

_LISTED = re.compile(r"\blist ([a-z-]+)")
"""Pattern of words such as `list papers` in the help of an argument, which say what kind of names the
argument takes."""
_MOST_CHOICES = 20
"""Maximum length of a metavar that lists all values, in characters."""
_OF_OPTIONS = {"--metric": "metrics", "--engine": "engines", "--cca": "ccas"}
_EVERYTHING = ("show", "name")
"""Command and argument that take a name of any kind."""
_ANY = "*"
"""Kind of a parameter that takes names of any kind."""


@dataclass(frozen=True)
class Parameter:
    """An option, or an argument if it has no spellings."""

    spellings: tuple[str, ...]
    metavar: str
    """Placeholder for the value, such as NAME; empty for an option without a value."""
    help: str
    default: str = ""
    """The default value; empty if there is none, or if the help explains the default."""
    is_required: bool = False
    choices: tuple[str, ...] = ()
    """All allowed values of an enumeration; empty for other types."""
    kind: str = ""
    """Kind of the allowed names, as in `fullpipe list KIND`; empty for other values, such as files."""

    @property
    def title(self) -> str:
        """Spellings and metavar, such as "--out, -o FILE"."""
        return " ".join(part for part in (", ".join(self.spellings), self.metavar) if part)

    @property
    def meaning(self) -> str:
        """The help, followed by all allowed values and the default."""
        choices = f"One of {', '.join(self.choices)}." if self.choices and "|" not in self.metavar else ""
        default = f"(default: {self.default})" if self.default else ""
        return " ".join(filter(None, [self.help, choices, default]))

    @property
    def names(self) -> tuple[str, ...]:
        """All allowed values; empty if not known. Collecting the names of a kind is slow."""
        if not self.kind:
            return self.choices
        from fullpipe.cli.kinds import KINDS, Kind, known_names  # imported here, as help lists no names

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
        """The name, the arguments and the required options."""
        given = [one.metavar if one.is_required else _optional(one.metavar) for one in self.arguments]
        needed = [f"{one.spellings[0]} {one.metavar}" for one in self.options if one.is_required]
        return " ".join([self.name, *given, *needed])

    @property
    def paragraphs(self) -> list[str]:
        """Paragraphs of the help; line breaks within a paragraph are spaces."""
        return [" ".join(part.split()) for part in self.help.split("\n\n")]

    @property
    def summary(self) -> str:
        """The first paragraph of the help."""
        return self.paragraphs[0]


def every_command() -> Iterator[Command]:
    """All commands, in the order of the help."""
    from fullpipe.cli.commands import COMMANDS, load  # imported here, as it loads every command

    yield from _within({name: load(name) for name in COMMANDS})


def described(name: str, command: Any) -> Command:
    """The data of a command of typer, with its full name."""
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
    """All values of an option, separated by "|", or the name of the option if the values are too long."""
    listed = "|".join(choices)
    return listed if 0 < len(listed) <= _MOST_CHOICES else spelling.lstrip("-").upper()


def _optional(metavar: str) -> str:
    return metavar if metavar.startswith("[") else f"[{metavar}]"


def _default(given: Any) -> str:
    """The default of a parameter as typed on a command line; empty if there is no useful default."""
    value = given.default.value if isinstance(given.default, Enum) else given.default
    if isinstance(value, bool):
        spelt = given.opts if value else given.secondary_opts
        return str(spelt[0]) if given.secondary_opts else ""
    return str(value) if given.show_default and isinstance(value, str | int | float | Path) else ""


def _choices(command: Any) -> dict[str, tuple[str, ...]]:
    """Values of parameters whose type is an enumeration. typer's own lists differ between versions."""
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    return {
        name: tuple(str(member.value) for member in cls)
        for name, hint in hints.items()
        for cls in (hint, *get_args(hint), *(part for arg in get_args(hint) for part in get_args(arg)))
        if isinstance(cls, type) and issubclass(cls, Enum)
    }
