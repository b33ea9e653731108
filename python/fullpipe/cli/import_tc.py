"""`fullpipe import-tc`: a link from a line of Linux's tc, or a router from its configuration."""

from pathlib import Path
from typing import Annotated

import tomli_w
import typer

from fullpipe import files
from fullpipe.cli.asked import read_scenario
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.errors import InputFileError, visible
from fullpipe.scenario.model.link.queues import Discipline
from fullpipe.scenario.quantities import natural
from fullpipe.scenario.shaped import has_rate, scenario_of
from fullpipe.scenario.tc import qdiscs, script, sqm
from fullpipe.scenario.tc.devices import link_of
from fullpipe.scenario.tc.router import Router, Shaper

_MOST_BYTES = 1_000_000
_FLOWS = {"download": "comes", "upload": "leaves"}
"""Directions that get a flow, if something limits them."""


def import_tc(
    line: Annotated[
        list[str],
        typer.Argument(
            metavar="LINE|FILE",
            help='A line such as "tc qdisc add dev eth0 root codel limit 1000". Or a file: such lines, output'
            " of `tc -s qdisc show`, or OpenWrt's /etc/config/sqm.",
        ),
    ],
    behind: Annotated[
        str | None,
        typer.Option(
            "--line",
            metavar="LINE|SCENARIO",
            help="For a file, the line behind the router: a name such as cable or dsl, or a TOML file.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="Write the result to this file, as TOML."
        ),
    ] = None,
) -> None:
    """A line gives a queue, or a link for netem. A file gives the scenario of a router, with a flow in each
    direction that the router limits. Comments name what is left out. Unknown options are errors.
    """
    file = Path(line[0])
    if len(line) == 1 and " " not in line[0]:
        text = _router(_text(file), behind)
    else:
        if behind is not None:
            raise typer.BadParameter("goes with a file", param_hint="--line")
        text = _link(link_of(qdiscs.read(" ".join(line))))
    if out is not None:
        files.write(out, text.encode())
    echo(text if out is None else out, nl=out is not None)


def _link(found: Router) -> str:
    """The only link of a router, as the bottleneck of a scenario."""
    (shaper,) = _shapers(found)
    link = shaper.link
    if "rate" in link:
        link["rate"] = natural(link["rate"])
    if "queue" in link and link["queue"]["kind"] in Discipline.known():
        link["queue"] = Discipline.model_validate(link["queue"]).model_dump(by_alias=True)
    return _comments(found.notes) + tomli_w.dumps({"topology": {"bottleneck": link}})


def _router(text: str, behind: str | None) -> str:
    found = sqm.router_of(text) if sqm.is_sqm(text) else script.router_of(text)
    shapers = _shapers(found)
    if behind is None and len(shapers) == 1 and not has_rate(shapers[0].link):
        found.notes.append("a link without a rate is no scenario; with a line it is, as with --line dsl")
        return _link(found)
    scenario = scenario_of(found, None if behind is None else read_scenario(behind))
    there = {flow.name for flow in scenario.flows}
    missing = [
        f"there is no {flow}: nothing limits what {verb}; give the line behind the router, as in --line dsl"
        for flow, verb in _FLOWS.items()
        if flow not in there
    ]
    return _comments([*found.notes, *missing]) + scenario.to_toml()


def _shapers(found: Router) -> list[Shaper]:
    return [shaper for shaper in (found.up, found.down) if shaper is not None]


def _comments(notes: list[str]) -> str:
    return "".join(f"# {visible(note)}\n" for note in notes)


def _text(file: Path) -> str:
    try:
        with files.open_regular(file) as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputFileError(f"{file}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise InputFileError(f"{file}: is no text of a configuration")
    return bytes(data).decode("utf-8", errors="replace")
