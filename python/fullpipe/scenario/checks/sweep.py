"""Checks of sweeps: every value makes a scenario, and no two the same."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from fullpipe.errors import ScenarioError
from fullpipe.scenario.checks.limits import MAX_WORK, work_of
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.quantities import shown
from fullpipe.scenario.read import dotted

MAX_POINTS = 10_000


def sweep_problems(
    sweep: Mapping[str, Sequence[Any]], made: Callable[[Mapping[str, Any]], ScenarioModel]
) -> Iterator[str]:
    """Every value that cannot be, or that is like another.

    Args:
        sweep: Paths and the values that each takes.
        made: The scenario with given values at given paths; it raises ScenarioError if there is none.
    """
    points = prod(len(values) for values in sweep.values())
    if points > MAX_POINTS:
        yield f"sweep: {points:,} combinations are too many; at most {MAX_POINTS:,}"
        return
    yield from _path_problems(sweep)
    work = 0.0
    for path, values in sweep.items():
        before: dict[str, object] = {}
        for i, value in enumerate(values):
            try:
                scenario = made({path: value})
                work += work_of(scenario)
                if work > MAX_WORK:
                    many = f"{len(values):,} values of {shown(path)}"
                    yield f"sweep: {many} are too many for so large a scenario"
                    return
                point = json.dumps(scenario.to_dict(), sort_keys=True)
                if point in before:
                    yield f"sweep.{shown(path)}: {_repeated(before[point], value)}"
                before.setdefault(point, value)
            except ScenarioError as error:
                for line in error.problems:
                    yield f"sweep.{shown(path)}[{i}]: {line.removeprefix(f'{dotted.normal(path)}: ')}"


def _path_problems(swept: Iterable[str]) -> Iterator[str]:
    """Paths of which one holds another: the later value would hide the earlier one."""
    spelt: dict[str, str] = {}
    for path in swept:
        first = spelt.setdefault(dotted.normal(path), path)
        if first != path:
            yield f"sweep: {shown(first)} and {shown(path)} are the same path; write it once"
    for path, written in spelt.items():
        parts = path.split(".")
        for i in range(1, min(len(parts), dotted.MAX_PARTS)):
            holder = spelt.get(".".join(parts[:i]))
            if holder is not None:
                yield f"sweep: {shown(holder)} holds {shown(written)}; sweep one of them"


def _repeated(first: object, value: object) -> str:
    if shown(first) == shown(value):
        return f"{shown(value)} stands twice"
    return f"{shown(first)} and {shown(value)} are the same"
