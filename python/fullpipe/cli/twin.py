"""`fullpipe twin`: the scenario that would reproduce what Flent measured."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fullpipe import files
from fullpipe.cli.notes import notes_of
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.engines.flent.algorithms import given_names
from fullpipe.engines.flent.run import read_test
from fullpipe.engines.flent.twin import Twin, twin_of
from fullpipe.engines.pcap.blocks import is_capture
from fullpipe.engines.pcap.run import read_flows
from fullpipe.engines.pcap.twin import twin_of as twin_of_capture


def twin(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Flent's data file, or a capture: pcap or pcapng, also as .gz."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="Write the scenario to this file, as TOML."
        ),
    ] = None,
    cca: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ALGORITHM",
            help=(
                "Algorithm behind a kernel's name for it, as in bbr=bbr3. For a capture, the"
                " algorithm of a flow, or all=cubic. May be repeated."
            ),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The scenario has the rate, RTT, buffer, algorithms and queue that would reproduce the measurement.
    Comments say which values are guesses, and what the file cannot tell.
    """
    found = _found(file, cca or [])
    notes = notes_of(found.guessed, found.unknown)
    text = f"{notes}\n{found.scenario.to_toml()}"
    if out is not None:
        files.write(out, text.encode())
    if as_json:
        told = {"guessed": found.guessed, "unknown": found.unknown, "scenario": found.scenario.to_dict()}
        echo(json.dumps(told))
        return
    echo(text if out is None else f"{notes}{out}", nl=out is not None)


def _found(file: Path, cca: list[str]) -> Twin:
    names = given_names(cca)
    if is_capture(file):
        return twin_of_capture(read_flows(file, names), file, names)
    return twin_of(read_test(file, names), file)
