"""Help of commands, with examples."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

from typer.core import TyperCommand, TyperGroup

from fullpipe.cli.output import has_colours, width

# Examples of every command, for its help and the manual page.


EXAMPLES = (
    ("fullpipe demo -o first", "write the figure to the folder first"),
    ("fullpipe init my.toml", "two flows and a ping"),
    ("fullpipe init my.toml --path dsl", "a DSL line with its usual load"),
    ("fullpipe list scenarios", "all scenarios that `run` takes by name"),
    ("fullpipe show kato2025 > my.toml", "start from a named scenario"),
    ("fullpipe show bbr3", "the parameters of an algorithm"),
    ("fullpipe run single-bbr1", "a named scenario"),
    ("fullpipe run my.toml --seeds 10 --jobs 2", "your own scenario, ten seeds, two runs at a time"),
    ("fullpipe run kato2025 --set tcp.mss='1448 B' --json", "one JSON object per run"),
    ("fullpipe work runs --jobs 4", "four runs at a time, until all jobs are done"),
    ("fullpipe sweep status runs", "every unfinished sweep of the folder runs"),
    ("fullpipe metrics runs/*/native-1", "the runs of seed 1"),
    ("fullpipe compare my.toml --over flows.0.cca=cubic,bbr3", "is bbr3 better, and by how much?"),
    ("fullpipe compare my.toml --engines native,linux --seeds 5", "are two engines equivalent?"),
    ("fullpipe test runs --metric goodput --factor cca", "does the algorithm change goodput?"),
    (
        "fullpipe plan my.toml --detect 5% --over flows.0.cca=cubic,bbr3",
        "seeds to detect a difference of 5 %",
    ),
    ("fullpipe check suite.toml --keep base.json", "measure the base, before the change"),
    ("fullpipe check suite.toml --against base.json", "compare the change with the base"),
    ("fullpipe runs --where seed=1", "the stored runs of seed 1"),
    ("fullpipe query 'select cca, avg(goodput_bps) from flows group by 1'", "mean goodput by algorithm"),
    ("fullpipe plot runs/*/native-1", "runs of seed 1 over time, in the same axes"),
    ("fullpipe plot RUN --var cwnd,bw,state", "internal variables of an algorithm"),
    ("fullpipe plot runs --metric goodput --x size", "means over a sweep, with intervals"),
    (
        "fullpipe table runs --metric goodput --columns cca --format latex",
        "a table for a paper",
    ),
    ("fullpipe report runs -o report.html", "one file with all figures, to send to others"),
    ("fullpipe ui", "serve the page on this machine"),
    ("fullpipe pack runs -o study.zip", "the runs, their scenarios and their code"),
    ("fullpipe rerun study.zip --compare", "are all tables equal, byte for byte?"),
    ("fullpipe export RUN -o run.pcapng", "captured packets, for Wireshark"),
    ("fullpipe import rrul.flent.gz --out measured", "store a measurement as a run"),
    ("fullpipe twin rrul.flent.gz -o twin.toml", "rate, RTT, buffer and queue as measured"),
    ("fullpipe fit ping.log iperf3.json -o line.toml", "a scenario of the measured line"),
    ('fullpipe import-tc "tc qdisc add dev eth0 root pie"', "the queue as TOML"),
    ("fullpipe flent rrul --path dsl --cca bbr3", "four uploads, four downloads and pings"),
    ("fullpipe trace info cell.down", "duration and mean rate of a trace"),
    ("fullpipe agree --list", "list the cases without running them"),
    ("fullpipe paper kato2025 --quick", "a short version of a study"),
    ("fullpipe conformance bbr3 preset=draft", "the tests with the draft's parameters"),
    ("fullpipe packetdrill loss.pkt", "compare packets with a script of the kernel's kind"),
    ("fullpipe doctor", "what each engine needs, and how to install it"),
    ("fullpipe engines install ns3", "download or build the engine ns3"),
    ("fullpipe schema -o fullpipe.schema.json", "write the schema for an editor"),
    ("fullpipe completion bash > ~/.local/share/bash-completion/completions/fullpipe", "for bash"),
    ("fullpipe completion zsh > ~/.zsh/completions/_fullpipe", "for zsh, if that folder is in $fpath"),
    ("fullpipe completion fish > ~/.config/fish/completions/fullpipe.fish", "for fish"),
    ("fullpipe man | man -l -", "read the manual page"),
    ("fullpipe man > ~/.local/share/man/man1/fullpipe.1", "install the page for `man fullpipe`"),
)
"""Example commands with their purposes, in the order of the help."""


def examples_of(command: str) -> list[tuple[str, str]]:
    """The examples of a command, or of all commands of a group of commands.

    >>> examples_of("demo")
    [('fullpipe demo -o first', 'write the figure to the folder first')]
    """
    return [(line, what) for line, what in EXAMPLES if f"{line} ".startswith(f"fullpipe {command} ")]


# Help of commands: plain text as wide as the terminal, with colours if standard output is a terminal.


_LEAST, _TITLES = 40, 26
"""Minimum width of help, and maximum width of a title whose meaning begins on the same line, in
characters."""
_HEADING, _NAME, _PLAIN = "\x1b[1m", "\x1b[1;36m", "\x1b[0m"


class Command(TyperCommand):
    """A command that shows its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the summary, usage, arguments, options and examples of the command."""
        from fullpipe.cli.tree import Parameter, described  # imported here, as help is rare

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
    """A group of commands with a common first word, such as `engines`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the purpose of the group, and the summary of each command."""
        from fullpipe.cli.tree import described

        page, found = _Page(ctx), ctx.command_path.partition(" ")[2]
        page.text(self.help or "")
        page.usage(f"{found} COMMAND [OPTIONS]")
        inner = (described(name, one) for name, one in self.commands.items())
        page.section("Commands", ((one.name, one.summary) for one in inner))
        page.examples(found)
        formatter.write(page.made())


def overview(ctx: Any, title: str, groups: Mapping[str, Mapping[str, Any]], *last: str) -> str:
    """The help of `fullpipe --help`: all commands, in groups."""
    page = _Page(ctx)
    page.lines.append(title)
    page.usage("[--version] COMMAND [OPTIONS]")
    page.lines.pop()  # all commands fit a screen of 40 lines
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
        """The whole help text."""
        return "\n".join(self.lines).strip("\n") + "\n"

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs, each followed by a blank line."""
        for paragraph in paragraphs:
            self.lines += [*_wrapped(paragraph, self.width), ""]

    def usage(self, words: str) -> None:
        """Add the usage line of the command."""
        self.lines += [f"{self._painted('Usage:', _HEADING)} {self.program} {words}", ""]

    def section(self, heading: str, entries: Iterable[tuple[str, str]]) -> None:
        """Add titles with their meanings on the same line, or on the next line after a long title."""
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
        """Add the commands of each group; every command has one line if the terminal is wide enough."""
        of_group = 2 + max(map(len, groups))
        of_name = 2 + max(len(name) for commands in groups.values() for name in commands)
        for group, commands in groups.items():
            for n, (name, entry) in enumerate(commands.items()):
                titles = self._cell("" if n else group, _HEADING, of_group), self._cell(name, _NAME, of_name)
                self._beside("".join(titles), of_group + of_name, entry.summary)
        self.lines.append("")

    def examples(self, command: str) -> None:
        """Add example commands, each with its purpose on the next line."""

        if known := examples_of(command):
            self.lines.append(self._painted("Examples", _HEADING))
            for line, what in known:
                self.lines += [f"  {line}", *(f"      {part}" for part in _wrapped(what, self.width - 6))]

    def _beside(self, title: str, left: int, meaning: str) -> None:
        """Add a title of `left` columns, then its meaning, wrapped into lines beside the title."""
        first, *others = _wrapped(meaning, self.width - left) or [""]
        self.lines += [f"{title}{first}".rstrip(), *(f"{'':{left}}{line}" for line in others)]

    def _cell(self, text: str, colour: str, columns: int) -> str:
        return f"{self._painted(text, colour)}{'':{columns - len(text)}}"

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self.is_coloured and text else text


def _wrapped(text: str, columns: int) -> list[str]:
    """Lines of whole words; a word longer than a line has its own line."""
    return wrap(text, max(columns, 1), break_long_words=False, break_on_hyphens=False)
