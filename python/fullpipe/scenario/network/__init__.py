"""Resolution of a scenario into a network: nodes, links and routes, with absolute queue sizes."""

from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.dumbbell import from_dumbbell
from fullpipe.scenario.network.parts import (
    HandOver,
    Hop,
    Link,
    Medium,
    Network,
    Node,
    Port,
    Reroute,
    RoutedFlow,
    Way,
)
from fullpipe.scenario.network.sizes import sized

__all__ = [
    "HandOver",
    "Hop",
    "Link",
    "Medium",
    "Network",
    "Node",
    "Port",
    "Reroute",
    "RoutedFlow",
    "Way",
    "resolve",
]


def resolve(scenario: ScenarioModel, each: int | None = None) -> Network:
    """Lay out the links, route every flow, and convert sizes such as "1 bdp" to packets.

    Args:
        scenario: The scenario to resolve.
        each: Largest number of flows per entry, as flows of an entry are alike. None: all flows.

    Raises:
        ProblemsError: If a flow has no route, or a size is relative to a link that has no rate or no flow.
    """
    topology = scenario.topology
    if isinstance(topology, Dumbbell):
        name = topology.bottleneck.cell
        cell = next((cell for cell in scenario.cells or () if cell.name == name), None)
        if cell is not None:
            from fullpipe.scenario.network.around_cell import from_cell  # here, as below: most have none

            return sized(from_cell(scenario, topology, cell, each))
        return sized(from_dumbbell(scenario, topology, each))
    from fullpipe.scenario.network.graph import from_graph

    return sized(from_graph(scenario, topology, each))
