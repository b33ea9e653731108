"""`fullpipe compare`: compares variants, runs with a baseline, or several engines."""

from pathlib import Path
from typing import Annotated

import typer

from fullpipe.cli.output import command_line
from fullpipe.cli.shared import (
    SEEDS,
    AllowPython,
    Assignments,
    Content,
    ContentOption,
    Jobs,
    LabelOption,
    On,
    Out,
    checked_width,
    figure_target,
    seeds_of,
    target,
)


def compare(
    context: typer.Context,
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="A TOML file, a name from `fullpipe list scenarios`, or a folder of stored runs.",
        ),
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help=(
                "Variants to compare, as in flows.0.cca=cubic,bbr3; the first value is the reference."
                " Also scenario=a.toml,b.toml and engine=native,linux. May be repeated."
            ),
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            parser=target,
            metavar="FILE",
            help="Compare with the values in this file; if there is none, write it.",
        ),
    ] = None,
    engines: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Engines to compare (default: native,linux).")
    ] = None,
    seeds: Annotated[
        range | None,
        typer.Option(
            parser=seeds_of,
            metavar=SEEDS,
            help="Run the seeds 1 to N, or FROM to TO (default: 5, or 20 with --over or --baseline).",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Engine that the other engines are compared with (default: linux if compared, else the"
            " first engine).",
        ),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=MARGIN",
            help="Override a margin, as in goodput=5% or retransmitted=40%,20. May be repeated.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help='Compare only this metric, or "METRIC of GROUP". May be repeated.'),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Compare only this group of flows or link; may be repeated."),
    ] = None,
    assignments: Assignments = None,
    workers: Jobs = None,
    on: On = "local",
    out: Out = Path("runs"),
    content: ContentOption = Content.NEWEST,
    figures: Annotated[
        list[Path] | None,
        typer.Option(
            "--plot",
            parser=figure_target,
            metavar="DIR",
            help="Also draw differences of variants, or time series of engines, in this folder, or .pdf, .svg"
            " or .png file; may be repeated.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(metavar="WIDTH", help="With --plot: width of the figure, as in `fullpipe plot`."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-o",
            parser=target,
            metavar="FILE",
            help="With --over or --baseline, write the verdicts as JSON, for `fullpipe report`.",
        ),
    ] = None,
    allow_python: AllowPython = False,
    label: LabelOption = None,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Print every row of the table, and every note.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per sweep point, one per line.")
    ] = False,
) -> None:
    """Variants of `--over` are compared with the first, paired by seed. The verdict is better, worse,
    equivalent or undecided. An undecided verdict is followed by the number of seeds that would decide. The
    exit code is 1 if a metric is worse.

    With `--engines`, a metric is equivalent if the 90 % confidence interval of the difference is within its
    margin, and different if the interval is outside. Welch's intervals are used, since engines are not
    paired by seed. If neither holds, but the values of one engine span more than the margin and the ranges of
    both engines overlap, the verdict is "overlapping ranges".

    The stored runs of a folder are grouped by engine, and the engines are compared. An example is imported
    measurements beside simulated runs. Finished runs are stored and re-used.
    """
    from fullpipe.cli.comparing import Comparing  # imported here, as help does not need these modules
    from fullpipe.cli.selection import read_labels

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
        figures=list(dict.fromkeys(figures or ())),
        width=checked_width(width),
        file=file,
        allow_python=allow_python,
        as_json=as_json,
        all_rows=all_rows,
        labels=read_labels(label or ()),
    ).compare()
