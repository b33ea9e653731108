"""All commands by name, and the typer application with all commands. The module of a command is imported only
when the command is used, so help is fast. Exit codes are 2 for bad input and 1 for a failure.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import fullpipe
from fullpipe import lazy
from fullpipe.cli import help
from fullpipe.cli.failures import ended
from fullpipe.cli.help import Command
from fullpipe.cli.output import ARGUMENTS, complain, echo
from fullpipe.errors import brief


@dataclass(frozen=True)
class Entry:
    """Module and function of a command, and the first sentence of its help.

    The docstring of the function is the rest of the help.
    """

    module: str
    function: str
    summary: str


GROUPS: Mapping[str, Mapping[str, Entry]] = {
    "Begin": {
        "demo": Entry("init", "demo", "Draw how an upload delays a ping, for two queues."),
        "init": Entry("init", "init", "Write a scenario to start from."),
        "list": Entry("list_", "list_names", "List scenarios, algorithms, metrics and more."),
        "show": Entry("show", "show", "Show a scenario or describe any registered name."),
    },
    "Run": {
        "run": Entry("run", "run", "Run a scenario: every sweep point with every seed."),
        "work": Entry("runs", "work", "Run remaining jobs of `run --on files` sweeps."),
        "sweep": Entry("runs", "app", "Show progress of sweeps."),
    },
    "Ask": {
        "metrics": Entry("metrics", "metrics", "Measure finished runs and flag doubtful means."),
        "compare": Entry("compare", "compare", "Compare variants of a scenario, or engines."),
        "test": Entry("test", "factors", "Test whether metrics differ between factor levels."),
        "plan": Entry("plan", "plan", "Compute how many seeds a difference needs."),
        "check": Entry("check", "check", "Check a change against its base for regressions."),
        "runs": Entry("runs", "runs", "List, merge or delete stored runs."),
        "query": Entry("runs", "query", "Query all stored runs in SQL."),
    },
    "Draw and report": {
        "plot": Entry("plot", "plot", "Draw runs over time, or metrics over many runs."),
        "table": Entry("table", "table", "Print metrics of runs as a pivoted table."),
        "report": Entry("report", "report", "Write one page about runs or a comparison."),
        "ui": Entry("ui", "ui", "Explore what-ifs and stored runs in the browser."),
        "pack": Entry("report", "pack", "Pack a study into one file that others can rerun."),
        "rerun": Entry("report", "rerun", "Rerun a packed study; --compare checks it."),
    },
    "Other tools": {
        "export": Entry("export", "export", "Export a run as qlog, pcapng, Flent or Mahimahi."),
        "import": Entry("import_", "import_files", "Import Flent files and packet captures as runs."),
        "twin": Entry("fit", "twin", "Derive a scenario from a Flent file or a capture."),
        "fit": Entry("fit", "fit", "Fit a link to pings and measured throughput."),
        "import-tc": Entry("import_", "import_tc", "Convert commands of Linux `tc` into a scenario."),
        "flent": Entry("flent", "flent", "Run one of Flent's tests on a simulated path."),
        "trace": Entry("export", "trace", "Inspect, convert or fetch recorded paths."),
    },
    "Validate": {
        "agree": Entry("agree", "agree", "Measure how far engines are from Linux."),
        "paper": Entry("paper", "paper", "Rerun a published study and compare its values."),
        "packetdrill": Entry("packetdrill", "packetdrill", "Play packetdrill scripts against a TCP."),
        "conformance": Entry("paper", "conformance", "Run the example tests of the BBR draft."),
    },
    "Set up": {
        "doctor": Entry("show", "doctor", "Show what each engine lacks on this machine."),
        "engines": Entry("show", "app", "List engines, or install one."),
        "schema": Entry("init", "schema", "Print the JSON Schema of scenario files."),
        "completion": Entry("completion", "completion", "Print a completion script for a shell."),
        "man": Entry("completion", "man", "Print the manual page."),
    },
}
"""Commands in the order of the help."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def load(name: str) -> Any:
    """The command or group of commands called `name`. A command's help is its summary and its docstring."""
    entry = COMMANDS[name]
    found = getattr(import_module(f"fullpipe.cli.{entry.module}"), entry.function)
    if isinstance(found, typer.Typer):
        group = typer.main.get_command(found)
        group.name, group.help = name, entry.summary
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, cls=Command, help=f"{entry.summary}\n\n{cleandoc(found.__doc__ or '')}")(found)
    return typer.main.get_command(alone)


class LazyCommand(TyperCommand):
    """Placeholder that imports its command when the command is used."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMANDS[name].summary)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the imported command, which replaces the placeholder."""
        assert self.name is not None
        command = load(self.name)
        lazy.resume_collection()
        return command.make_context(*arguments, **more)


_LONGEST = 400
_UsageError: Any = typer.BadParameter.__base__
"""Base class of typer's exceptions for wrong arguments. Its module differs between versions of typer."""
_TITLE = "A laboratory for TCP congestion control."
_LAST = "Begin with `fullpipe run single-bbr1`. Next: `fullpipe COMMAND --help`, `man`."


class _Group(help.Group):
    """The group of all commands. An error for the user becomes one line and an exit code."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: LazyCommand(name) for name in COMMANDS}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help.overview(ctx, _TITLE, GROUPS, _LAST))

    def make_context(self, info_name: Any, args: list[str], *rest: Any, **more: Any) -> Any:
        written = list(args)  # parsing removes words from `args`
        with _readable():
            context = super().make_context(info_name, args, *rest, **more)
        context.meta[ARGUMENTS] = written
        return context

    def invoke(self, ctx: Any) -> Any:
        with ended(), _readable():
            return super().invoke(ctx)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn an error in the arguments into one line and exit code 2.

    Raises:
        SystemExit: If an argument is wrong.
    """
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the message of this exception is the help text
            print(error.format_message())
            sys.exit(2)
        told = " ".join(error.format_message().split())
        for theirs, ours in _WORDS.items():
            told = told.replace(theirs, ours)
        said = brief(told, _LONGEST).removesuffix(".")
        where = f"; see `{error.ctx.command_path} --help`" if error.ctx else ""
        complain(f"{said[:1].lower()}{said[1:]}{where}")
        sys.exit(2)


app = typer.Typer(
    name="fullpipe",
    cls=_Group,
    help=_TITLE,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        from fullpipe.commit import with_commit  # imported here, as few commands need it

        echo(f"fullpipe {with_commit(fullpipe.__version__)}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


_WORDS = {
    "Value error, ": "",
    "Input should be a valid integer, unable to parse string as an integer": "expected a whole number",
    "Input should be a valid number, unable to parse string as a number": "expected a number",
    "Input should be greater than or equal to": "must be at least",
    "Input should be less than or equal to": "must be at most",
}
"""Words of typer's errors, and what to print instead."""
