"""Cells as media with ports, and networks of dumbbells whose bottleneck is a cell."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from fullpipe.scenario.model.cells import Cell
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.links import Entry, Single, entries
from fullpipe.scenario.network.nics import nics_of
from fullpipe.scenario.network.parts import Link, Medium, Network, Node, Port, RoutedFlow, unused
from fullpipe.scenario.network.routes import BACKWARD, Edge

# Cells as media with ports.


def media_of(cells: Iterable[Cell], behind: Callable[[str], str]) -> list[Medium]:
    """Return a medium for every cell, with its ports in the order defined by the kind of cell.

    Args:
        cells: The cells of the scenario.
        behind: Function that returns the node behind a node's NIC, or the node itself if it has no NIC.
    """
    return [_medium(f"cells[{i}]", cell, behind) for i, cell in enumerate(cells)]


def edges_of(cells: Iterable[Cell], media: Iterable[Medium], first: int) -> Iterator[Edge]:
    """Yield an edge from every port to each node that it reaches.

    The edge from a station to the hub is named "<cell>-<station>"; the opposite edge ends in "-reverse".

    Args:
        cells: The cells of the scenario.
        media: The media of these cells.
        first: Index of the first port as a hop.
    """
    for cell, medium in zip(cells, media, strict=True):
        for number, (described, port) in enumerate(zip(cell.ports(), medium.ports, strict=True), first):
            for target in described.targets:
                down = described.source == cell.hub
                name = f"{cell.name}-{target}{BACKWARD}" if down else f"{cell.name}-{described.source}"
                yield Edge(port.node, target, port.delay_ns, number, name)
        first += len(medium.ports)


def _medium(where: str, cell: Cell, behind: Callable[[str], str]) -> Medium:
    ports = (
        Port(
            port.name,
            behind(port.source),
            port.queue,
            cell.mean_delay_s,
            port.limit_bps,
            f"{where}{port.place}",
        )
        for port in cell.ports()
    )
    return Medium(cell.name, cell.kind, tuple(ports), cell.params(), where)


# A dumbbell whose bottleneck is a cell: stations on one side, hosts on wires to the hub on the other.


class _Wired(NamedTuple):
    """A flow with its host behind the hub, and the links between that host and the hub."""

    entry: Entry
    single: Single
    host: str
    there: tuple[int, ...]
    back: tuple[int, ...]


def from_cell(scenario: ScenarioModel, topology: Dumbbell, cell: Cell, each: int | None) -> Network:
    """Return the network of a dumbbell with a cell: the hub, the stations, and for every flow a host on a
    wire to the hub."""
    layout = _Layout(scenario, topology, cell)
    wired = [layout.wired(entry, single) for entry in entries(scenario, each) for single in entry.singles]
    media = media_of([cell], layout.behind)
    ports = {edge.name: edge.hop for edge in edges_of([cell], media, len(layout.links))}
    flows = tuple(_flow(scenario, cell, one, layout.nics, ports) for one in wired)
    return Network(tuple(layout.nodes.values()), tuple(layout.links), flows, tuple(media))


class _Layout:
    """The nodes and links of the network. The method `wired` adds hosts and wires behind the hub."""

    def __init__(self, scenario: ScenarioModel, topology: Dumbbell, cell: Cell) -> None:
        self._topology, self._hub = topology, cell.hub
        stations = [station.node for station in cell.stations]
        self._named = {name for flow in scenario.flows for name in flow.hosts or ()} | {cell.hub, *stations}
        nics = nics_of(scenario.hosts or (), self._named)
        self.links: list[Link] = list(nics.values())
        self.nics = {host: (i,) for i, host in enumerate(nics)}
        routers = [cell.hub, *(nic.target for nic in nics.values())]
        self.nodes = {name: Node(name, "router") for name in routers}
        self.nodes |= {name: Node(name, "host") for name in stations}

    def behind(self, host: str) -> str:
        """Return the node where all links of a host except its network interface begin."""
        return self.links[self.nics[host][0]].target if host in self.nics else host

    def wired(self, entry: Entry, single: Single) -> _Wired:
        """Add the host of a flow behind the hub, and the links of its wire."""
        flow = entry.flow
        end = "receiver" if flow.is_upload else "sender"
        own = unused(f"{single.name}-{end}", self._named)
        host = flow.hosts[int(flow.is_upload)] if flow.hosts else own
        self.nodes[host] = Node(host, "host")
        leaving = self._topology.access.overridden_by(flow.access)
        if leaving.rate_bps is None and leaving.delay_s == 0 and leaving.queue is None:
            return _Wired(entry, single, host, self.nics.get(host, ()), ())
        own_queue = flow.access is not None and "queue" in flow.access.model_fields_set
        where = f"flows[{entry.place}].access" if own_queue else "topology.access"
        arriving = leaving.model_copy(update={"queue": None})  # the queue on the hub's side has no limit
        first = len(self.links)
        for access, suffix, ends in (
            (leaving, "", (self.behind(host), self._hub)),
            (arriving, BACKWARD, (self._hub, host)),
        ):
            name, stream = (f"{one}-{end}{suffix}" for one in (single.name, single.stream))
            wire = (access.rate_bps, access.delay_s, access.queue)
            self.links.append(Link(name, ends[0], ends[1], *wire, None, where, host_stream=stream))
        return _Wired(entry, single, host, (*self.nics.get(host, ()), first), (first + 1,))


def _flow(
    scenario: ScenarioModel,
    cell: Cell,
    wired: _Wired,
    nics: Mapping[str, tuple[int, ...]],
    ports: dict[str, int],
) -> RoutedFlow:
    flow = wired.entry.flow
    station = flow.station or cell.stations[0].node
    up, down = f"{cell.name}-{station}", f"{cell.name}-{station}{BACKWARD}"
    to_station = (*wired.there, ports[down])
    from_station = (*nics.get(station, ()), ports[up], *wired.back)
    ends, routes = (wired.host, station), (to_station, from_station)
    if flow.is_upload:
        ends, routes = ends[::-1], routes[::-1]
    return RoutedFlow(*wired.single, flow, scenario.tcp_of(flow), *ends, *routes, shares_hosts=True)
