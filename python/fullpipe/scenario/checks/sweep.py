"""Checks of sweeps: every value gives a valid scenario, and no two values give the same one."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

from fullpipe.errors import ScenarioError, shown
from fullpipe.scenario.checks.limits import MAX_WORK, work_of
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.read import axes, dotted
from fullpipe.scenario.read.axes import Axis, Step, Sweep

MAX_POINTS = 10_000
COLUMNS = (
    *("seed", "engine", "kind", "entry", "of", "metric", "value", "unit"),
    *("n", "mean", "low", "high", "alike", "began", "unfinished", "modes"),
)
"""Columns of tables of values and of means over seeds. The key of an axis of variants is a column, too."""


def sweep_problems(sweep: Sweep, made: Callable[[Mapping[str, Any]], ScenarioModel]) -> Iterator[str]:
    """Yield every value that gives an invalid scenario, or the same scenario as another value.

    Args:
        sweep: The axes.
        made: Returns the scenario with given values at given paths; raises ScenarioError if it is invalid.
    """
    points = prod(len(axis) for axis in sweep.values())
    if points > MAX_POINTS:
        yield f"sweep: {points:,} combinations are too many; at most {MAX_POINTS:,}"
        return
    yield from _key_problems(sweep)
    yield from _path_problems(axes.paths(sweep))
    work = 0.0
    for key, axis in sweep.items():
        before: dict[str, str] = {}
        try:
            places = axes.steps(key, axis)
        except ScenarioError as error:
            yield from error.problems
            continue
        for i, step in enumerate(places):
            place = _place(key, axis, i, step)
            try:
                scenario = made(step.values)
                work += work_of(scenario)
                if work > MAX_WORK:
                    many = f"{len(places):,} values of {shown(key)}"
                    yield f"sweep: {many} are too many for so large a scenario"
                    return
                point = json.dumps(scenario.to_dict(), sort_keys=True)
                written = shown(_written(step))
                if point in before:
                    yield f"sweep.{shown(key)}: {_repeated(before[point], written)}"
                before.setdefault(point, written)
            except ScenarioError as error:
                yield from (f"{place}: {_line(line, step)}" for line in error.problems)


def _place(key: str, axis: Axis, i: int, step: Step) -> str:
    return f"sweep.{key}.{step.named[key]}" if isinstance(axis, Mapping) else f"sweep.{shown(key)}[{i}]"


def _line(line: str, step: Step) -> str:
    """Return the text of a mistake, without the path if the step has only this one."""
    [only, *others] = step.values or [""]
    return line if others else line.removeprefix(f"{dotted.normal(only)}: ")


def _written(step: Step) -> object:
    """Return a place on an axis as written in the file."""
    values = list(step.named.values())
    return values[0] if len(values) == 1 else values


def _key_problems(sweep: Sweep) -> Iterator[str]:
    """Yield keys of variants that are paths or names of columns."""
    for key, axis in sweep.items():
        if isinstance(axis, Mapping) and (not key.isidentifier() or key in ScenarioModel.model_fields):
            yield f"sweep.{shown(key)}: variants need a name that is not a path, such as line"
        if key in COLUMNS:
            yield f"sweep.{key}: is a column of the tables of runs; use another word"


def _path_problems(swept: Iterable[str]) -> Iterator[str]:
    """Yield paths that contain another swept path: the later value would hide the earlier one."""
    spelt: dict[str, str] = {}
    for path in swept:
        spelling = dotted.normal(path)
        if spelling in spelt:
            twice = "is given twice" if spelt[spelling] == path else f"and {shown(path)} are the same path"
            yield f"sweep: {shown(spelt[spelling])} {twice}; write it once"
        spelt.setdefault(spelling, path)
    # A path with a "*" overlaps paths that differ from it only in numbers of entries.
    of_every = {dotted.of_every(path): path for path in spelt if dotted.EVERY in path.split(".")}
    alike = {dotted.of_every(path): path for path in spelt}
    for path, written in spelt.items():
        parts = path.split(".")
        for i in range(1, min(len(parts), dotted.MAX_PARTS) + 1):
            place = ".".join(parts[:i])
            meeting = (alike if dotted.EVERY in parts else of_every).get(dotted.of_every(place))
            holder = spelt.get(place) if i < len(parts) else None
            holder = holder or (meeting if meeting != path else None)
            if holder is not None:
                yield f"sweep: {shown(holder)} contains {shown(written)}; sweep one of them"


def _repeated(first: str, written: str) -> str:
    return f"{written} is given twice" if first == written else f"{first} and {written} are the same"
