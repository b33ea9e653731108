"""The commands `twin` and `fit`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files
from fullpipe.cli.asked import notes_of
from fullpipe.cli.output import echo
from fullpipe.cli.shared import target
from fullpipe.engines.imported import read_twin
from fullpipe.engines.imported.measurement import given_names, of_file
from fullpipe.validation.fit import Fitted
from fullpipe.validation.fit import fit as fitted_to
from fullpipe.validation.fit.read import read

# `fullpipe twin`: derives a scenario from a measurement by Flent or from a capture.


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
                "Algorithm that a name in the file stands for: with bbr=bbr3, the kernel's bbr is bbr3. For a"
                " capture, NAME is the name of a flow, or all for every flow. May be repeated."
            ),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The scenario has the rate, RTT, buffer, algorithms and queue that would reproduce the measurement.
    Comments in the scenario say which values are guesses, and which the file does not show.
    """
    found = read_twin(file, given_names(cca or []))
    notes = notes_of(found.guessed, found.unknown)
    text = f"{notes}\n{found.scenario.to_toml()}"
    if out is not None:
        files.write(out, text.encode())
    if as_json:
        told = {"guessed": found.guessed, "unknown": found.unknown, "scenario": found.scenario.to_dict()}
        echo(json.dumps(told))
        return
    echo(text if out is None else f"{notes}{out}", nl=out is not None)


# `fullpipe fit`: derives the scenario of a line from logs of pings and throughput.


class Direction(StrEnum):
    """Directions of throughput."""

    down = "down"
    up = "up"


def fit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help=(
                "A log of ping or fping, and a throughput file per direction: a CSV with the columns time in"
                " s and rate in bit/s, or output of iperf3 --json or --json-stream. Or one file: Flent's"
                " data, or a capture (pcap or pcapng, also as .gz)."
            ),
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="Write the scenario to this file, as TOML."
        ),
    ] = None,
    direction: Annotated[
        Direction, typer.Option(help="Direction of a throughput CSV whose first line names no direction.")
    ] = Direction.down,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The scenario has the rate, RTT and buffer of each direction of the line. Comments in the scenario say
    which values are guesses, and which the files do not show.
    """
    measured = read(list(dict.fromkeys(paths)), direction.value)
    with of_file(paths[0], "measurement"):
        found = fitted_to(measured, out.stem[:100] if out else "line")
    notes = notes_of(found.guessed, found.unknown)
    text = f"{notes}\n{found.scenario.to_toml()}"
    if out is not None:
        files.write(out, text.encode())
    if as_json:
        echo(json.dumps(_told(found)))
        return
    for way, of in found.ways.items():
        if of.rpm is None:
            continue
        if of.increase_s is None:
            longer = "latency increase unknown, as no ping is known to be from the idle line"
        else:
            longer = f"pings take {of.increase_s * 1e3:.0f} ms longer while it is busy (grade {of.grade})"
        echo(f"{way}: {longer}, {of.rpm:.0f} round trips per minute", err=out is None)
    echo(text if out is None else f"{notes}{out}", nl=out is not None)


def _told(found: Fitted) -> dict[str, Any]:
    ways = {
        way: {
            "rate_bps": of.rate_bps,
            "rate_is_known": not of.is_least_rate,
            "buffer_s": of.buffer.wait_s,
            "buffer_least_s": of.buffer.least_s if of.buffer.wait_s is None else None,
            "buffer_most_s": of.buffer.most_s,
            "is_known": not of.buffer.is_least,
            "latency_increase_s": of.increase_s,
            "grade": of.grade or None,
            "responsiveness": of.rpm,
        }
        for way, of in found.ways.items()
    }
    return {
        "rtt_s": found.rtt_s,
        "ways": ways,
        "guessed": found.guessed,
        "unknown": found.unknown,
        "scenario": found.scenario.to_dict(),
    }
