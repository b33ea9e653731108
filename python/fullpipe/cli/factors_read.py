"""The runs that `fullpipe test` reads: those of a store, or of a scenario, made if they are missing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fullpipe.analysis.points import points_of, told_by_origin
from fullpipe.analysis.values import value_text
from fullpipe.cli.asked import processors, read_scenario, values_of
from fullpipe.cli.jobs import bring_all, check_all, finished_runs, stored_runs
from fullpipe.cluster import Threads
from fullpipe.errors import NoRunError, ScenarioError
from fullpipe.runs import Run, Store
from fullpipe.runs.population import NEWEST
from fullpipe.sweeps import jobs

Points = list[tuple[Mapping[str, Any], Run]]
"""Runs, each with what it differs in from others."""


def stored(folder: Path, content: str = NEWEST) -> Points:
    """The runs of a store, by what they differ in; `content` as of `fullpipe.cli.jobs.stored_runs`."""
    if (folder / "meta.json").exists():
        raise NoRunError(
            f"{folder}: is one run, of which no spread is known; give a folder of runs of several seeds"
        )
    runs = stored_runs(folder, content)
    if not runs:
        raise NoRunError(f"{folder}: no finished run there; give a folder that --out named")
    names = {run.name for run in runs}
    points = _points(runs)
    if len(names) > 1:
        points = [{"scenario": run.name, **point} for run, point in zip(runs, points, strict=True)]
    return list(zip(points, runs, strict=True))


def _points(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Points of the sweep that made the runs, or else the differences between their scenarios."""
    swept = told_by_origin([run.meta.point for run in runs], runs)
    keys = [
        (run.name, run.meta.engine.name, run.meta.seed, value_text(point))
        for run, point in zip(runs, swept, strict=True)
    ]
    is_one = bool(swept[0]) and all(point.keys() == swept[0].keys() for point in swept)
    return swept if is_one and len(set(keys)) == len(keys) else points_of(runs)


def made(
    what: str, assignments: list[str] | None, seeds: int, workers: int | None, out: Path, allow_python: bool
) -> Points:
    """The runs of a scenario: those that the store has, and the others made."""
    if Path(what).suffix in (".parquet", ".csv"):
        raise ScenarioError(
            [f"{what}: is a table of one run, and its samples are no replicates; give a folder of runs"]
        )
    todo = jobs(read_scenario(what).with_values(values_of(assignments or [], None)), range(1, seeds + 1))
    if allow_python:
        bring_all(todo, what)
    check_all(todo)
    return [
        (outcome.job.point, outcome.run)
        for outcome in finished_runs(todo, Threads(workers or processors()), Store(out))
    ]


def versions(points: Points) -> list[str]:
    """A note on every engine of which several versions made runs."""
    by_engine: dict[str, set[str]] = {}
    for _, run in points:
        engine = run.meta.engine
        by_engine.setdefault(engine.name, set()).add(f"{engine.version} (model {engine.model_version})")
    return [
        f"runs are of several versions of {name}: {', '.join(sorted(versions))}; to be sure,"
        " run all again into another folder"
        for name, versions in by_engine.items()
        if len(versions) > 1
    ]
