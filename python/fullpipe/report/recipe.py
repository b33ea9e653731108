"""Commands that make a report again, from scenario files to the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_ORDER = {"compare": 1, "check": 1, "test": 2, "report": 3}
"""Order of subcommands in a recipe. Subcommands without an entry, such as `run`, come first."""


@dataclass(frozen=True)
class Recipe:
    """Commands in the order in which they run, and the files that they need."""

    commands: Sequence[str] = ()
    needs: Sequence[str] = ()
    """Sentences on files to save before the first command."""

    @property
    def told(self) -> str:
        """The line above the commands."""
        if any(_place(command) < _ORDER["test"] for command in self.commands):
            made = "This makes all values of this report again (times and hashes differ), in this order:"
        else:
            made = "This makes the report again from its runs, which no command here makes:"
        return " ".join([*self.needs, made])


def joined(recipes: Iterable[Recipe]) -> Recipe:
    """Join recipes: every command appears once, after the commands that make its input.

    >>> joined([Recipe(["fullpipe test st"]), Recipe(["fullpipe run a.toml", "fullpipe test st"])]).commands
    ['fullpipe run a.toml', 'fullpipe test st']
    """
    every = list(recipes)
    commands = dict.fromkeys(command for each in every for command in each.commands)
    needs = dict.fromkeys(sentence for each in every for sentence in each.needs)
    return Recipe(sorted(commands, key=_place), list(needs))


def _place(command: str) -> int:
    words = command.split(maxsplit=2)
    return _ORDER.get(words[1], 0) if len(words) > 1 else 0
