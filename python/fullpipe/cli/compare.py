"""`fullpipe compare`: variants of a scenario, a baseline, or one scenario by several engines."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe.cli.compare_baseline import against, keep, points_of, seeds_of
from fullpipe.cli.compare_engines import by_engine, draw, show
from fullpipe.cli.compare_kept import compared as kept_compared
from fullpipe.cli.compare_kept import sides_in
from fullpipe.cli.compare_variants import axes_of, draw_forest, report
from fullpipe.cli.jobs import bring_all, check_all, engine_names
from fullpipe.cli.output import command_line, complain, echo
from fullpipe.cli.progress import progress_bar
from fullpipe.cli.shared import (
    MAX_SEEDS,
    AllowPython,
    Assignments,
    Jobs,
    On,
    Out,
    processors,
    read_scenario,
    target,
    values_of,
)
from fullpipe.cli.shown import label
from fullpipe.cluster import Executor, executor
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Store
from fullpipe.sweeps import Job, Outcome, jobs, stream
from fullpipe.validation import compare as comparing
from fullpipe.validation.over import HEADLINES, compared, sides_of

_SEEDS, _SEEDS_OF_VARIANTS = 5, 20


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
    assignments: Assignments = None,
    workers: Jobs = None,
    on: On = "local",
    out: Out = Path("runs"),
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
    for wanted in metric or ():
        if wanted not in comparing.MARGINS:
            raise UnknownNameError("metric", wanted, comparing.MARGINS)
    margins, metrics = dict(comparing.read_margin(text) for text in margin or ()), metric or HEADLINES
    if Path(scenario).is_dir():
        if over or baseline or engines or assignments:
            told_how = "runs that are kept are compared as they are; name a scenario to run others"
            raise typer.BadParameter(told_how, param_hint="SCENARIO")
        kept_sides = sides_in(Path(scenario))
        found = kept_compared(Path(scenario), kept_sides, reference, margins)
        _tell_engines(found, metrics, {}, as_json=as_json)
        if figures:
            draw(figures, kept_sides, found.scenario, {}, quiet=as_json)
        return
    chosen = read_scenario(scenario).with_values(values_of(assignments or [], None))
    if over and baseline:
        raise typer.BadParameter("give one of --over and --baseline")
    if file and not (over or baseline):
        raise typer.BadParameter("goes with --over or --baseline", param_hint="--file")
    if reference is not None and (over or baseline):
        told_how = "goes with --engines; of --over the first value is the reference"
        raise typer.BadParameter(told_how, param_hint="--reference")
    told = partial(report, as_json=as_json, file=file, command=command_line(context))

    def finished(todo: Sequence[Job]) -> list[Outcome]:
        if allow_python:
            bring_all(list(todo), scenario)
        check_all(list(todo))
        place = executor(on, root=out, workers=workers or processors(), allow_python=allow_python)
        return finished_runs(todo, place, Store(out), 2 if over or baseline else 1)

    if over:
        several = range(1, (seeds or _SEEDS_OF_VARIANTS) + 1)
        sides = sides_of(chosen, axes_of(over), several, engines or "native")
        runs = (outcome.run for outcome in finished([job for side in sides for job in side.jobs]))
        every = compared(sides, runs, metrics, margins)
        if figures:
            draw_forest(figures, every, quiet=as_json)
        told(every)
    elif baseline:
        kept = seeds_of(baseline, seeds, _SEEDS_OF_VARIANTS)
        points = points_of(finished(jobs(chosen, kept, engines or "native")))
        if baseline.exists():
            told(against(baseline, points, metrics, margins))
        else:
            keep(baseline, points)
    else:
        names = engine_names(engines or "native,linux")
        if reference is not None and reference not in names:
            raise UnknownNameError("reference", reference, names)
        several = range(1, (seeds or _SEEDS) + 1)
        outcomes = finished([job for name in names for job in jobs(chosen, several, name)])
        first = reference or ("linux" if "linux" in names else names[0])
        for point, sides_at_point in by_engine(outcomes):
            found = comparing.compare(sides_at_point, first, margins)
            _tell_engines(found, metrics, point, as_json=as_json)
            if figures:
                draw(figures, sides_at_point, found.scenario, point, quiet=as_json)


def _tell_engines(
    found: comparing.Comparison, metrics: Sequence[str], point: Mapping[str, Any], *, as_json: bool
) -> None:
    if as_json:
        echo(json.dumps(found.to_dict() | {"point": dict(point)}, allow_nan=False))
    else:
        show(found, metrics, point)


def finished_runs(todo: Sequence[Job], place: Executor, store: Store, status: int = 1) -> list[Outcome]:
    """What became of jobs. Stops with an exit code if a run failed."""
    with progress_bar(todo) as progress:
        outcomes = list(stream(todo, executor=place, store=store, progress=progress))
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"{label(outcome.job)}, {outcome.job.engine}: {outcome.error!s}")
    if failed:
        raise typer.Exit(status)
    return outcomes
