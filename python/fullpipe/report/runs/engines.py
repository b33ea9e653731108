"""Runs of several engines side by side: what was measured beside what was simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullpipe.analysis.metrics.headlines import headlines
from fullpipe.analysis.shown import axis_shown, difference_shown, margin_shown, number_shown
from fullpipe.report.budget import Budget
from fullpipe.report.content import Column, Items, Section, Table, Text
from fullpipe.report.text import left_out
from fullpipe.runs import Run
from fullpipe.validation.compare import EngineComparison, by_engine, closest_to_the_world, compare
from fullpipe.validation.over import HEADLINES

_HOW = (
    "Means over seeds of what several engines gave for the same flows, with the difference and its 90 %"
    " interval (Welch), and whether they are equivalent within the margin."
)


def section(runs: Sequence[Run], metrics: Sequence[str], budget: Budget) -> Section | None:
    """A table of differences; None if the runs are of one engine, or of different flows.

    Args:
        runs: Those of all engines.
        metrics: Metrics asked for; left out, those of `fullpipe compare`.
        budget: How many rows there may be.
    """
    sides = by_engine(runs)
    try:
        found = compare(sides, closest_to_the_world(sides))
    except ValueError:
        return None
    rows = list(_rows(found, metrics or headlines(HEADLINES, (run.scenario for run in runs))))
    if not rows:
        return None
    names = ("of", "metric", "engine", "mean", found.reference, "difference", "margin", "verdict")
    numbers = {"mean", found.reference, "difference", "margin"}
    columns = [Column(name, name in numbers, name == "verdict") for name in names]
    shown = rows[: budget.rows]
    table = Table("Differences", columns, shown, left_out(len(shown), len(rows), "rows"))
    notes = [*found.undecided, *found.remarks, *map(str, found.notes)]
    return Section("Engines side by side", [Text(_HOW), table, *([Items(notes)] if notes else [])])


def _rows(found: EngineComparison, metrics: Sequence[str]) -> Iterator[list[str]]:
    for row in found.rows:
        if row.metric not in metrics:
            continue
        reference = row.mean(found.reference)
        named = axis_shown(row.metric)[1]
        for engine, judged in row.judgements.items():
            yield [
                row.label(engine),
                named,
                engine,
                number_shown(row.mean(engine), row.unit, row.metric),
                number_shown(reference, row.unit, row.metric),
                difference_shown(
                    judged.difference,
                    judged.interval,
                    reference,
                    row.unit,
                    row.metric,
                    row.margin,
                    has_unit=True,
                ),
                margin_shown(row.margin, row.unit, row.metric, has_unit=True),
                str(judged.verdict),
            ]
