"""The routes from which route controllers choose."""

from collections.abc import Sequence

from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.route_control import RouteController
from fullpipe.scenario.network.parts import Steering, Way
from fullpipe.scenario.network.shortest_paths import Router


def steers(controller: RouteController, flow: Flow) -> bool:
    """Whether a controller chooses the route of an entry of `flows`."""
    return controller.flows is None or flow.name in controller.flows


def steering(controllers: Sequence[RouteController], flow: Flow, router: Router) -> Steering | None:
    """Return the controller of a flow's route with the possible routes, or None if it has no controller.

    Raises:
        NoRouteError: If no such route exists.
    """
    for number, controller in enumerate(controllers):
        if steers(controller, flow):
            return Steering(number, tuple(_way(controller, via, flow, router) for via in controller.vias))
    return None


def _way(controller: RouteController, via: Sequence[str], flow: Flow, router: Router) -> Way:
    stops = [flow.source or "", *via, flow.target or ""]
    data = None if controller.ways == "acks" else router.route(stops)
    return Way(data, None if controller.ways == "data" else router.back(stops))
