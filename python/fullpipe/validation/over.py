"""Variants of a scenario, which are run with the same seeds; each is compared with the first variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from fullpipe import api, sweeps
from fullpipe.analysis.metrics import busy_links
from fullpipe.analysis.metrics.measure import Margin, View
from fullpipe.analysis.metrics.table import headlines, names_in
from fullpipe.analysis.values import value_text
from fullpipe.errors import ScenarioError
from fullpipe.runs import Run
from fullpipe.scenario import Scenario
from fullpipe.scenario.read import dotted
from fullpipe.scenario.read.dotted import Axis, Step
from fullpipe.sweeps import Job, by_point
from fullpipe.validation.compare.comparison import VariantComparison, compare_all
from fullpipe.validation.compare.side import Groups, Side

HEADLINES = names_in(View.COMPARISON)
"""Metrics that are compared by default."""
SCENARIO, ENGINE = "scenario", "engine"
"""Axes that are not paths: whole scenarios, and engines by name."""
Jobs = Mapping[str, Sequence[Job]]
"""Jobs of each variant, by name: one job per seed and point of the scenario's own sweep."""


def sides_of(
    scenario: Scenario, over: Mapping[str, Axis], seeds: Iterable[int], engine: str = "native"
) -> Jobs:
    """Return the jobs of every combination of the values of all axes, the reference first.

    Args:
        scenario: The scenario to vary.
        over: Paths with their values. Scenarios under the key `scenario` replace the argument `scenario`, and
            names under the key `engine` replace the argument `engine`.
        seeds: Seeds of every side.
        engine: The engine that runs the scenario.

    Raises:
        ScenarioError: If a side is not a valid variant, two sides have the same name, or there is only one
            side.
    """
    chosen, found = list(seeds), list[tuple[str, list[Job]]]()
    for base, used, step in _steps(scenario, over, engine):
        name = _name(_settings(over, base, used, step))
        found.append((name, sweeps.jobs(base.with_values(step.values), chosen, used)))
    if len(found) < 2:
        raise ScenarioError(["over: give two values or more, as in flows.0.cca=cubic,bbr3"])
    names = [name for name, _ in found]
    for name in names:
        if names.count(name) > 1:
            raise ScenarioError([f'over: "{name}" is given twice; write it once'])
    return dict(found)


def settings_of(
    scenario: Scenario, over: Mapping[str, Axis], engine: str = "native"
) -> dict[str, dict[str, Any]]:
    """Return the values that each side of `sides_of` sets, by path. The arguments are the same as for
    `sides_of`."""
    every = [_settings(over, *of_side) for of_side in _steps(scenario, over, engine)]
    return {_name(settings): settings for settings in every}


def _steps(scenario: Scenario, over: Mapping[str, Axis], engine: str) -> Iterator[tuple[Any, Any, Step]]:
    """Yield scenario, engine and values of every side."""
    scenarios, engines = over.get(SCENARIO, [scenario]), over.get(ENGINE, [engine])
    of_paths = {path: axis for path, axis in over.items() if path not in (SCENARIO, ENGINE)}
    yield from product(scenarios, engines, list(dotted.points(of_paths)))


def _settings(over: Mapping[str, Axis], base: Scenario, engine: object, step: Step) -> dict[str, Any]:
    of_whole = {SCENARIO: base.name, ENGINE: str(engine)}
    return {key: of_whole[key] for key in of_whole if key in over} | dict(step.named)


def _name(settings: Mapping[str, Any]) -> str:
    return ", ".join(map(value_text, settings.values()))


def compared(
    sides: Jobs,
    runs: Iterable[Run],
    metrics: Sequence[str] | None = None,
    margins: Mapping[str, Margin] | None = None,
    of: Groups = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[VariantComparison]:
    """Compare every variant with the first at every point of the sweep.

    All findings are one family: see `fullpipe.validation.compare.rules.paired`.

    Args:
        sides: The variants.
        runs: Runs of the variants' jobs, in the same order.
        metrics: Metrics to compare; default: `HEADLINES` without the metrics that `headlines` leaves out.
        margins: Margins by metric that replace the default margins.
        of: Groups of flows and links to compare: one list for all metrics, or a list by metric; default: all.
        settings: The values that the variants set, for their names: see `settings_of`.

    Raises:
        ScenarioError: If two sides cannot be compared, or no run has any of the metrics.
        UnknownNameError: If `of` contains a name that no group has.
    """
    if metrics is None:
        metrics = headlines(HEADLINES, (job.scenario for jobs in sides.values() for job in jobs))
    try:
        made = compare_all(_pairs(sides, runs, metrics), metrics, margins, of)
    except ValueError as error:
        raise ScenarioError([f"over: {error}"]) from None
    return [
        replace(one, settings={name: (settings or {}).get(name, {}) for name in one.sides}) for one in made
    ]


def _pairs(
    sides: Jobs, runs: Iterable[Run], metrics: Sequence[str]
) -> Iterator[tuple[Mapping[str, Any], Side, Side]]:
    waiting = iter(runs)
    made = {name: _points(jobs, waiting) for name, jobs in sides.items()}
    first, *others = made
    for key, (point, reference_runs) in made[first].items():
        if any(key not in made[name] for name in others):
            raise ScenarioError(
                ["over: the scenarios have different sweeps; give all scenarios the same sweep"]
            )
        at_point = [of_side[key][1] for of_side in made.values()]
        links = dict.fromkeys(link for of_side in at_point for run in of_side for link in busy_links(run))
        reference = Side.of_runs(first, reference_runs, metrics, links)
        for name in others:
            yield point, reference, Side.of_runs(name, made[name][key][1], metrics, links)


def _points(jobs: Sequence[Job], runs: Iterator[Run]) -> dict[str, tuple[Mapping[str, Any], list[Run]]]:
    """Take the runs of a variant from the iterator, and return them by point; keys are the points as text."""
    return {str(point): (point, of_point) for point, of_point in by_point(zip(jobs, runs, strict=False))}


def compare_over(
    scenario: Scenario,
    over: Mapping[str, Axis],
    seeds: Iterable[int] = range(1, 21),
    *,
    metrics: Sequence[str] | None = None,
    margins: Mapping[str, Margin] | None = None,
    of: Groups = (),
    engine: str = "native",
    workers: int = 1,
    out: str | Path | None = None,
) -> list[VariantComparison]:
    """Run variants of a scenario and compare each with the first: `fullpipe compare --over` in Python.

    All findings, on every variant at every point, are one family: see `compared`.

    Args:
        scenario: The scenario to vary. If it has a sweep, variants are compared at every point.
        over: Paths with their values, or a word with named variants, as in `[sweep]`; `scenario` and `engine`
            are also keys, as in `sides_of`.
        seeds: Seeds of every variant.
        metrics: Metrics to compare; default: `HEADLINES` without the metrics that `headlines` leaves out.
        margins: Margins by metric that replace the default margins.
        of: Groups of flows and links to compare: one list for all metrics, or a list by metric; default: all.
        engine: The engine that runs the variants.
        workers: Number of simultaneous runs.
        out: Folder in which runs are stored and looked up; None keeps runs in memory.

    Raises:
        ScenarioError: If a variant is invalid, two variants cannot be compared, or no run has a requested
            metric.
        EngineError: If the engine cannot run a variant. In this case no variant is run.
        SweepError: If a run failed. The error is raised after all other runs have finished.
    """
    sides = sides_of(scenario, over, seeds, engine)
    todo = [job for jobs in sides.values() for job in jobs]
    runs = api.run_all(todo, workers=workers, out=out)
    return compared(sides, runs, metrics, margins, of, settings_of(scenario, over, engine))
