"""`fullpipe export`: a finished run for other tools."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.export import flent, pcapng, qlog
from fullpipe.cli.jobs import read_runs
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.runs import Run


class Format(StrEnum):
    """What a run can become."""

    qlog = "qlog"
    pcapng = "pcapng"
    flent = "flent"


_OTHERS: dict[Format, Callable[[Run], bytes]] = {Format.qlog: qlog, Format.flent: flent}


def export(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=target, metavar="FILE", help="Where to write it.")
    ],
    format: Annotated[Format | None, typer.Option(help="Left out: by the ending of the file.")] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="pcapng: only what was captured here; may be repeated."),
    ] = None,
) -> None:
    """Write a run as a qlog trace, its captured packets as a pcapng file for Wireshark, or a file that
    Flent opens."""
    endings = {".pcapng": Format.pcapng, ".qlog": Format.qlog, ".sqlog": Format.qlog}
    is_of_flent = out.name.endswith((".flent.gz", ".flent"))
    chosen = format or (Format.flent if is_of_flent else endings.get(out.suffix))
    if chosen is None:
        raise typer.BadParameter(f"{out.name} does not say which format; add --format qlog, pcapng or flent")
    (run,) = read_runs([folder])
    files.write(out, pcapng(run, point or ()) if chosen == Format.pcapng else _OTHERS[chosen](run))
    echo(out)
