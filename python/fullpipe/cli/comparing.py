"""Does what `fullpipe compare` is asked for."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from fullpipe.analysis.metrics.headlines import headlines
from fullpipe.cli.asked import processors, read_scenario, values_of
from fullpipe.cli.compare_baseline import against, keep, points_of, seeds_of
from fullpipe.cli.compare_engines import by_engine, draw
from fullpipe.cli.compare_kept import compared as kept_compared
from fullpipe.cli.compare_kept import sides_in
from fullpipe.cli.compare_shown import tell_engines, tell_variants
from fullpipe.cli.compare_variants import axes_of, draw_forest
from fullpipe.cli.jobs import bring_all, check_all, engine_names, finished_runs
from fullpipe.cluster import executor
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Run, Store
from fullpipe.runs.population import NEWEST
from fullpipe.sweeps import Job, Outcome, jobs
from fullpipe.validation import compare as comparison
from fullpipe.validation.over import HEADLINES, compared, sides_of

_SEEDS, _SEEDS_OF_VARIANTS = 5, 20


def compare(
    scenario: str,
    command: str,
    *,
    over: list[str] | None,
    baseline: Path | None,
    engines: str | None,
    seeds: int | None,
    reference: str | None,
    margin: Sequence[str],
    metric: Sequence[str],
    assignments: Sequence[str],
    workers: int | None,
    on: str,
    out: Path,
    content: str,
    figures: Path | None,
    file: Path | None,
    allow_python: bool,
    as_json: bool,
    of: Sequence[str] = (),
    all_rows: bool = False,
) -> None:
    """Compare variants, a baseline or engines, and say how they differ; arguments are those of the command.

    `command` is the command as it can be typed again.

    Raises:
        BadParameter: If arguments do not go together.
        Exit: If a run failed, or something is worse.
    """
    for wanted in metric:
        if wanted not in comparison.MARGINS:
            raise UnknownNameError("metric", wanted, comparison.MARGINS)
    margins = dict(comparison.read_margin(text) for text in margin)
    if Path(scenario).is_dir():
        if over or baseline or engines or assignments:
            told_how = "runs that are kept are compared as they are; name a scenario to run others"
            raise typer.BadParameter(told_how, param_hint="SCENARIO")
        kept_sides = sides_in(Path(scenario), content)
        found = kept_compared(Path(scenario), kept_sides, reference, margins, of)
        scenarios = (run.scenario for runs in kept_sides.values() for run in runs)
        shown = metric or headlines(HEADLINES, scenarios)
        tell_engines([found], shown, asked=metric, as_json=as_json, all_rows=all_rows)
        if figures:
            draw(figures, kept_sides, found.scenario, {}, quiet=as_json)
        return
    if content != NEWEST:
        raise typer.BadParameter("goes with a folder of runs", param_hint="--content")
    chosen = read_scenario(scenario).with_values(values_of(assignments, None))
    metrics = metric or headlines(HEADLINES, [chosen])
    if over and baseline:
        raise typer.BadParameter("give one of --over and --baseline")
    if file and not (over or baseline):
        raise typer.BadParameter("goes with --over or --baseline", param_hint="--file")
    if reference is not None and (over or baseline):
        told_how = "goes with --engines; of --over the first value is the reference"
        raise typer.BadParameter(told_how, param_hint="--reference")
    made: list[Run] = []
    told = partial(
        tell_variants, as_json=as_json, all_rows=all_rows, file=file, command=command, runs=made, asked=metric
    )

    def finished(todo: Sequence[Job]) -> list[Outcome]:
        if allow_python:
            bring_all(list(todo), scenario)
        check_all(list(todo))
        place = executor(on, root=out, workers=workers or processors(), allow_python=allow_python)
        outcomes = finished_runs(todo, place, Store(out), 2 if over or baseline else 1)
        made.extend(outcome.run for outcome in outcomes if file)
        return outcomes

    if over:
        several = range(1, (seeds or _SEEDS_OF_VARIANTS) + 1)
        sides = sides_of(chosen, axes_of(over), several, engines or "native")
        runs = (outcome.run for outcome in finished([job for jobs in sides.values() for job in jobs]))
        every = compared(sides, runs, metric or None, margins, of)
        if figures:
            draw_forest(figures, every, quiet=as_json)
        told(every)
    elif baseline:
        kept = seeds_of(baseline, seeds, _SEEDS_OF_VARIANTS)
        points = points_of(finished(jobs(chosen, kept, engines or "native")))
        if baseline.exists():
            told(against(baseline, points, metrics, margins, of))
        else:
            keep(baseline, points)
    else:
        names = engine_names(engines or "native,linux")
        if reference is not None and reference not in names:
            raise UnknownNameError("reference", reference, names)
        several = range(1, (seeds or _SEEDS) + 1)
        outcomes = finished([job for name in names for job in jobs(chosen, several, name)])
        first = reference or ("linux" if "linux" in names else names[0])
        at_points = by_engine(outcomes)
        every_point = [
            replace(comparison.compare(sides_at_point, first, margins, of), point=point)
            for point, sides_at_point in at_points
        ]
        tell_engines(every_point, metrics, asked=metric, as_json=as_json, all_rows=all_rows)
        if figures:
            for point, sides_at_point in at_points:
                draw(figures, sides_at_point, chosen.name, point, quiet=as_json)
