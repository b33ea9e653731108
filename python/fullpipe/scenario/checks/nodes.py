"""Checks that the nodes of hosts and cells exist, and that the stations named by flows exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.topology import Dumbbell, Graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fullpipe.scenario.model.cells import Cell
    from fullpipe.scenario.model.flows import Flow
    from fullpipe.scenario.model.scenario import ScenarioModel


def host_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of hosts. A host is a node of a graph, or is named by a flow of a dumbbell."""
    names = [host.name for host in scenario.hosts or ()]
    yield from _twice("hosts", names)
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


def _twice(where: str, names: Iterable[str]) -> Iterator[str]:
    """Yield every name that occurs again after its first entry."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            yield f"{where}[{i}].name: {shown(name)} is used twice; give each a name of its own"
        seen.add(name)


def cell_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield mistakes of cells. In a graph, hubs and stations are nodes; a dumbbell has one cell at most."""
    cells, topology = scenario.cells or (), scenario.topology
    yield from _twice("cells", [cell.name for cell in cells])
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
