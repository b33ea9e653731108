"""Checks of hosts: their nodes exist."""

from collections.abc import Iterable, Iterator

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph


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
    """Yield every name that an earlier entry has."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            yield f"{where}[{i}].name: {shown(name)} is used twice; give each a name of its own"
        seen.add(name)
