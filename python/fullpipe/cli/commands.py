"""The commands by name. A module is imported only when its command is used, so that help is fast."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperCommand

from fullpipe import lazy
from fullpipe.cli.help import Command


@dataclass(frozen=True)
class Entry:
    """Module and function of a command, and the first sentence of its help; the rest is the docstring."""

    module: str
    function: str
    summary: str


GROUPS: Mapping[str, Mapping[str, Entry]] = {
    "Begin": {
        "demo": Entry("init", "demo", "Draw how an upload delays a ping, with two queues."),
        "init": Entry("init", "init", "Write a scenario to start from."),
        "list": Entry("list_", "list_names", "List scenarios, algorithms, metrics and more."),
        "show": Entry("show", "show", "Show a scenario or describe any registered name."),
    },
    "Run": {
        "run": Entry("run", "run", "Run a scenario: every sweep point with every seed."),
        "work": Entry("runs", "work", "Run what sweeps of `run --on files` have left."),
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
    """The command, or group of commands, of a name. Its help is the summary followed by the docstring."""
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
    """Placeholder of a command, which imports the command when used."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMANDS[name].summary)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the imported command, which replaces the placeholder."""
        assert self.name is not None
        command = load(self.name)
        lazy.resume_collection()
        return command.make_context(*arguments, **more)
