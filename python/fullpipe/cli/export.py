"""`fullpipe export`: a finished run for other tools."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.export import pcapng, qlog
from fullpipe.cli.jobs import read_runs
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target


class Format(StrEnum):
    """What a run can become."""

    qlog = "qlog"
    pcapng = "pcapng"


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
    """Write a run as a qlog trace, or its captured packets as a pcapng file for Wireshark."""
    endings = {".pcapng": Format.pcapng, ".qlog": Format.qlog, ".sqlog": Format.qlog}
    chosen = format or endings.get(out.suffix)
    if chosen is None:
        raise typer.BadParameter(
            f"{out.name} does not say which format; add --format qlog or --format pcapng"
        )
    (run,) = read_runs([folder])
    content = qlog(run) if chosen == Format.qlog else pcapng(run, point or ())
    files.write(out, content)
    echo(out)
