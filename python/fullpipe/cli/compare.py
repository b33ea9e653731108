"""`fullpipe compare`: one scenario by several engines, and whether what they give is equivalent."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fullpipe import plots
from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.jobs import bring_all, check_all, engine_names
from fullpipe.cli.output import complain, echo
from fullpipe.cli.progress import progress_bar
from fullpipe.cli.shared import (
    MAX_SEEDS,
    AllowPython,
    Assignments,
    Jobs,
    Out,
    ScenarioName,
    processors,
    read_scenario,
    target,
    values_of,
)
from fullpipe.cli.shown import heading, number_shown, point_shown, table, unit_shown, value_shown
from fullpipe.cli.tables import label
from fullpipe.errors import UnknownNameError
from fullpipe.runs import Run, Store
from fullpipe.sweeps import Job, jobs, stream
from fullpipe.validation import compare as comparing
from fullpipe.validation.compare import Comparison, Judgement, Row, overlay

_HEADLINES = (
    "goodput",
    "jain",
    "rtt_mean",
    "srtt_mean",
    "rtt_p95",
    "srtt_p95",
    "owd_mean",
    "call_score",
    "retransmitted",
    "convergence",
    "fct_p50",
    "utilisation",
    "sojourn_mean",
    "dropped",
)
"""Shown unless others are asked for."""
_INTERVAL, _MARGIN, _VERDICT = 14, 10, 11
"""Widths of a terminal's columns: the shortest of intervals, the longest of margins and verdicts."""
_COLOURS = {"equivalent": "green", "different": "red", "overlapping ranges": "yellow", "not decided": "dim"}


def compare(
    scenario: ScenarioName,
    engines: Annotated[
        str, typer.Option(metavar="NAMES", help="Two engines or more, as in native,linux.")
    ] = "native,linux",
    seeds: Annotated[int, typer.Option(min=1, max=MAX_SEEDS, metavar="N", help="The seeds 1 to N.")] = 5,
    reference: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the others are held against; linux, or else the first."),
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
    out: Out = Path("runs"),
    figures: Annotated[
        Path | None,
        typer.Option("--plot", parser=target, metavar="DIR", help="Also draw the series in one figure."),
    ] = None,
    allow_python: AllowPython = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per point of the sweep, one per line.")
    ] = False,
) -> None:
    """Run a scenario by several engines and compare them: values, differences, and verdicts.

    A metric is equivalent if the 90 % interval of the difference between the engines lies within a margin,
    and different if it lies beyond. Intervals are Welch's: seeds are not paired. Where seeds differ by more
    than the margin, ranges are compared.
    Finished runs are kept and never made again.
    """
    names = engine_names(engines)
    chosen = read_scenario(scenario).with_values(values_of(assignments or [], None))
    if reference is not None and reference not in names:
        raise UnknownNameError("reference", reference, names)
    for wanted in metric or ():
        if wanted not in comparing.MARGINS:
            raise UnknownNameError("metric", wanted, comparing.MARGINS)
    margins = dict(comparing.read_margin(text) for text in margin or ())
    todo = [job for name in names for job in jobs(chosen, range(1, seeds + 1), name)]
    if allow_python:
        bring_all(todo, scenario)
    check_all(todo)
    against = reference or ("linux" if "linux" in names else names[0])
    for point, runs in _runs(todo, workers or processors(), Store(out)):
        found = comparing.compare(runs, against, margins)
        if as_json:
            echo(json.dumps(found.to_dict() | {"point": dict(point)}, allow_nan=False))
        else:
            _show(found, metric or _HEADLINES, point)
        if figures:
            _draw(figures, runs, found.scenario, point, quiet=as_json)


def _runs(
    todo: Sequence[Job], workers: int, store: Store
) -> list[tuple[Mapping[str, Any], dict[str, list[Run]]]]:
    """Every point of the sweep with the runs of every engine. Stops with exit code 1 if a run failed."""
    with progress_bar(todo) as progress:
        outcomes = list(stream(todo, workers=workers, store=store, progress=progress))
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        complain(f"{label(outcome.job)}, {outcome.job.engine}: {outcome.error!s}")
    if failed:
        raise typer.Exit(1)
    points: dict[str, tuple[Mapping[str, Any], dict[str, list[Run]]]] = {}
    for outcome in outcomes:
        _, runs = points.setdefault(str(outcome.job.point), (outcome.job.point, {}))
        runs.setdefault(outcome.job.engine, []).append(outcome.run)
    return list(points.values())


def _show(found: Comparison, metrics: Sequence[str], point: Mapping[str, Any]) -> None:
    rows = [row for row in found.rows if row.metric in metrics]
    console = terminal()
    seeds = _counted(len(found.seeds[found.reference]))
    where = "".join(f", {word}" for word in [*point_shown(point), seeds])
    console.print(led(found.scenario, "bold", f"{where}; reference {found.reference}"))
    for remark in found.remarks:
        console.print(styled(remark, "yellow"), soft_wrap=True)
    for engine in found.engines:
        if engine != found.reference:
            judged = [row for row in rows if engine in row.judgements]
            console.print(_table(found, judged, engine))
    for note in (note for note in found.notes if note.metric in metrics):
        console.print(styled(str(note), "dim"), soft_wrap=True)


def _counted(seeds: int) -> str:
    return f"{seeds} seed{'' if seeds == 1 else 's'}"


def _table(found: Comparison, rows: Sequence[Row], engine: str) -> Any:
    """Means over seeds, their difference with its interval, the margin, and the verdict."""
    made = table("", found.reference, engine, "difference (90 %)", "margin", last="verdict")
    name, _, _, difference, margin, verdict = made.columns
    name.no_wrap, difference.no_wrap, margin.no_wrap = True, False, False
    difference.min_width, margin.max_width, verdict.max_width = _INTERVAL, _MARGIN, _VERDICT
    of = None
    for row in rows:
        if (row.kind, row.of) != of:
            of = (row.kind, row.of)
            made.add_row(styled(heading(row.label(engine)), "bold"))
        judged, unit, reference = row.judgements[engine], unit_shown(row.unit), row.mean(found.reference)
        made.add_row(
            f" {row.metric} {unit if unit != row.unit or unit == 's' else ''}",
            number_shown(reference, row.unit),
            number_shown(row.mean(engine), row.unit),
            _difference(judged, reference, row.unit),
            _margin(row),
            styled(judged.verdict, _COLOURS[judged.verdict]),
        )
    return made


def _difference(judged: Judgement, reference: float, unit: str) -> str:
    """As a share of the reference value, or in the unit of the metric if that is zero."""

    def text(value: float) -> str:
        if not reference:
            return number_shown(value, unit) if value else "0"
        percent = 100 * value / abs(reference)
        return f"{percent:+.{1 if abs(percent) < 100 else 0}f}"

    interval = judged.interval
    ends = f" ({text(interval.low)}..{text(interval.high)})" if interval else ""
    return f"{text(judged.difference)}{' %' if reference else ''}{ends}"


def _margin(row: Row) -> str:
    parts = [f"{100 * row.margin.relative:g} %"] if row.margin.relative else []
    absolute = [number_shown(row.margin.absolute, row.unit)] if row.margin.absolute else []
    return ", ".join([*parts, *absolute]) or "0"


def _draw(
    folder: Path, runs: Mapping[str, Sequence[Run]], name: str, point: Mapping[str, Any], *, quiet: bool
) -> None:
    series = overlay(runs)
    if series.is_empty():
        raise typer.BadParameter("--plot: there are no samples to draw; give the scenario a record.interval")
    figure, data = plots.engines(series)
    stem = "-".join([name, *(value_shown(v).replace("/", "-").replace(" ", "") for v in point.values())])
    for path in plots.save(figure, data, folder, stem):
        echo(path, err=quiet)
