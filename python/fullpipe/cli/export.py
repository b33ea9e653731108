"""`fullpipe export`: a finished run for other tools."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.analysis.export import deliveries, flent, pcapng, qlog
from fullpipe.cli.jobs import read_runs
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.runs import Run


class Format(StrEnum):
    """Formats of exported runs."""

    qlog = "qlog"
    pcapng = "pcapng"
    flent = "flent"
    mahimahi = "mahimahi"


_WHOLE: dict[Format, Callable[[Run], bytes]] = {Format.qlog: qlog, Format.flent: flent}
"""Formats that have all of a run."""


def export(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="File to write; its ending chooses the format."
        ),
    ],
    format: Annotated[
        Format | None, typer.Option(help="Format; chosen by the ending of the file unless given.")
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only packets captured at this point; for pcapng it may be repeated."
        ),
    ] = None,
) -> None:
    """Wireshark opens .pcapng, Flent opens .flent.gz, and qlog viewers open .qlog. Mahimahi replays .up,
    .down and .trace: deliveries of one link or cell, after the warm-up.
    """
    endings = {".pcapng": Format.pcapng, ".qlog": Format.qlog, ".sqlog": Format.qlog}
    endings |= dict.fromkeys((".up", ".down", ".trace"), Format.mahimahi)
    is_of_flent = out.name.endswith((".flent.gz", ".flent"))
    chosen = format or (Format.flent if is_of_flent else endings.get(out.suffix))
    if chosen is None:
        raise typer.BadParameter(
            f"{out.name} does not say which format; add --format qlog, pcapng, flent or mahimahi"
        )
    (run,) = read_runs([folder])
    files.write(out, _content(run, chosen, point or []))
    echo(out)


def _content(run: Run, chosen: Format, points: list[str]) -> bytes:
    if chosen in _WHOLE:
        return _WHOLE[chosen](run)
    if chosen == Format.pcapng:
        return pcapng(run, points)
    if len(points) > 1:
        raise typer.BadParameter("a packet-delivery trace is of one link or port; give --point once")
    return deliveries(run, points[0] if points else None)
