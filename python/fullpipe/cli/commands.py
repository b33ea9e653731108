"""The commands by name. A module is imported when its command is used, so that help appears at once."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from fullpipe.cli import garbage


@dataclass(frozen=True)
class Entry:
    """Where a command is, and the first sentence of its help."""

    module: str
    function: str
    summary: str


COMMANDS = {
    "demo": Entry(
        "demo",
        "demo",
        "Draw what an upload does to a ping on a DSL line, with a plain queue in the modem and FQ-CoDel.",
    ),
    "init": Entry(
        "init",
        "init",
        "Write a scenario to begin with: two flows and a ping, and what else may be said as comments.",
    ),
    "run": Entry("run", "run", "Run a scenario: every point of its sweep with every seed."),
    "work": Entry("work", "work", "Work on the sweeps that `run --on files` has begun in a store."),
    "sweep": Entry("sweep", "app", "Say how far the sweeps of a store are."),
    "metrics": Entry(
        "metrics",
        "metrics",
        "Measure finished runs: values per group of flows and per link, and means that should not"
        " be trusted.",
    ),
    "compare": Entry(
        "compare",
        "compare",
        "Run variants of a scenario, or one by several engines, and compare them: differences and verdicts.",
    ),
    "test": Entry(
        "factors",
        "factors",
        "Test whether metrics differ by the levels of one factor or two: a run is one value, and seeds are"
        " blocks.",
    ),
    "check": Entry(
        "check", "check", "Hold a change against its base over a suite: regressed, not worse, or undecided."
    ),
    "plan": Entry("plan", "plan", "Say how many seeds find a difference, from a pilot."),
    "agree": Entry(
        "agree",
        "agree",
        "Run the catalogue of cases on Linux and on other engines, and write how far they are apart.",
    ),
    "paper": Entry(
        "paper",
        "paper",
        "Run every experiment of a study, print its tables with ours beside them, and draw its figures.",
    ),
    "plot": Entry(
        "plot",
        "plot",
        "Draw runs over time, or a metric over many runs, as PNG and SVG with the numbers as CSV.",
    ),
    "report": Entry(
        "report",
        "report",
        "Write one page about runs or a comparison: what came out, tables, figures, and what repeats it.",
    ),
    "ui": Entry(
        "ui",
        "ui",
        "Open a page in the browser: change a path and see what TCP does, browse runs, compare, and export.",
    ),
    "runs": Entry(
        "runs",
        "runs",
        "List the kept runs of a folder; delete some, or bring in those of other folders.",
    ),
    "query": Entry("query", "query", "Ask all kept runs in SQL."),
    "pack": Entry(
        "pack",
        "pack",
        "Write a study into one file: scenarios, algorithms, recordings, seeds, versions, checksums and"
        " runs.",
    ),
    "rerun": Entry(
        "rerun",
        "rerun",
        "Run a packed study again, and with --compare say whether every table is equal to the byte.",
    ),
    "export": Entry(
        "export",
        "export",
        "Write a run for other tools: a qlog trace, a pcapng file for Wireshark, a file that Flent opens, or"
        " what a link delivered as Mahimahi replays it.",
    ),
    "flent": Entry(
        "flent",
        "flent",
        "Run one of Flent's tests on a simulated path, with its timings, markings and names of series.",
    ),
    "conformance": Entry(
        "conformance",
        "conformance",
        "Judge an algorithm by the example tests of draft-ietf-ccwg-bbr, appendix A.",
    ),
    "show": Entry(
        "show",
        "show",
        "Show a scenario as TOML, and of anything else that is declared by name what it is and takes.",
    ),
    "doctor": Entry(
        "doctor", "doctor", "Say what each engine has and lacks on this machine, and what to do about it."
    ),
    "list": Entry(
        "list_",
        "list_names",
        "List algorithms, queues, losses, impairments, media, workloads, metrics, scenarios, studies, Flent's"
        " tests, engines or tables.",
    ),
    "import": Entry(
        "import_",
        "import_files",
        "Read what Flent measured, or what was captured, into ordinary runs, and say what the data show.",
    ),
    "twin": Entry(
        "twin",
        "twin",
        "Propose the scenario that would reproduce what Flent measured, or what was captured: rate, RTT,"
        " buffer, algorithms, queue.",
    ),
    "fit": Entry(
        "fit",
        "fit",
        "Fit a line to what was measured of it: rate, RTT and buffer each way, as a scenario to try changes"
        " on.",
    ),
    "import-tc": Entry(
        "import_tc",
        "import_tc",
        "Print the queue of a scenario that does what a line of Linux's `tc` sets up, or the scenario of a"
        " router.",
    ),
    "engines": Entry("engines", "app", "List engines, or install one."),
    "trace": Entry(
        "trace",
        "trace",
        "Recorded paths: Mahimahi's packet-delivery traces, CellReplay's packet trains, and CSV.",
    ),
    "schema": Entry(
        "schema",
        "schema",
        "Print the JSON Schema of scenario files, by which editors complete, explain and check them.",
    ),
    "completion": Entry(
        "completion",
        "completion",
        "Print a script that completes commands, options, and names of scenarios, algorithms and others.",
    ),
    "man": Entry("man", "man", "Print the manual page, for man: `fullpipe man | man -l -`."),
}
"""In the order of the help. A test holds the summaries against the commands."""


def load(name: str) -> Any:
    """The command, or group of commands, of a name."""
    entry = COMMANDS[name]
    found = getattr(import_module(f"fullpipe.cli.{entry.module}"), entry.function)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
        alone.command(name)(found)
        return typer.main.get_command(alone)
    group = typer.main.get_command(found)
    group.name = name
    return group


class LazyCommand(TyperCommand):
    """Stands for a command until it is used: what the list of commands needs to know of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, help=COMMANDS[name].summary, rich_markup_mode="rich")

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """The context of the command itself, which takes the place of this one."""
        assert self.name is not None
        command = load(self.name)
        garbage.resume()
        return command.make_context(*arguments, **more)
