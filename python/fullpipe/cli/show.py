"""The commands `show`, `engines` and `doctor`."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.asked import processors
from fullpipe.cli.console import listing, terminal
from fullpipe.cli.help import Command, Group
from fullpipe.cli.output import echo, say
from fullpipe.cli.shared import stoppable
from fullpipe.engines import Installable, InstallOptions, Requirement, engine, names
from fullpipe.errors import InstallOptionError

# `fullpipe show`: prints a scenario, or describes a registered name.


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=(
                "A scenario file, the folder of a run, or the name of a scenario, algorithm, preset,"
                " queue, loss, impairment, medium, workload, metric, table, study, Flent test or"
                " engine."
            ),
        ),
    ],
    paths: Annotated[
        bool,
        typer.Option(
            "--paths", help="For a scenario: print the links that the data and the ACKs of each flow cross."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """A scenario is printed as TOML: a named scenario as its file is written, and a scenario file as fullpipe
    reads it. For the folder of a run, its scenario and its provenance are printed.
    """
    from fullpipe.cli import shown_by_name  # imported here, as help does not need this module

    shown_by_name.show(name, paths=paths, as_json=as_json)


# `fullpipe engines`: lists engines, and installs optional engines.


app = typer.Typer(cls=Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True)
class Status:
    """The requirements of an engine, and whether this machine has them."""

    about: str
    requirements: list[Requirement]

    @property
    def ready(self) -> bool:
        """Whether the engine can run on this machine."""
        return not any(requirement.is_missing for requirement in self.requirements)


def statuses() -> dict[str, Status]:
    """The state on this machine of every engine, by name."""
    made = {name: engine(name) for name in names()}
    return {name: Status(_first_line(type(one).__doc__), one.doctor()) for name, one in made.items()}


@app.command("list", cls=Command)
def list_engines(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with a key per engine.")
    ] = False,
) -> None:
    """List the engines, and whether they can run on this machine. `fullpipe doctor` says what is missing."""
    found = statuses()
    if as_json:
        echo(json.dumps({name: {"ready": s.ready, "about": s.about} for name, s in found.items()}))
        return
    table = listing("", "", "")
    for name, status in found.items():
        table.add_row(name, "ready" if status.ready else "cannot run", status.about)
    terminal().print(table)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


@app.command(cls=Command)
def install(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="An engine that needs an installation, such as ns3 or linux."),
    ],
    version: Annotated[
        str | None, typer.Option(metavar="V", help="Version to build from, such as 6.1.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="linux: build this kernel tree, such as one with BBRv3."),
    ] = None,
    kernel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="linux: use this kernel image instead of building a kernel."),
    ] = None,
    rootfs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="linux: use this guest image instead of building a guest."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="linux: download from a mirror over plain http.")
    ] = False,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="linux: download without checking Debian's signatures.")
    ] = False,
    radios: Annotated[
        bool,
        typer.Option("--radios", help="linux: include the kernel's wireless stack and simulated radios."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            metavar="N",
            help="Maximum number of parallel compilers (default: one per processor).",
        ),
    ] = None,
) -> None:
    """Install an engine, without root rights.

    The same command continues an interrupted installation.
    """
    chosen = engine(name)
    if not isinstance(chosen, Installable):
        raise InstallOptionError(f"{name} needs no installation")
    options = InstallOptions(
        version, source, kernel, rootfs, insecure, unverified, workers or processors(), radios
    )
    options.check()
    with stoppable():
        ready = chosen.install(options, lambda line: echo(line, err=True)) or chosen
    echo(f"{ready.name} is ready: {ready.version()}")


# `fullpipe doctor`: lists the requirements of each engine, and which of them this machine lacks.


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with a key per engine.")
    ] = False,
) -> None:
    """Below each missing requirement, a line says how to install it. Engines are optional, so the exit code
    is 0 even if an engine cannot run.
    """
    found = statuses()
    if as_json:
        echo(json.dumps({name: {"ready": s.ready, **asdict(s)} for name, s in found.items()}))
        return
    for name, status in found.items():
        echo(f"{name}: {'ready' if status.ready else 'cannot run here'}")
        for requirement in status.requirements:
            say(f"  {_mark(requirement)} {requirement.what}: {requirement.detail}", indent=" " * 8)
            if requirement.remedy and not requirement.present:
                say(f"    {requirement.remedy}", indent=" " * 8)


def _mark(requirement: Requirement) -> str:
    if requirement.present:
        return "has  "
    return "lacks" if requirement.needed else "(no) "
