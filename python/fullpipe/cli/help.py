"""Help of commands: plain text, as wide as the terminal, with colours on one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

from typer.core import TyperCommand, TyperGroup

from fullpipe.cli.output import has_colours, width

_LEAST, _TITLES = 40, 26
"""The least width of help, and the most of titles that have a meaning beside them."""
_HEADING, _NAME, _PLAIN = "\x1b[1m", "\x1b[1;36m", "\x1b[0m"


class Command(TyperCommand):
    """A command that shows its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does, how it is typed, and what each argument and option means."""
        from fullpipe.cli.tree import Parameter, described  # here, as below: most commands show no help

        page = _Page(ctx)
        found = described(ctx.command_path.partition(" ")[2], self)
        options = (*found.options, Parameter(("--help", "-h"), "", "Show this help."))
        page.text(found.summary)
        page.usage(f"{found.usage} [OPTIONS]")
        page.text(*found.paragraphs[1:])
        page.section("Arguments", ((one.title, one.meaning) for one in found.arguments))
        page.section("Options", ((one.title, one.meaning) for one in options))
        page.examples(found.name)
        formatter.write(page.made())


class Group(TyperGroup):
    """Several commands behind one word."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what the commands are for, and the summary of each."""
        from fullpipe.cli.tree import described

        page, found = _Page(ctx), ctx.command_path.partition(" ")[2]
        page.text(self.help or "")
        page.usage(f"{found} COMMAND [OPTIONS]")
        inner = (described(name, one) for name, one in self.commands.items())
        page.section("Commands", ((one.name, one.summary) for one in inner))
        page.examples(found)
        formatter.write(page.made())


def overview(ctx: Any, title: str, groups: Mapping[str, Mapping[str, Any]], *last: str) -> str:
    """The help of the program: its commands in groups, on a screen."""
    page = _Page(ctx)
    page.lines.append(title)
    page.usage("[--version] COMMAND [OPTIONS]")
    page.groups(groups)
    page.text(*last)
    return page.made()


class _Page:
    """Lines of help for standard output."""

    def __init__(self, ctx: Any) -> None:
        self.program = ctx.find_root().info_name
        self.width = max(width(), _LEAST)
        ctx.color = self.is_coloured = has_colours(sys.stdout)
        self.lines: list[str] = []

    def made(self) -> str:
        """All of it."""
        return "\n".join(self.lines).strip("\n") + "\n"

    def text(self, *paragraphs: str) -> None:
        """Paragraphs, with a blank line behind each."""
        for paragraph in paragraphs:
            self.lines += [*_wrapped(paragraph, self.width), ""]

    def usage(self, words: str) -> None:
        """The command as it is typed."""
        self.lines += [f"{self._painted('Usage:', _HEADING)} {self.program} {words}", ""]

    def section(self, heading: str, entries: Iterable[tuple[str, str]]) -> None:
        """Titles with their meanings beside them, or below those that are long."""
        known = list(entries)
        if not known:
            return
        self.lines.append(self._painted(heading, _HEADING))
        left = 2 + max((len(title) for title, _ in known if len(title) <= _TITLES), default=_TITLES)
        for title, meaning in known:
            if len(title) > left - 2:
                self.lines.append(f"  {self._painted(title, _NAME)}")
                title = ""
            self._beside(f"  {self._cell(title, _NAME, left)}", 2 + left, meaning)
        self.lines.append("")

    def groups(self, groups: Mapping[str, Mapping[str, Any]]) -> None:
        """Commands by their groups, a line each if the terminal is wide enough."""
        of_group = 2 + max(map(len, groups))
        of_name = 2 + max(len(name) for commands in groups.values() for name in commands)
        for group, commands in groups.items():
            for n, (name, entry) in enumerate(commands.items()):
                titles = self._cell("" if n else group, _HEADING, of_group), self._cell(name, _NAME, of_name)
                self._beside("".join(titles), of_group + of_name, entry.summary)
        self.lines.append("")

    def examples(self, command: str) -> None:
        """Commands that can be typed, and what they do in the next line."""
        from fullpipe.cli.examples import examples_of

        if known := examples_of(command):
            self.lines.append(self._painted("Examples", _HEADING))
            for line, what in known:
                self.lines += [f"  {line}", *(f"      {part}" for part in _wrapped(what, self.width - 6))]

    def _beside(self, title: str, left: int, meaning: str) -> None:
        """Add a title of `left` columns with its meaning beside it, on as many lines as needed."""
        first, *others = _wrapped(meaning, self.width - left) or [""]
        self.lines += [f"{title}{first}".rstrip(), *(f"{'':{left}}{line}" for line in others)]

    def _cell(self, text: str, colour: str, columns: int) -> str:
        return f"{self._painted(text, colour)}{'':{columns - len(text)}}"

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self.is_coloured and text else text


def _wrapped(text: str, columns: int) -> list[str]:
    """Lines of whole words; a word that is longer than a line has one for itself."""
    return wrap(text, max(columns, 1), break_long_words=False, break_on_hyphens=False)
