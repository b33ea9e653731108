"""What `fullpipe compare` shows of engines side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from fullpipe.analysis.values import value_text
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.output import echo
from fullpipe.cli.shown import (
    INTERVAL,
    MARGIN,
    difference_shown,
    heading,
    margin_shown,
    number_shown,
    point_shown,
    unit_shown,
)
from fullpipe.report.text import counted
from fullpipe.runs import Run
from fullpipe.sweeps import Outcome, by_point
from fullpipe.validation.compare import EngineComparison, Row, overlay

_VERDICT = 11
"""The longest of verdicts in a terminal."""
_COLOURS = {"equivalent": "green", "different": "red", "overlapping ranges": "yellow", "not decided": "dim"}


def by_engine(outcomes: Sequence[Outcome]) -> list[tuple[Mapping[str, Any], dict[str, list[Run]]]]:
    """Every point of the sweep with the runs of every engine."""
    found = []
    for point, at_point in by_point((outcome.job, outcome) for outcome in outcomes):
        runs: dict[str, list[Run]] = {}
        for outcome in at_point:
            runs.setdefault(outcome.job.engine, []).append(outcome.run)
        found.append((point, runs))
    return found


def show(found: EngineComparison, metrics: Sequence[str], point: Mapping[str, Any]) -> None:
    rows = [row for row in found.rows if row.metric in metrics]
    console = terminal()
    seeds = counted(len(found.seeds[found.reference]), "seed")
    where = "".join(f", {word}" for word in [*point_shown(point), seeds])
    console.print(led(found.scenario, "bold", f"{where}; reference {found.reference}"))
    for remark in found.remarks:
        console.print(styled(remark, "yellow"), soft_wrap=True)
    for engine in found.engines:
        if engine != found.reference:
            judged = [row for row in rows if engine in row.judgements]
            console.print(_table(found, judged, engine))
    for hint in found.undecided:
        console.print(styled(hint, "dim"), soft_wrap=True)
    for note in (note for note in found.notes if note.metric in metrics):
        console.print(styled(str(note), "dim"), soft_wrap=True)


def _table(found: EngineComparison, rows: Sequence[Row], engine: str) -> Any:
    """Means over seeds, their difference with its interval, the margin, and the verdict."""
    made = table("", found.reference, engine, "difference (90 %)", "margin", last="verdict")
    name, _, _, difference, margin, verdict = made.columns
    name.no_wrap, difference.no_wrap, margin.no_wrap = True, False, False
    difference.min_width, margin.max_width, verdict.max_width = INTERVAL, MARGIN, _VERDICT
    of = None
    for row in rows:
        if (row.kind, row.of) != of:
            of = (row.kind, row.of)
            made.add_row(styled(heading(row.label(engine)), "bold"))
        judged, unit, reference = row.judgements[engine], unit_shown(row.unit), row.mean(found.reference)
        made.add_row(
            f" {row.metric} {unit if unit != row.unit or unit == 's' else ''}",
            number_shown(reference, row.unit, row.metric),
            number_shown(row.mean(engine), row.unit, row.metric),
            difference_shown(judged.difference, judged.interval, reference, row.unit, row.metric),
            margin_shown(row.margin, row.unit, row.metric),
            styled(judged.verdict, _COLOURS[judged.verdict]),
        )
    return made


def draw(
    folder: Path, runs: Mapping[str, Sequence[Run]], name: str, point: Mapping[str, Any], *, quiet: bool
) -> None:
    series = overlay(runs)
    if series.is_empty():
        raise typer.BadParameter("--plot: there are no samples to draw; give the scenario a record.interval")
    from fullpipe import plots  # here: most comparisons draw nothing

    figure, data = plots.engines(series)
    stem = "-".join([name, *(value_text(v).replace("/", "-").replace(" ", "") for v in point.values())])
    for path in plots.save(figure, data, folder, stem):
        echo(path, err=quiet)
