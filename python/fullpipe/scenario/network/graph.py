"""Conversion of a graph to nodes, links, media and routes.

Hosts can move between media, and can split the connections of flows into two.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fullpipe.errors import shown
from fullpipe.scenario.model.base import ProblemsError
from fullpipe.scenario.model.flows import Flow
from fullpipe.scenario.model.routing import Move, reroute_count, reroutes_of
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Graph, Host
from fullpipe.scenario.network.around_cell import edges_of, media_of
from fullpipe.scenario.network.links import Entry, entries, link_of
from fullpipe.scenario.network.nics import nics_of
from fullpipe.scenario.network.parts import (
    HandOver,
    Hop,
    Link,
    Medium,
    Network,
    Node,
    Port,
    Relayed,
    Reroute,
    Route,
    RoutedFlow,
)
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
from fullpipe.scenario.quantities import to_nanoseconds

MAX_CROSSED = 5_000_000
"""Maximum number of hops of all routes of all flows of a graph together. Every change of a route adds the
hops of the new route."""


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
    """Links and media of a graph, and the edges over which routes are found."""

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
    """Finds the routes of flows and their changes."""

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


# Hosts that terminate TCP: a flow through such a host is split into two connections.


_BUFFER_BYTES = 256 << 10
"""Default buffer of a terminating host for each flow, in bytes."""


def terminating(hosts: Sequence[Host]) -> dict[str, Relayed]:
    """Return the hosts that split connections (`terminated`), by name."""
    return {
        host.name: Relayed(host.proxy_buffer_bytes or _BUFFER_BYTES, f"hosts[{i}].terminated", host.proxy_cca)
        for i, host in enumerate(hosts)
        if host.terminated
    }


def connections(
    routed: RoutedFlow, hosts: Mapping[str, Relayed], hops: Sequence[Hop]
) -> Iterator[RoutedFlow]:
    """Yield the connections of a flow, in order from the sender. Every terminating host on the route adds one
    connection.

    Raises:
        ProblemsError: If a host on the route cannot split the flow's connection into two.
    """
    first = next((host for host in _passed(routed.forward, hops) if host in hosts), None)
    if routed.flow.datagrams or first is None:
        yield routed
        return
    relayed = hosts[first]
    _check(routed, relayed, first)
    if first not in _passed(routed.reverse, hops):
        told = f"ACKs of {shown(routed.name)} do not pass {shown(first)}, while its data does"
        raise ProblemsError(f"{relayed.where}: {told}; give the host links in both directions")
    to, onward = _cut(routed.forward, first, hops)
    back, home = _cut(routed.reverse, first, hops)
    yield replace(routed, target=first, forward=to, reverse=home, shares_hosts=True)
    own = {"start_jitter_s": 0.0, "stop_s": None, "size_bytes": None, "application": None, "workload": None}
    yield from connections(
        replace(
            routed,
            name=f"{routed.name}-{first}",
            stream=f"{routed.stream}-{first}",
            flow=routed.flow.model_copy(update={**own, "cca": relayed.cca or routed.flow.cca}),
            source=first,
            forward=onward,
            reverse=back,
            relayed=relayed,
            shares_hosts=True,
        ),
        {name: host for name, host in hosts.items() if name != first},
        hops,
    )


def _check(routed: RoutedFlow, relayed: Relayed, host: str) -> None:
    who = f"{shown(routed.name)} passes {shown(host)}"
    if routed.flow.is_of_transfers:
        raise ProblemsError(
            f"{relayed.where}: {who}, which cannot forward separate transfers; use workload bulk"
        )
    if routed.later:
        raise ProblemsError(f"{relayed.where}: {who} and its routes change; leave out one of the two")


def _passed(route: Route, hops: Sequence[Hop]) -> list[str]:
    """Return the forwarding nodes between the ends of a route, in order."""
    return [_origin(hops[i]) for i in route[1:]]


def _cut(route: Route, host: str, hops: Sequence[Hop]) -> tuple[Route, Route]:
    """Split a route at a host that it passes."""
    place = 1 + _passed(route, hops).index(host)
    return route[:place], route[place:]


def _origin(hop: Hop) -> str:
    return hop.node if isinstance(hop, Port) else hop.source


# Routes of flows whose end nodes move from one medium to another.


@dataclass(frozen=True)
class Attachment:
    """The route finder for the media in use from a time on, until the next move of a node."""

    at_s: float
    router: Router


def media_of_nodes(scenario: ScenarioModel) -> dict[str, list[str]]:
    """Return the media of every moving node: cells in which it is a station, and targets of its moves."""
    found: dict[str, dict[str, None]] = {move.node: {} for move in scenario.mobility or ()}
    for cell in scenario.cells or ():
        for station in cell.stations:
            if station.node in found:
                found[station.node][cell.name] = None
    for move in scenario.mobility or ():
        found[move.node][move.to] = None
    return {node: list(media) for node, media in found.items()}


def left_by(scenario: ScenarioModel, number: int) -> str | None:
    """Return the only medium that a node leaves at a move of `mobility`; None if the node leaves none or
    several."""
    moves = scenario.mobility or ()
    move = moves[number]
    before = [earlier.to for earlier in moves[:number] if earlier.node == move.node]
    media = before[-1:] or [medium for medium in media_of_nodes(scenario)[move.node] if medium != move.to]
    return media[0] if len(media) == 1 and media[0] != move.to else None


def attachments(scenario: ScenarioModel, edges: Sequence[Edge]) -> list[Attachment]:
    """Return the route finders at time 0 and after every move of a node, in the order of time."""
    media = media_of_nodes(scenario)
    cells = {cell.name for cell in scenario.cells or ()}
    places = {edge.name: place for place, edge in enumerate(edges)}
    owners = {
        (node, medium): frozenset(_edges_of(cells, places, node, medium))
        for node, all_of_them in media.items()
        for medium in all_of_them
    }
    moves = scenario.mobility or ()
    first = {move.node: move.to for move in reversed(moves)}
    lost = {node: owners[node, to] for node, to in first.items()}
    times_s = sorted({0.0, *(move.at_s for move in moves)})
    made: dict[frozenset[int], Router] = {}
    found = []
    for at_s in times_s:
        for move in (move for move in moves if move.at_s == at_s):
            others = (owners[move.node, medium] for medium in media[move.node] if medium != move.to)
            lost[move.node] = frozenset().union(*others)
        without: frozenset[int] = frozenset().union(*lost.values())
        if without not in made:
            made[without] = Router([edge for i, edge in enumerate(edges) if i not in without])
        found.append(Attachment(at_s, made[without]))
    return found


def mobile_reroutes(flow: Flow, found: Sequence[Attachment], duration_s: float) -> Iterator[Reroute]:
    """Yield every change of a flow's routes in the order of time: its own reroutes, and moves of nodes.

    Raises:
        NoRouteError: If a route after a change does not exist.
    """
    reroutes = list(reroutes_of(flow, duration_s))
    data, acks = flow.via, flow.via
    source, target = flow.source or "", flow.target or ""
    routers = {attached.at_s: attached.router for attached in found}
    router = found[0].router
    before = router.route([source, *data, target]), router.back([source, *acks, target])
    for at_s in sorted({*list(routers)[1:], *(reroute.at_s for reroute in reroutes)}):
        router = routers.get(at_s, router)
        for reroute in (reroute for reroute in reroutes if reroute.at_s == at_s):
            data = data if reroute.ways == "acks" else reroute.via
            acks = acks if reroute.ways == "data" else reroute.via
        try:
            now = router.route([source, *data, target]), router.back([source, *acks, target])
        except NoRouteError as error:
            raise NoRouteError(f"{error}, from {at_s:g} s on") from None
        if now != before:
            yield Reroute(at_s, *(new if new != old else None for new, old in zip(now, before, strict=True)))
        before = now


def _edges_of(cells: Container[str], places: Mapping[str, int], node: str, medium: str) -> Iterator[int]:
    """Yield the indices of the edges between a node and a medium, in both directions."""
    name = f"{medium}-{node}" if medium in cells else medium.removesuffix(BACKWARD)
    yield from (places[edge] for edge in (name, f"{name}{BACKWARD}") if edge in places)


# Handovers with a gap between LTE or NR cells: the old cell forwards waiting packets to the new cell.


GAPS = "user_gaps_ns"
"""Name of the cell's parameter that has the interruptions of its users."""


def hand_overs_of(scenario: ScenarioModel, media: Sequence[Medium], first: int) -> Iterator[HandOver]:
    """Yield two handovers per move with a gap, one per direction: from the user's port in the old cell to its
    port in the new cell.

    Args:
        scenario: A scenario whose moves with a gap are between cells.
        media: The media of all cells of the scenario.
        first: Index of the first port as a hop.
    """
    for number, move in enumerate(scenario.mobility or ()):
        if move.gap_s is not None:
            old, new = (
                _ports(scenario, media, first, move, name) for name in (left_by(scenario, number), move.to)
            )
            yield from (HandOver(move.at_s, move.gap_s, *ports) for ports in zip(old, new, strict=True))


def with_gaps(scenario: ScenarioModel, media: Sequence[Medium]) -> Iterator[Medium]:
    """Yield the media. A move to a cell adds its gap to the interruptions of the moving user in this cell."""
    for cell, medium in zip(scenario.cells or (), media, strict=True):
        coming = [move for move in scenario.mobility or () if move.gap_s is not None and move.to == cell.name]
        if not coming:
            yield medium
            continue
        gaps = [
            [*given, *(number for move in coming if move.node == user.node for number in _numbers(move))]
            for given, user in zip(medium.params[GAPS], cell.stations, strict=True)
        ]
        yield replace(medium, params={**medium.params, GAPS: gaps})


def _numbers(move: Move) -> tuple[int, int, int]:
    """Return start, duration and period of the gap in nanoseconds. A period of 0 means a single gap."""
    return to_nanoseconds(move.at_s), to_nanoseconds(move.gap_s or 0.0), 0


def _ports(
    scenario: ScenarioModel, media: Sequence[Medium], first: int, move: Move, name: str | None
) -> tuple[int, int]:
    """Return the downlink and the uplink port of a node in the cell of this name."""
    for cell, medium in zip(scenario.cells or (), media, strict=True):
        if cell.name == name:
            down = first + 2 * [station.node for station in cell.stations].index(move.node)
            return down, down + 1
        first += len(medium.ports)
    raise ValueError(f"no cell {name}")
