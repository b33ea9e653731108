"""The commands `export` and `trace`."""

import json
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import files
from fullpipe.analysis.export import deliveries, flent, packetdrill, pcapng, qlog
from fullpipe.cli.help import Command, Group
from fullpipe.cli.output import echo, say
from fullpipe.cli.shared import target
from fullpipe.cli.stored import read_runs
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import traces
from fullpipe.scenario.quantities import DURATION, NANOSECONDS, RATE
from fullpipe.scenario.traces import files as trace_files
from fullpipe.scenario.traces import mahimahi

# `fullpipe export`: writes a finished run in a format of another tool.


class Format(StrEnum):
    """Formats of exported runs."""

    qlog = "qlog"
    pcapng = "pcapng"
    flent = "flent"
    mahimahi = "mahimahi"
    packetdrill = "packetdrill"


_WHOLE: dict[Format, Callable[[Run], bytes]] = {Format.qlog: qlog, Format.flent: flent}
"""Functions that write formats of the whole run. The other formats depend on capture points or on a flow."""


def export(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", parser=target, metavar="FILE", help="File to write; its ending selects the format."
        ),
    ],
    format: Annotated[
        Format | None, typer.Option(help="Format (default: by the ending of the file's name).")
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Export only packets captured at this point: a link or a port. May be repeated for pcapng.",
        ),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Flow that a .pkt file describes; optional for a single flow."),
    ] = None,
) -> None:
    """Wireshark opens .pcapng, Flent opens .flent.gz, and qlog viewers open .qlog. Mahimahi replays .up,
    .down and .trace, which contain the packet deliveries of one link or port after the warm-up. A kernel
    plays .pkt, a packetdrill script with the ACKs that the sender of one flow received and the segments that
    it sent.
    """
    endings = {
        ".pcapng": Format.pcapng,
        ".qlog": Format.qlog,
        ".sqlog": Format.qlog,
        ".pkt": Format.packetdrill,
    }
    endings |= dict.fromkeys((".up", ".down", ".trace"), Format.mahimahi)
    is_of_flent = out.name.endswith((".flent.gz", ".flent"))
    chosen = format or (Format.flent if is_of_flent else endings.get(out.suffix))
    if chosen is None:
        raise typer.BadParameter(
            f"the ending of {out.name} is no known format; "
            "add --format qlog, pcapng, flent, mahimahi or packetdrill"
        )
    if flow is not None and chosen != Format.packetdrill:
        raise typer.BadParameter("--flow chooses the flow of a .pkt file; leave it out for other formats")
    if point and chosen == Format.packetdrill:
        raise typer.BadParameter("a .pkt file describes a sender; leave out --point, or add --flow NAME")
    (run,) = read_runs([folder])
    content = (
        packetdrill(run, flow).encode()
        if chosen == Format.packetdrill
        else _content(run, chosen, point or [])
    )
    files.write(out, content)
    echo(out)


def _content(run: Run, chosen: Format, points: list[str]) -> bytes:
    if chosen in _WHOLE:
        return _WHOLE[chosen](run)
    if chosen == Format.pcapng:
        return pcapng(run, points)
    if len(points) > 1:
        raise typer.BadParameter("a packet-delivery trace describes one link or port; give --point once")
    return deliveries(run, points[0] if points else None)


# `fullpipe trace`: inspects recorded paths, and converts between formats of traces.


trace = typer.Typer(cls=Group, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
_CSV = ".csv"
_In = Annotated[
    Path, typer.Argument(metavar="FILE", help="A packet-delivery trace, packet trains, or a .csv file.")
]


@trace.command(cls=Command)
def info(
    file: _In,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, in base units.")] = False,
) -> None:
    """Print the duration, rate and gaps of a trace."""
    with_trains = file.suffix != _CSV and b" " in trace_files.read_bytes(file).partition(b"\n")[0]
    found = (
        _of_trains(file)
        if with_trains
        else _of_steps(file)
        if file.suffix == _CSV
        else _of_opportunities(file)
    )
    if as_json:
        echo(json.dumps(found))
    elif file.suffix == _CSV:
        echo(f"{found.pop('rows')} rows, the last at {found.pop('duration_s'):g} s")
        for name, (least, most) in found.items():
            echo(f"{name}: {least:g} to {most:g}")
    elif with_trains:
        least, most = found["delay_s"]
        echo(f"{found['trains']} packet trains in {found['duration_s']:g} s, {found['packets']} packets")
        echo(f"delay of the first packet {1e3 * least:g} to {1e3 * most:g} ms")
    else:
        echo(f"{found['opportunities']} opportunities in {found['duration_s']:g} s")
        longest_ms = round(found["longest_gap_s"] * 1e3)
        echo(f"mean rate {found['mean_bps'] / 1e6:.4g} Mbit/s, longest gap {longest_ms} ms")


def _of_steps(file: Path) -> dict[str, Any]:
    """Number of rows of a CSV, its duration, and the minimum and maximum of every quantity."""
    steps = traces.read_steps(file)
    columns = {
        name: [value for value in getattr(steps, name) or () if value is not None]
        for name in ("rate_bps", "delay_s", "loss")
    }
    ranges = {name: [min(known), max(known)] for name, known in columns.items() if known}
    return {"rows": len(steps.time_s), "duration_s": steps.time_s[-1], **ranges}


def _of_trains(file: Path) -> dict[str, Any]:
    """Number of packet trains and packets, and the range of the delays of the trains' first packets."""
    found = traces.read_trains(file)
    return {
        "trains": len(found.times_ms),
        "duration_s": found.period_s,
        "packets": sum(len(line) - 2 for line in found.lines()),
        "delay_s": [int(found.delays_ms.min()) / 1e3, int(found.delays_ms.max()) / 1e3],
    }


def _of_opportunities(file: Path) -> dict[str, Any]:
    """Delivery opportunities of a trace: their number, mean rate and longest gap."""
    found = traces.read_mahimahi(file)
    gaps_ms = found.times_ms[1:] - found.times_ms[:-1]
    longest_ms = max(int(gaps_ms.max(initial=0)), int(found.times_ms[0]))
    return {
        "opportunities": len(found.times_ms),
        "duration_s": found.period_s,
        "mean_bps": found.mean_bps,
        "longest_gap_s": longest_ms / 1e3,
    }


@trace.command(cls=Command)
def convert(
    file: _In,
    to: Annotated[
        Path,
        typer.Argument(metavar="TO", help="File to write: rates if its name ends in .csv, else a trace."),
    ],
    interval: Annotated[
        str, typer.Option(metavar="TIME", help="Time over which each rate in the CSV is averaged.")
    ] = "100 ms",
) -> None:
    """Convert a packet-delivery trace into rates, or rates into a trace.

    A CSV has the columns time_s and rate_bps. Its last row is the end of the trace.
    """
    if (file.suffix == _CSV) == (to.suffix == _CSV):
        raise ScenarioError([f"{file} and {to}: exactly one of the two names must end in .csv"])
    if file.suffix != _CSV:
        try:
            interval_s = DURATION.parse(interval) / NANOSECONDS
        except ValueError as error:
            raise ScenarioError([f"--interval: {error}"]) from None
        found = traces.read_mahimahi(file)
        time_s, rate_bps = traces.to_rates(found, interval_s)
        ends = (*time_s.tolist(), found.period_s)
        rates = [round(rate) for rate in rate_bps]
        traces.write_steps(to, traces.Steps(ends, (*rates, rates[-1])))
    else:
        steps = traces.read_steps(file)
        if steps.rate_bps is None:
            raise ScenarioError([f"{file}: the column rate_bps is missing"])
        rates, last = [], 0
        for rate in steps.rate_bps:
            last = last if rate is None else rate
            rates.append(last)
        made = traces.from_rates(steps.time_s[:-1], rates[:-1], steps.time_s[-1])
        traces.write_mahimahi(to, made)
        echo(f"{to}: {RATE.format(round(made.mean_bps))} on average")


@trace.command("list", cls=Command)
def list_public(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, in base units.")] = False,
) -> None:
    """List public recordings of paths, with licence and address.

    The recordings are not part of fullpipe; `fullpipe trace fetch` downloads one.
    """
    if as_json:
        return echo(json.dumps([asdict(one) for one in mahimahi.public_sets()]))
    for one in mahimahi.public_sets():
        say(f"{one.name}: {one.what}")
        say(f"  licence: {one.licence}", indent="    ")
        echo(f"  {one.page}")
        for file in one.files:
            echo(f"  {file.name}, {_size(file)}")
    return None


@trace.command("fetch", cls=Command)
def fetch_public(
    name: Annotated[str, typer.Argument(metavar="NAME", help="SET/FILE, from `fullpipe trace list`.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=target,
            metavar="FILE",
            help="File to write (default: the file name of the recording).",
        ),
    ] = None,
) -> None:
    """Download a public recording from its authors, after printing its licence."""
    one, file = mahimahi.choose(name)
    say(f"{file.name}, {_size(file)}: {one.what}")
    say(f"licence: {one.licence}")
    echo(one.page)
    path = out or Path(file.name.rpartition("/")[2])
    trace_files.write_bytes(path, mahimahi.fetch(file))
    echo(path)


def _size(file: mahimahi.Fetchable) -> str:
    return "size not known" if file.size_bytes is None else f"{file.size_bytes:,} bytes"
