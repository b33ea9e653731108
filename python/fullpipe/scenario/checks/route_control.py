"""Checks of route controllers: named flows and places exist, and nothing else reroutes their flows."""

from collections.abc import Iterator

from fullpipe.errors import shown, suggestion
from fullpipe.scenario.checks.reroutes import place_problems
from fullpipe.scenario.model.route_control import RouteController
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.route_control import steers
from fullpipe.scenario.quantities import to_nanoseconds


def route_controller_problems(scenario: ScenarioModel) -> Iterator[str]:
    """Yield the mistakes of route controllers."""
    controllers, graph = scenario.route_controllers or (), scenario.topology
    if not controllers:
        return
    if not isinstance(graph, Graph):
        yield 'route_controllers: only with topology.kind = "graph"'
        return
    if scenario.mobility or any(link.reroutes or link.alternate for link in graph.links):
        yield "route_controllers: links or nodes are moved as well; leave out one of them"
    for i, controller in enumerate(controllers):
        for line in _of_controller(scenario, controller):
            yield f"route_controllers[{i}].{line}"
    for i, flow in enumerate(scenario.flows):
        by = [n for n, controller in enumerate(controllers) if steers(controller, flow)]
        if by and (flow.reroutes or flow.alternate):
            yield f"flows[{i}]: route_controllers[{by[0]}] steers it; leave out reroutes and alternate"
        if len(by) > 1:
            both = f"route_controllers[{by[0]}] and [{by[1]}]"
            yield f"flows[{i}]: {both} steer it; leave it to one of them"


def _of_controller(scenario: ScenarioModel, controller: RouteController) -> Iterator[str]:
    places = scenario.places()
    yield from place_problems(((f"via[{i}]", via) for i, via in enumerate(controller.vias)), places)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    if not interval_ns or to_nanoseconds(controller.every_s) % interval_ns:
        yield "every: counters are read with the samples; make it a multiple of record.interval"
    names = [flow.name for flow in scenario.flows if flow.name]
    for i, name in enumerate(controller.flows or ()):
        if name not in names:
            yield f"flows[{i}]: unknown flow {shown(name)}{suggestion(name, names)}"
