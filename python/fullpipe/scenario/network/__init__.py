"""Resolution of a scenario into a network: nodes, links and routes, with absolute queue sizes."""

from collections.abc import Iterator
from functools import partial

from fullpipe.scenario.model.link import Access
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.model.topology import Dumbbell
from fullpipe.scenario.network.links import Entry, Single, entries, link_of, sized
from fullpipe.scenario.network.nics import nics_of
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
    unused,
)

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


# A dumbbell as nodes, links and routes.


BOTTLENECK = "bottleneck"


def from_dumbbell(scenario: ScenarioModel, topology: Dumbbell, each: int | None) -> Network:
    """Return the network of a dumbbell: two routers, the bottleneck (link 0), its reverse (link 1), and
    hosts.

    An access link without rate, delay and queue is omitted, so that its host is attached to the router
    directly.
    """
    layout = _Layout(scenario, topology)
    flows = [routed for entry in entries(scenario, each) for routed in layout.flows(entry)]
    return Network(tuple(layout.nodes.values()), tuple(layout.links), tuple(flows))


class _Layout:
    """The nodes and links of a dumbbell. The method `flows` adds hosts and access links."""

    def __init__(self, scenario: ScenarioModel, topology: Dumbbell) -> None:
        self._scenario, self._topology = scenario, topology
        self._named = {name for flow in scenario.flows for name in flow.hosts or ()}
        self._left, self._right = (unused(name, self._named) for name in ("left", "right"))
        there, again = (self._left, self._right), (self._right, self._left)
        back = "topology.reverse" if topology.reverse else "topology.bottleneck"
        duration_s = scenario.duration_s
        self.links = [
            link_of(topology.bottleneck, BOTTLENECK, there, "topology.bottleneck", duration_s),
            link_of(topology.backward, f"{BOTTLENECK}-reverse", again, back, duration_s),
        ]
        nics = nics_of(scenario.hosts or (), self._named)
        self._nics = {host: len(self.links) + i for i, host in enumerate(nics)}
        self.links += nics.values()
        routers = [self._left, self._right, *(nic.target for nic in nics.values())]
        self.nodes = {name: Node(name, "router") for name in routers}

    def flows(self, entry: Entry) -> Iterator[RoutedFlow]:
        """Yield every flow of an entry, and add its hosts and access links."""
        flow, tcp = entry.flow, self._scenario.tcp_of(entry.flow)
        leaving = self._topology.access.overridden_by(flow.access)
        # The access link from the router to the host has no queue limit.
        arriving = leaving.model_copy(update={"queue": None})
        own = flow.access is not None and "queue" in flow.access.model_fields_set
        where = f"flows[{entry.place}].access" if own else "topology.access"
        data, acks, near, far = (
            (1, 0, self._right, self._left) if flow.is_upload else (0, 1, self._left, self._right)
        )
        for single in entry.singles:
            source, target = self._hosts(entry, single)
            access = partial(self._access, single, where=where)
            forward = (
                *self._nic(source),
                *access("sender", self._behind(source), near, leaving),
                data,
                *access("receiver", far, target, arriving),
            )
            reverse = (
                *self._nic(target),
                *access("receiver-reverse", self._behind(target), far, leaving),
                acks,
                *access("sender-reverse", near, source, arriving),
            )
            yield RoutedFlow(*single, flow, tcp, source, target, forward, reverse)

    def _hosts(self, entry: Entry, flow: Single) -> tuple[str, str]:
        own = (unused(f"{flow.name}-{end}", self._named) for end in ("sender", "receiver"))
        source, target = entry.flow.hosts or own
        for name in (source, target):
            self.nodes[name] = Node(name, "host")
        return source, target

    def _nic(self, host: str) -> Iterator[int]:
        if host in self._nics:
            yield self._nics[host]

    def _behind(self, host: str) -> str:
        """Return the node where all links of a host except its network interface begin."""
        return self.links[self._nics[host]].target if host in self._nics else host

    def _access(
        self, flow: Single, end: str, source: str, target: str, access: Access, where: str
    ) -> Iterator[int]:
        """Create an access link and yield its index, unless the link has no effect."""
        if access.rate_bps is None and access.delay_s == 0 and access.queue is None:
            return
        described = (access.rate_bps, access.delay_s, access.queue)
        stream = f"{flow.stream}-{end}"
        link = Link(f"{flow.name}-{end}", source, target, *described, None, where, host_stream=stream)
        self.links.append(link)
        yield len(self.links) - 1


def resolve(scenario: ScenarioModel, each: int | None = None) -> Network:
    """Lay out the links, route every flow, and convert sizes such as "1 bdp" to packets.

    Args:
        scenario: The scenario to resolve.
        each: Maximum number of flows per entry of `flows`, for callers that need only one flow of each entry.
            None: all flows.

    Raises:
        ProblemsError: If a flow has no route, or a size is relative to a link without a rate or without a
            flow.
    """
    topology = scenario.topology
    if isinstance(topology, Dumbbell):
        name = topology.bottleneck.cell
        cell = next((cell for cell in scenario.cells or () if cell.name == name), None)
        if cell is not None:
            # imported here, as most scenarios have no cell
            from fullpipe.scenario.network.around_cell import from_cell

            return sized(from_cell(scenario, topology, cell, each))
        return sized(from_dumbbell(scenario, topology, each))
    from fullpipe.scenario.network.graph import from_graph

    return sized(from_graph(scenario, topology, each))
