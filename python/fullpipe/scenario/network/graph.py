"""A graph as nodes, links and routes."""

from dataclasses import replace

from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.rerouting import way_count
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.entries import entries
from fullpipe.scenario.network.links import link_of
from fullpipe.scenario.network.parts import Link, Network, Node, Route
from fullpipe.scenario.network.rerouting import moves_of, new_ways
from fullpipe.scenario.network.shortest_paths import BACKWARD, Edge, NoRouteError, Router

MAX_CROSSED = 5_000_000
"""Links on the ways of all flows of a graph, one after the other."""


def from_graph(scenario: ScenarioModel, topology: Graph, each: int | None) -> Network:
    links: list[Link] = []
    edges: list[Edge] = []
    numbers: list[int] = []
    for i, described in enumerate(topology.links):
        numbers.append(len(links))
        name = described.name or f"{described.source}-{described.target}"
        ends = (described.source, described.target)
        link = link_of(described, name, ends, f"topology.links[{i}]", scenario.duration_s)
        links.append(link)
        edges.append(Edge(described.source, described.target, link.delay_ns))
        if described.duplex:
            back = replace(link, name=f"{link.name}{BACKWARD}", source=link.target, target=link.source)
            links.append(back)
            edges.append(Edge(described.target, described.source, link.delay_ns))
    router, routes = Router(edges, [link.name for link in links]), []
    moves = moves_of(topology.links, numbers, router, scenario.duration_s)
    crossed = 0
    for place, flow, singles in entries(scenario, each):
        stops = [flow.source or "", *flow.via, flow.target or ""]
        try:
            forward, reverse = router.route(stops), router.back(stops)
            ways = 1 + len(moves) + way_count(flow, scenario.duration_s)
            crossed += flow.count * ways * (len(forward) + len(reverse))
            if crossed > MAX_CROSSED:
                raise ProblemsError(
                    f"flows: their ways have {crossed:,} links, more than {MAX_CROSSED:,} in all"
                )
            later = tuple(new_ways(flow, router, moves, scenario.duration_s))
        except NoRouteError as error:
            raise ProblemsError(f"flows[{place}]: {error}") from None
        tcp = scenario.tcp_of(flow)
        ends = stops[0], stops[-1]
        routes += [Route(*single, flow, tcp, *ends, forward, reverse, later) for single in singles]
    hosts = {end for flow in scenario.flows for end in (flow.source, flow.target)}
    nodes = [Node(name, "host" if name in hosts else "router") for name in topology.nodes]
    return Network(tuple(nodes), tuple(links), tuple(routes))
