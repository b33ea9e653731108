"""`fullpipe compare`: variants of a scenario, a baseline, or one scenario by several engines."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.output import command_line
from fullpipe.cli.shared import (
    MAX_SEEDS,
    AllowPython,
    Assignments,
    Content,
    ContentOption,
    Jobs,
    On,
    Out,
    target,
)


def compare(
    context: typer.Context,
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A TOML file, a name from list scenarios, or a folder of kept runs."
        ),
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="Compare variants: flows.0.cca=cubic,bbr3, the reference first; may be repeated. Also"
            " scenario=a.toml,b.toml and engine=native,linux.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="FILE",
            help="Keep what is measured in this file or, if it is there, compare with it.",
        ),
    ] = None,
    engines: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Two engines or more; native,linux unless given.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="The seeds 1 to N; 5 or, with --over, 20."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The engine that others are held against; linux, or else the first."
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=MARGIN", help="Another margin, such as goodput=5% or retransmitted=40%,20."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Show this metric; may be repeated."),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Compare this group of flows or link; may be repeated."),
    ] = None,
    assignments: Assignments = None,
    workers: Jobs = None,
    on: On = "local",
    out: Out = Path("runs"),
    content: ContentOption = Content.NEWEST,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            parser=target,
            metavar="DIR",
            help="Also draw: the differences of variants, or the series of engines.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-o",
            parser=target,
            metavar="FILE",
            help="With --over or --baseline: keep the verdicts as JSON, for fullpipe report.",
        ),
    ] = None,
    allow_python: AllowPython = False,
    all_rows: Annotated[bool, typer.Option("--all", help="Print every row of the table.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per point of the sweep, one per line.")
    ] = False,
) -> None:
    """Run variants of a scenario, or one by several engines, and compare them: differences and verdicts.

    With --over every variant is held against the first, pair by pair of runs with the same seed: better,
    worse, equivalent, or undecided and how many seeds would decide. Exit code 1: something is worse.

    Of engines, a metric is equivalent if the 90 % interval of the difference lies within a margin, and
    different if it lies beyond. Intervals are Welch's: seeds are not paired. Where seeds differ by more
    than the margin, ranges are compared.
    Finished runs are kept and never made again.

    Of a folder of kept runs, those of its engines are compared: what `fullpipe import` read, say, with what
    was simulated.
    """
    from fullpipe.cli.comparing import Comparing  # here: help needs none of it

    Comparing(
        scenario=scenario,
        command=command_line(context),
        over=over or (),
        baseline=baseline,
        engines=engines,
        seeds=seeds,
        reference=reference,
        margin=margin or (),
        metric=metric or (),
        of=of or (),
        assignments=assignments or (),
        workers=workers,
        on=on,
        out=out,
        content=content,
        figures=figures,
        file=file,
        allow_python=allow_python,
        as_json=as_json,
        all_rows=all_rows,
    ).compare()
