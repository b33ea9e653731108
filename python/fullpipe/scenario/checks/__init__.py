"""Consistency checks between the parts of a scenario. Each function yields one line per mistake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import prod
from typing import TYPE_CHECKING, Any

from fullpipe.errors import ScenarioError, shown, suggestion
from fullpipe.scenario.checks.flows import arrival_problems, flow_problems, time_problems
from fullpipe.scenario.checks.limits import (
    MAX_WORK,
    change_problems,
    limit_problems,
    too_many_reroutes,
    too_many_rows,
    too_many_steps,
    work_of,
)
from fullpipe.scenario.checks.routes import moved_link_problems, route_problems
from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Dumbbell, Graph
from fullpipe.scenario.network import resolve
from fullpipe.scenario.network.parts import Network
from fullpipe.scenario.read import dotted
from fullpipe.scenario.read.dotted import Axis, Step, Sweep

if TYPE_CHECKING:
    from fullpipe.scenario.model.cells import Cell
    from fullpipe.scenario.model.flows import Flow


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
        from fullpipe.scenario.labels import problem_of

        flows = [
            name for names in flow_names(scenario.flows) for name in (*names, names[0].rpartition("-")[0])
        ]
        problems = ((key, problem_of(key, scenario.sweep, flows)) for key in scenario.labels)
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
"""Columns of tables of values and of means over seeds. Keys of axes with variants become columns of these
tables, so they cannot have these names."""


def sweep_problems(sweep: Sweep, made: Callable[[Mapping[str, Any]], ScenarioModel]) -> Iterator[str]:
    """Yield every value that gives an invalid scenario, or the same scenario as another value.

    Args:
        sweep: The axes of the sweep.
        made: Function that returns the scenario with values at paths. Raises ScenarioError if it is invalid.
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
                yield from (f"{place}: {_line(line, step)}" for line in error.problems)


def _place(key: str, axis: Axis, i: int, step: Step) -> str:
    return f"sweep.{key}.{step.named[key]}" if isinstance(axis, Mapping) else f"sweep.{shown(key)}[{i}]"


def _line(line: str, step: Step) -> str:
    """Return the text of a mistake, without the path if the step has only one path."""
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


# Checks of hosts: the nodes of hosts exist.


def host_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of hosts. A host is a node of a graph, or is named by a flow of a dumbbell."""
    names = [host.name for host in scenario.hosts or ()]
    yield from twice("hosts", names)
    if isinstance(scenario.topology, Graph):
        known = list(scenario.topology.nodes)
        remedy = ""
    else:
        stations = (station.node for cell in scenario.cells or () for station in cell.stations)
        named = (name for flow in scenario.flows for name in flow.hosts or ())
        known = list(dict.fromkeys((*named, *stations)))
        remedy = ', or name it in a flow, as in hosts = ["server", "laptop"]'
    if not isinstance(scenario.topology, Graph):
        for i, host in enumerate(scenario.hosts or ()):
            if host.terminated:
                yield f"hosts[{i}].terminated: a dumbbell has no host between the ends of flows; use a graph"
    for i, name in enumerate(names):
        if name not in known:
            hint = suggestion(name, known[:20]) if known else ""
            yield f"hosts[{i}].name: unknown host {shown(name)}{hint}{remedy}"


def twice(where: str, names: Iterable[str]) -> Iterator[str]:
    """Yield every name that an earlier entry already has."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            yield f"{where}[{i}].name: {shown(name)} is used twice; give each a name of its own"
        seen.add(name)


# Checks of cells: the nodes of cells and the stations named by flows exist.


def cell_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of cells. In a graph, hubs and stations are nodes; a dumbbell has one cell at most."""
    cells, topology = scenario.cells or (), scenario.topology
    yield from twice("cells", [cell.name for cell in cells])
    if isinstance(topology, Graph):
        yield from _in_graph(cells, topology)
        yield from _of_stations(scenario.flows, None)
    else:
        yield from _in_dumbbell(scenario, cells, topology)


def _in_graph(cells: Sequence[Cell], graph: Graph) -> Iterator[str]:
    for i, cell in enumerate(cells):
        if cell.name in graph.places:
            yield f"cells[{i}].name: {shown(cell.name)} is a node or a link already; choose another"
        for key, node in _nodes_of(cell):
            if node not in graph.known_nodes:
                yield f"cells[{i}].{key}: unknown node {shown(node)}{suggestion(node, graph.nodes[:20])}"


def _in_dumbbell(scenario: ScenarioModel, cells: Sequence[Cell], topology: Dumbbell) -> Iterator[str]:
    name = topology.bottleneck.cell
    if name is None and cells:
        yield (
            f"cells: a dumbbell can have one cell, instead of its bottleneck, as in bottleneck = {{ cell = "
            f'{shown(cells[0].name)} }}; several cells need topology.kind = "graph"'
        )
    if name is not None and topology.reverse is not None:
        yield "topology.reverse: a cell carries both directions; leave it out"
    names = [cell.name for cell in cells]
    if name is not None and name not in names:
        hint = suggestion(name, names) if names else ""
        yield f"topology.bottleneck.cell: unknown cell {shown(name)}{hint}; cells are written as [[cells]]"
        return
    for i, other in enumerate(names):
        if name is not None and other != name:
            yield f'cells[{i}]: no flow would cross this cell; several cells need topology.kind = "graph"'
    yield from _of_stations(scenario.flows, next((cell for cell in cells if cell.name == name), None))


def _of_stations(flows: Sequence[Flow], cell: Cell | None) -> Iterator[str]:
    stations = [station.node for station in cell.stations] if cell else []
    for i, flow in enumerate(flows):
        if cell is None:
            if flow.station is not None:
                where = 'only in a dumbbell whose bottleneck is a cell, as in bottleneck = { cell = "home" }'
                yield f"flows[{i}].station: {where}"
            continue
        if flow.station is None and len(stations) > 1:
            yield f"flows[{i}].station: missing; there is {', '.join(stations[:20])}"
        elif flow.station is not None and flow.station not in stations:
            hint = suggestion(flow.station, stations[:20])
            yield f"flows[{i}].station: unknown station {shown(flow.station)}{hint}"
        elif flow.hosts and flow.hosts[not flow.is_upload] != (flow.station or stations[0]):
            end = "sends" if flow.is_upload else "receives"
            yield f"flows[{i}].hosts: the station {end}, {shown(flow.station or stations[0])}"


def _nodes_of(cell: Cell) -> Iterator[tuple[str, str]]:
    yield "hub", cell.hub
    yield from ((f"{cell.stations_key()}[{i}].node", station.node) for i, station in enumerate(cell.stations))
