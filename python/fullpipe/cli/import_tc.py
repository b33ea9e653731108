"""`fullpipe import-tc`: a queue from a line of Linux's tc, or a router from its configuration."""

from pathlib import Path
from typing import Annotated

import tomli_w
import typer

from fullpipe import files
from fullpipe.cli.asked import read_scenario
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.errors import InputFileError, visible
from fullpipe.scenario.shaped import scenario_of
from fullpipe.scenario.tc import script, sqm
from fullpipe.scenario.tc.qdiscs import queue_of

_MOST_BYTES = 1_000_000


def import_tc(
    line: Annotated[
        list[str],
        typer.Argument(
            metavar="LINE|FILE",
            help='Such as "tc qdisc add dev eth0 root codel limit 1000"; or a file of such lines, or'
            " OpenWrt's /etc/config/sqm.",
        ),
    ],
    behind: Annotated[
        str | None,
        typer.Option(
            "--line",
            metavar="LINE|SCENARIO",
            help="Of a file: the line behind the router, a name such as cable or dsl, or a TOML file.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", parser=target, metavar="FILE", help="Write it here, as TOML."),
    ] = None,
) -> None:
    """Print the queue of a scenario that does what a line of Linux's `tc` sets up, or the scenario of a
    router.

    Of a file it is a scenario with both directions shaped. It names what is left out; what is unknown is
    refused.
    """
    file = Path(line[0])
    if len(line) == 1 and " " not in line[0]:
        text = _router(_text(file), behind)
    else:
        if behind is not None:
            raise typer.BadParameter("goes with a file", param_hint="--line")
        text = tomli_w.dumps({"topology": {"bottleneck": {"queue": queue_of(" ".join(line))}}})
    if out is not None:
        files.write(out, text.encode())
    echo(text if out is None else out, nl=out is not None)


def _router(text: str, behind: str | None) -> str:
    found = sqm.router_of(text) if sqm.is_sqm(text) else script.router_of(text)
    scenario = scenario_of(found, None if behind is None else read_scenario(behind))
    return "".join(f"# {visible(note)}\n" for note in found.notes) + scenario.to_toml()


def _text(file: Path) -> str:
    try:
        with files.open_regular(file) as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputFileError(f"{file}: cannot be read: {error.strerror or error}") from None
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise InputFileError(f"{file}: is no text of a configuration")
    return bytes(data).decode("utf-8", errors="replace")
