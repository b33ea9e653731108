"""`fullpipe trace`: what a recorded path is like, and one kind of file from the other."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.cli.output import echo
from fullpipe.errors import ScenarioError
from fullpipe.scenario import traces
from fullpipe.scenario.quantities import DURATION, NANOSECONDS, RATE

trace = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Recorded paths: Mahimahi's packet-delivery traces and CSV.",
)
_CSV = ".csv"
_In = Annotated[Path, typer.Argument(metavar="FILE", help="A packet-delivery trace, or a CSV by its name.")]


@trace.command()
def info(
    file: _In,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, in base units.")] = False,
) -> None:
    """Say how long a trace lasts and what it carries."""
    found = _of_steps(file) if file.suffix == _CSV else _of_opportunities(file)
    if as_json:
        echo(json.dumps(found))
    elif file.suffix == _CSV:
        echo(f"{found.pop('rows')} rows, the last at {found.pop('duration_s'):g} s")
        for name, (least, most) in found.items():
            echo(f"{name}: {least:g} to {most:g}")
    else:
        echo(f"{found['opportunities']} opportunities in {found['duration_s']:g} s")
        longest_ms = round(found["longest_gap_s"] * 1e3)
        echo(f"mean rate {found['mean_bps'] / 1e6:.4g} Mbit/s, longest gap {longest_ms} ms")


def _of_steps(file: Path) -> dict[str, Any]:
    """A CSV: its rows, its end, and the least and the most of every quantity that it has."""
    steps = traces.read_steps(file)
    columns = {
        name: [value for value in getattr(steps, name) or () if value is not None]
        for name in ("rate_bps", "delay_s", "loss")
    }
    ranges = {name: [min(known), max(known)] for name, known in columns.items() if known}
    return {"rows": len(steps.time_s), "duration_s": steps.time_s[-1], **ranges}


def _of_opportunities(file: Path) -> dict[str, Any]:
    """A packet-delivery trace: how many opportunities, and how they are spread."""
    found = traces.read_mahimahi(file)
    gaps_ms = found.times_ms[1:] - found.times_ms[:-1]
    longest_ms = max(int(gaps_ms.max(initial=0)), int(found.times_ms[0]))
    return {
        "opportunities": len(found.times_ms),
        "duration_s": found.period_s,
        "mean_bps": found.mean_bps,
        "longest_gap_s": longest_ms / 1e3,
    }


@trace.command()
def convert(
    file: _In,
    to: Annotated[Path, typer.Argument(metavar="TO", help="A CSV if the name ends in .csv, else a trace.")],
    interval: Annotated[
        str, typer.Option(metavar="TIME", help="Over how long a rate is taken for a CSV.")
    ] = "100 ms",
) -> None:
    """Turn a packet-delivery trace into rates, or rates into a packet-delivery trace.

    A CSV has the columns time_s and rate_bps; its last row is where it ends.
    """
    if (file.suffix == _CSV) == (to.suffix == _CSV):
        raise ScenarioError([f"{file} and {to} are of the same kind; one name ends in .csv"])
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
            raise ScenarioError([f"{file}: has no column rate_bps"])
        rates, last = [], 0
        for rate in steps.rate_bps:
            last = last if rate is None else rate
            rates.append(last)
        made = traces.from_rates(steps.time_s[:-1], rates[:-1], steps.time_s[-1])
        traces.write_mahimahi(to, made)
        echo(f"{to}: {RATE.format(round(made.mean_bps))} on average")
