"""Checks of hosts and cells: the nodes that they name exist."""

from collections.abc import Iterable, Iterator

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph


def host_problems(scenario: ScenarioModel) -> Iterator[str]:
    """A host is a node of a graph, or one that a flow of a dumbbell names."""
    names = [host.name for host in scenario.hosts or ()]
    yield from _twice("hosts", names)
    if isinstance(scenario.topology, Graph):
        known = list(scenario.topology.nodes)
        remedy = ""
    else:
        known = list(dict.fromkeys(name for flow in scenario.flows for name in flow.hosts or ()))
        remedy = ', or name it in a flow, as in hosts = ["server", "laptop"]'
    for i, name in enumerate(names):
        if name not in known:
            hint = suggestion(name, known[:20]) if known else ""
            yield f"hosts[{i}].name: unknown host {shown(name)}{hint}{remedy}"


def cell_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Hubs and stations are nodes of a graph."""
    cells = scenario.cells or ()
    graph = scenario.topology
    if cells and not isinstance(graph, Graph):
        yield 'cells: only with topology.kind = "graph", whose nodes they join'
        return
    yield from _twice("cells", [cell.name for cell in cells])
    for i, cell in enumerate(cells):
        if isinstance(graph, Graph) and cell.name in graph.places:
            yield f"cells[{i}].name: {shown(cell.name)} is a node or a link already; choose another"
        for key, node in _nodes_of(cell):
            if isinstance(graph, Graph) and node not in graph.known_nodes:
                yield f"cells[{i}].{key}: unknown node {shown(node)}{suggestion(node, graph.nodes[:20])}"


def _nodes_of(cell: Cell) -> Iterator[tuple[str, str]]:
    yield "hub", cell.hub
    yield from ((f"stations[{i}].node", station.node) for i, station in enumerate(cell.stations))


def _twice(where: str, names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            yield f"{where}[{i}].name: {shown(name)} stands twice; give each a name of its own"
        seen.add(name)
