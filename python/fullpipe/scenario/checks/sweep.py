"""Checks of sweeps: every value makes a scenario, and no two the same."""

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
"""Of tables of values and of means over seeds, in which a key of variants is a column, too."""


def sweep_problems(sweep: Sweep, made: Callable[[Mapping[str, Any]], ScenarioModel]) -> Iterator[str]:
    """Every value that cannot be, or that is like another.

    Args:
        sweep: The axes.
        made: The scenario with given values at given paths; it raises ScenarioError if there is none.
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
    """What is wrong, without the path if there is no other."""
    [only, *others] = step.values or [""]
    return line if others else line.removeprefix(f"{dotted.normal(only)}: ")


def _written(step: Step) -> object:
    """A place on an axis as the file has it."""
    values = list(step.named.values())
    return values[0] if len(values) == 1 else values


def _key_problems(sweep: Sweep) -> Iterator[str]:
    """Keys of variants that might be taken for paths."""
    for key, axis in sweep.items():
        if isinstance(axis, Mapping) and (not key.isidentifier() or key in ScenarioModel.model_fields):
            yield f"sweep.{shown(key)}: variants have a word of their own, such as line; this is a path"
        if key in COLUMNS:
            yield f"sweep.{key}: is a column of the tables of runs; use another word"


def _path_problems(swept: Iterable[str]) -> Iterator[str]:
    """Paths of which one holds another: the later value would hide the earlier one."""
    spelt: dict[str, str] = {}
    for path in swept:
        spelling = dotted.normal(path)
        if spelling in spelt:
            twice = "stands twice" if spelt[spelling] == path else f"and {shown(path)} are the same path"
            yield f"sweep: {shown(spelt[spelling])} {twice}; write it once"
        spelt.setdefault(spelling, path)
    # With a path that has a "*", others meet that are the same but for the numbers of entries.
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
                yield f"sweep: {shown(holder)} holds {shown(written)}; sweep one of them"


def _repeated(first: str, written: str) -> str:
    return f"{written} stands twice" if first == written else f"{first} and {written} are the same"
