"""From links and routes to namespaces and devices: where in the guest everything stands.

Every flow has two hosts of its own, and so addresses of its own, by which packets find their way. Between
hosts stand nodes, which forward. A link begins in a node and ends in one; links that follow one another on
somebody's way meet in a node.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fullpipe.engines.linux.tc.link import Stage
from fullpipe.scenario.network import Network, Route

Place = tuple[str, int]
"""The beginning or the end of a link, by number; or a host: "sender" or "receiver" and the flow's number."""

DATA_NET, ACK_NET = "10.2", "10.1"


@dataclass(frozen=True)
class Cable:
    """A pair of virtual Ethernet devices, each in its namespace."""

    near: str
    near_device: str
    far: str
    far_device: str


@dataclass
class Layout:
    """Namespaces, cables, and over which device a link's packets and a way lead on."""

    namespaces: dict[str, None] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    links: list[list[tuple[str, str]]] = field(default_factory=list)
    """For every link, the namespace and the device of each of its stages."""
    ends: list[tuple[str, str]] = field(default_factory=list)
    """For every link, the namespace and the device at which its packets arrive."""
    hosts: dict[Place, str] = field(default_factory=dict)

    def cable(self, near: str, far: str) -> Cable:
        """Another cable; devices are numbered through."""
        number = len(self.cables)
        made = Cable(near, f"a{number}", far, f"b{number}")
        self.cables.append(made)
        return made


def address(route_number: int, to_receiver: bool) -> str:
    """The address of a flow's receiver or sender."""
    net = DATA_NET if to_receiver else ACK_NET
    return f"{net}.{route_number // 250}.{route_number % 250 + 1}"


def ways(route: Route, to_receiver: bool) -> list[tuple[int, ...]]:
    """Every way of a flow's data, or of its ACKs, in the order of time."""
    found = [route.forward if to_receiver else route.reverse]
    found += [w for new in route.new_ways for w in (new.forward if to_receiver else new.reverse,) if w]
    return found


class Planner:
    """Lays out a network, and finds the way of every flow through it."""

    def __init__(self, network: Network, stages: Sequence[Sequence[Stage]]) -> None:
        self._network = network
        self._same: dict[Place, Place] = {}
        self._plain: dict[tuple[str, str], Cable] = {}
        self.layout = Layout()
        for route in network.routes:
            for to_receiver in (True, False):
                for way in ways(route, to_receiver):
                    for before, after in pairwise(way):
                        self._join(("end", before), ("begin", after))
        self._private()
        for number in range(len(network.routes)):
            for end in ("sender", "receiver"):
                self.layout.hosts[end, number] = self._namespace((end, number))
        for number, of_link in enumerate(stages):
            self._lay(number, len(of_link))

    def hops(self, number: int, way: Sequence[int], to_receiver: bool) -> Iterator[tuple[str, str]]:
        """The namespaces of a way from host to host, and the device over which it leaves each of them."""
        ends = ("sender", "receiver") if to_receiver else ("receiver", "sender")
        here = self._namespace((ends[0], number))
        for link in way:
            begin = self._namespace(("begin", link))
            if here != begin:
                yield here, self._between(here, begin)
            yield from self.layout.links[link]
            here = self._namespace(("end", link))
        there = self._namespace((ends[1], number))
        if here != there:
            yield here, self._between(here, there)

    def _between(self, near: str, far: str) -> str:
        """The device of a cable that does nothing."""
        if (near, far) not in self._plain:
            self._plain[near, far] = self.layout.cable(near, far)
        return self._plain[near, far].near_device

    def _private(self) -> None:
        """Links that only one flow has at its end begin or end at its host, which saves a node.

        Data never leaves its host by a link: a sender counts what waits in its own host's queues and stops.
        """
        users: dict[Place, set[Place]] = {}
        for number, route in enumerate(self._network.routes):
            for way in ways(route, to_receiver=True):
                users.setdefault(("end", way[-1]), set()).add(("receiver", number))
            for way in ways(route, to_receiver=False):
                users.setdefault(("end", way[-1]), set()).add(("sender", number))
                users.setdefault(("begin", way[0]), set()).add(("receiver", number))
            for way in ways(route, to_receiver=True):
                users.setdefault(("begin", way[0]), set()).add(("nobody", number))
        alone = {place for place in users if self._root(place) == place and place not in self._same.values()}
        for place in alone:
            [*who] = users[place]
            if len(who) == 1 and who[0][0] != "nobody":
                self._join(place, who[0])

    def _lay(self, number: int, stage_count: int) -> None:
        """A link: a cable for every stage, with namespaces of its own between them."""
        begin, end = self._namespace(("begin", number)), self._namespace(("end", number))
        between = [self._add(f"w{number}.{i}") for i in range(1, max(1, stage_count))]
        points = [begin, *between, end]
        cables = [self.layout.cable(near, far) for near, far in pairwise(points)]
        self.layout.links.append([(cable.near, cable.near_device) for cable in cables])
        self.layout.ends.append((cables[-1].far, cables[-1].far_device))

    def _namespace(self, place: Place) -> str:
        kind, number = self._root(place)
        return self._add(f"{kind[0]}{number}")

    def _add(self, name: str) -> str:
        self.layout.namespaces[name] = None
        return name

    def _root(self, place: Place) -> Place:
        while place in self._same:
            place = self._same[place]
        return place

    def _join(self, one: Place, other: Place) -> None:
        one, other = self._root(one), self._root(other)
        if one != other:
            self._same[one] = other
