"""Consistency checks between the parts of a scenario. Each function yields one line per mistake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from math import prod
from typing import Any

from fullpipe.errors import ScenarioError, shown, suggestion
from fullpipe.scenario.checks.flows import arrival_problems, flow_problems, time_problems
from fullpipe.scenario.checks.links import change_problems, limit_problems
from fullpipe.scenario.checks.nodes import cell_problems, host_problems
from fullpipe.scenario.checks.routes import moved_link_problems, route_problems
from fullpipe.scenario.checks.sizes import (
    MAX_WORK,
    too_many_reroutes,
    too_many_rows,
    too_many_steps,
    work_of,
)
from fullpipe.scenario.model.base import ProblemsError, are_stored
from fullpipe.scenario.model.flows import TOTAL_NAMES, flow_names
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network import resolve
from fullpipe.scenario.network.parts import Network
from fullpipe.scenario.read import dotted
from fullpipe.scenario.read.dotted import Axis, Step, Sweep


def problems_of(scenario: ScenarioModel) -> list[str]:
    """Return all inconsistencies between the parts of a scenario, except in its sweep.

    Each part must already have been validated by itself.
    """
    lines = [
        *time_problems(scenario),
        *flow_problems(scenario),
        *moved_link_problems(scenario),
        *host_problems(scenario),
        *cell_problems(scenario),
        *_of_rare_parts(scenario),
        *limit_problems(scenario.topology),
        *too_many_steps(scenario),
        *too_many_reroutes(scenario),
    ]
    if lines:
        # imported here, as most scenarios have no mistakes
        from fullpipe.scenario.read.problems import first_lines

        return first_lines(lines, len(lines))
    try:
        # One flow per entry is checked, as flows of an entry differ only in their names. If packets are
        # captured, all flows are checked, as names of flows are then also names of capture points.
        network = resolve(scenario, each=None if scenario.record.packets else 1)
    except ProblemsError as problems:
        return list(problems.lines)
    return [
        *_of_names(scenario, network),
        *route_problems(network),
        *change_problems(scenario, network),
        *arrival_problems(scenario, network),
        *_of_idle_mobility(scenario, network),
        *_of_capture(scenario, network),
        *too_many_rows(scenario, network),
    ]


def _of_rare_parts(scenario: ScenarioModel) -> Iterator[str]:
    """Check labels, mobility and route controllers. A check is imported only if the scenario has the part."""
    if scenario.labels:
        from fullpipe.scenario.labels import problem_of, problem_of_words

        flows = [
            name for names in flow_names(scenario.flows) for name in (*names, names[0].rpartition("-")[0])
        ]
        problems = (
            (
                key,
                problem_of(key, scenario.sweep, flows)
                or (None if are_stored() else problem_of_words(key, words)),
            )
            for key, words in scenario.labels.items()
        )
        yield from (f"labels.{shown(key)}: {problem}" for key, problem in problems if problem)
    if scenario.mobility:
        from fullpipe.scenario.checks.mobility import mobility_problems

        yield from mobility_problems(scenario)
    if scenario.route_controllers:
        from fullpipe.scenario.checks.mobility import route_controller_problems

        yield from route_controller_problems(scenario)


def _of_idle_mobility(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    if scenario.mobility:
        from fullpipe.scenario.checks.mobility import idle_mobility_problems

        yield from idle_mobility_problems(scenario, network)


def _of_names(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    for i, flow in enumerate(scenario.flows):
        if flow.name in TOTAL_NAMES and not are_stored():
            yield f"flows[{i}].name: {shown(flow.name)} is the name of a total; choose another name"
    for what, names in (
        ("flows", chain.from_iterable(flow_names(scenario.flows))),
        ("topology.links", (hop.name for hop in network.hops)),
    ):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            yield f"{what}: the name {shown(twice[0])} is used more than once; give each a name of its own"


def _of_capture(scenario: ScenarioModel, network: Network) -> Iterator[str]:
    if scenario.record.variables and not scenario.record.interval_s:
        yield 'record.variables: variables are sampled; add record.interval, as in interval = "100 ms"'
    points = dict.fromkeys(("sender", "receiver", *(hop.name for hop in network.hops)))
    for i, point in enumerate(scenario.record.packets or ()):
        if point not in points:
            yield f"record.packets[{i}]: unknown point {shown(point)}{suggestion(point, islice(points, 20))}"


# Checks of sweeps: every value gives a valid scenario, and no two values give the same scenario.


MAX_POINTS = 10_000
COLUMNS = (
    *("seed", "engine", "kind", "entry", "of", "metric", "value", "unit"),
    *("n", "mean", "low", "high", "alike", "began", "unfinished", "modes"),
)
"""Columns of tables of values and of means over seeds. The key of an axis with variants becomes a column of
these tables, so no such key can be one of these names."""


def sweep_problems(sweep: Sweep, made: Callable[[Mapping[str, Any]], ScenarioModel]) -> Iterator[str]:
    """Yield every value that gives an invalid scenario, or the same scenario as another value.

    Args:
        sweep: The axes of the sweep.
        made: Function that returns the scenario with the given values at their key paths. Raises
            ScenarioError if it is invalid.
    """
    points = prod(len(axis) for axis in sweep.values())
    if points > MAX_POINTS:
        yield f"sweep: {points:,} combinations are too many; at most {MAX_POINTS:,}"
        return
    yield from _key_problems(sweep)
    yield from _path_problems(dotted.paths(sweep))
    work = 0.0
    for key, axis in sweep.items():
        before: dict[str, str] = {}
        try:
            places = dotted.steps(key, axis)
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
                is_named = isinstance(axis, Mapping)
                yield from (f"{place}: {line if is_named else _line(line, step)}" for line in error.problems)


def _place(key: str, axis: Axis, i: int, step: Step) -> str:
    return f"sweep.{key}.{step.named[key]}" if isinstance(axis, Mapping) else f"sweep.{shown(key)}[{i}]"


def _line(line: str, step: Step) -> str:
    """Return the text of a mistake. If the value sets only one path, the text lacks the path."""
    [only, *others] = step.values or [""]
    return line if others else line.removeprefix(f"{dotted.normal(only)}: ")


def _written(step: Step) -> object:
    """Return a value of an axis as the scenario file writes it."""
    values = list(step.named.values())
    return values[0] if len(values) == 1 else values


def _key_problems(sweep: Sweep) -> Iterator[str]:
    """Yield mistakes of sweep keys: keys of variants that are paths, and keys in `COLUMNS`."""
    for key, axis in sweep.items():
        if isinstance(axis, Mapping) and (not key.isidentifier() or key in ScenarioModel.model_fields):
            yield f"sweep.{shown(key)}: variants need a name that is not a path, such as line"
        if key in COLUMNS:
            yield f"sweep.{key}: is a column of the tables of runs; use another word"


def _path_problems(swept: Iterable[str]) -> Iterator[str]:
    """Yield swept paths that contain or repeat another swept path, since one value would hide the other."""
    spelt: dict[str, str] = {}
    for path in swept:
        spelling = dotted.normal(path)
        if spelling in spelt:
            twice = "is given twice" if spelt[spelling] == path else f"and {shown(path)} are the same path"
            yield f"sweep: {shown(spelt[spelling])} {twice}; write it once"
        spelt.setdefault(spelling, path)
    # A key path with "*" in place of an index (`flows.*.cca`) overlaps the same path with any index
    # (`flows.0.cca`).
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
                yield f"sweep: {shown(holder)} contains {shown(written)}; sweep only one of the two paths"


def _repeated(first: str, written: str) -> str:
    return f"{written} is given twice" if first == written else f"{first} and {written} are the same"
