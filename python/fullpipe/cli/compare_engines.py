"""What `fullpipe compare` shows of engines side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from fullpipe.analysis.values import value_text
from fullpipe.cli.output import echo
from fullpipe.runs import Run
from fullpipe.sweeps import Outcome, by_point
from fullpipe.validation.compare import overlay


def by_engine(outcomes: Sequence[Outcome]) -> list[tuple[Mapping[str, Any], dict[str, list[Run]]]]:
    """Every point of the sweep with the runs of every engine."""
    found = []
    for point, at_point in by_point((outcome.job, outcome) for outcome in outcomes):
        runs: dict[str, list[Run]] = {}
        for outcome in at_point:
            runs.setdefault(outcome.job.engine, []).append(outcome.run)
        found.append((point, runs))
    return found


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
