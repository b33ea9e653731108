"""Conversion of a graph to nodes, links, media and routes."""

from collections.abc import Iterator
from dataclasses import replace

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.routing import reroute_count
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.around_cell import edges_of, media_of
from fullpipe.scenario.network.links import Entry, entries, link_of
from fullpipe.scenario.network.mobility import (
    attachments,
    connections,
    hand_overs_of,
    mobile_reroutes,
    terminating,
    with_gaps,
)
from fullpipe.scenario.network.nics import nics_of
from fullpipe.scenario.network.parts import Link, Network, Node, Route, RoutedFlow
from fullpipe.scenario.network.routes import (
    BACKWARD,
    Edge,
    NoRouteError,
    Router,
    fixed_reroutes,
    replacements,
    steering,
    steers,
)

MAX_CROSSED = 5_000_000
"""Maximum number of hops of all routes of all flows of a graph. The hops are counted again for every change
of a route."""


def from_graph(scenario: ScenarioModel, topology: Graph, each: int | None) -> Network:
    """Return the nodes and links of a graph and the shortest routes of its flows."""
    layout = _Layout(scenario, topology)
    finder = _Finder(scenario, topology, layout)
    found = [routed for entry in entries(scenario, each) for routed in finder.flows(entry)]
    if ended := terminating(scenario.hosts or ()):
        hops = Network((), tuple(layout.links), (), tuple(layout.media)).hops
        found = [connection for routed in found for connection in connections(routed, ended, hops)]
    ends = {end for flow in scenario.flows for end in (flow.source, flow.target)}
    hosts = ends | {host.name for host in scenario.hosts or ()}
    nodes = [Node(name, "host" if name in hosts else "router") for name in topology.nodes]
    nodes += [Node(nic.target, "router") for nic in layout.nics.values()]
    moved = tuple(hand_overs_of(scenario, layout.media, len(layout.links)))
    media = tuple(with_gaps(scenario, layout.media))
    return Network(tuple(nodes), tuple(layout.links), tuple(found), media, moved)


class _Layout:
    """Links, media, and the edges for routing."""

    def __init__(self, scenario: ScenarioModel, topology: Graph) -> None:
        self.nics = nics_of(scenario.hosts or (), topology.known_nodes)
        self.links: list[Link] = []
        self.numbers: list[int] = []
        """Index of every described link. The opposite direction of a duplex link has the next index."""
        for i, described in enumerate(topology.links):
            self.numbers.append(len(self.links))
            name = described.known_as
            ends = (self._behind(described.source), described.target)
            where = f"topology.links[{i}]"
            link = link_of(described, name, ends, where, scenario.duration_s)
            self.links.append(link)
            if described.duplex:
                ends = (self._behind(described.target), described.source)
                back = replace(link, name=f"{name}{BACKWARD}", source=ends[0], target=ends[1])
                self.links.append(back)
        self.links += self.nics.values()
        self.media = media_of(scenario.cells or (), self._behind)
        self.edges = [
            Edge(link.source, link.target, link.delay_ns, number, link.name)
            for number, link in enumerate(self.links)
        ]
        self.edges += edges_of(scenario.cells or (), self.media, len(self.links))

    def _behind(self, node: str) -> str:
        """Return the node behind a node's network interface, or the node itself if it has no interface."""
        return self.nics[node].target if node in self.nics else node


class _Finder:
    """Routing of flows."""

    def __init__(self, scenario: ScenarioModel, topology: Graph, layout: _Layout) -> None:
        self._scenario = scenario
        self._crossed = 0
        if scenario.mobility:
            self._attachments = attachments(scenario, layout.edges)
            self._changes = len(self._attachments) - 1
            self._router = self._attachments[0].router
            return
        self._router = Router(layout.edges)
        described = zip(topology.links, layout.numbers, strict=True)
        self._replaced = replacements(described, layout.links, self._router, scenario.duration_s)
        self._changes = len(self._replaced)

    def flows(self, entry: Entry) -> Iterator[RoutedFlow]:
        """Yield every flow of an entry. Raises ProblemsError."""
        flow, tcp = entry.flow, self._scenario.tcp_of(entry.flow)
        source, target = flow.source or "", flow.target or ""
        stops = [source, *flow.via, target]
        try:
            forward, reverse = self._router.route(stops), self._router.back(stops)
            self._count(flow, forward, reverse)
            duration_s = self._scenario.duration_s
            later = (
                mobile_reroutes(flow, self._attachments, duration_s)
                if self._scenario.mobility
                else fixed_reroutes(flow, self._router, self._replaced, duration_s)
            )
            found = tuple(later)
            steered = steering(self._scenario.route_controllers or (), flow, self._router)
        except NoRouteError as error:
            raise ProblemsError(f"flows[{entry.place}]: {error}") from None
        for single in entry.singles:
            yield RoutedFlow(*single, flow, tcp, source, target, forward, reverse, found, steered)

    def _count(self, flow: Flow, forward: Route, reverse: Route) -> None:
        ways = sum(len(one.vias) for one in self._scenario.route_controllers or () if steers(one, flow))
        times = 1 + self._changes + reroute_count(flow, self._scenario.duration_s) + ways
        self._crossed += flow.count * times * (len(forward) + len(reverse))
        if self._crossed > MAX_CROSSED:
            crossed = f"the routes of all flows have {self._crossed:,} links"
            raise ProblemsError(f"flows: {crossed}, more than {MAX_CROSSED:,} in all")
