"""From links and routes to namespaces and devices: where in the guest everything stands.

Every flow has two hosts of its own, and so addresses of its own, by which packets find their way. Between
hosts stand nodes, which forward. A link begins in a node and ends in one; links that follow one another on
the way of a flow meet in a node.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullpipe.engines.linux.layout.network import Device
from fullpipe.engines.linux.layout.sizes import ways
from fullpipe.scenario import Network

Place = tuple[str, int]
"""The beginning or the end of a link, by number; or a host: "sender" or "receiver" and the flow's number."""


class Namespaces:
    """Namespaces, the cables between them, and the way of every flow through them."""

    def __init__(self, network: Network, stage_counts: Sequence[int]) -> None:
        self._network = network
        self._same: dict[Place, Place] = {}
        self._plain: dict[tuple[str, str], Device] = {}
        self.names: dict[str, None] = {}
        self.cables: list[tuple[Device, Device]] = []
        self.devices: dict[str, list[Device]] = defaultdict(list)
        """Of every namespace, in the order of their cables."""
        self.sends_by: dict[str, list[Device]] = defaultdict(list)
        """Those of them by which packets leave."""
        self.links: list[list[Device]] = []
        """For every link, its devices in the order of its packets."""
        self.arrivals: list[Device] = []
        """For every link, the device at which its packets arrive."""
        self._join_links()
        self._join_private()
        for number in range(len(network.routes)):
            for end in ("sender", "receiver"):
                self.host(end, number)
        for number, count in enumerate(stage_counts):
            self._lay(number, count)

    def host(self, end: str, number: int) -> str:
        """The namespace of the sender or the receiver of a flow."""
        return self._namespace((end, number))

    def hops(self, number: int, way: Sequence[int], *, to_receiver: bool) -> Iterator[Device]:
        """The devices over which packets leave the namespaces on a way from host to host."""
        ends = ("sender", "receiver") if to_receiver else ("receiver", "sender")
        here = self.host(ends[0], number)
        for link in way:
            begin = self._namespace(("begin", link))
            if here != begin:
                yield self._between(here, begin)
            yield from self.links[link]
            here = self._namespace(("end", link))
        there = self.host(ends[1], number)
        if here != there:
            yield self._between(here, there)

    def _between(self, near: str, far: str) -> Device:
        """The device of a cable that does nothing."""
        if (near, far) not in self._plain:
            self._plain[near, far], _ = self._cable(near, far)
        return self._plain[near, far]

    def _join_links(self) -> None:
        """Links that follow one another meet."""
        for route in self._network.routes:
            for to_receiver in (True, False):
                for way in ways(route, to_receiver=to_receiver):
                    for before, after in pairwise(way):
                        self._join(("end", before), ("begin", after))

    def _join_private(self) -> None:
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
                users.setdefault(("begin", way[0]), set()).add(("data", number))
        alone = {place for place in users if self._root(place) == place and place not in self._same.values()}
        for place in alone:
            [*who] = users[place]
            if len(who) == 1 and who[0][0] != "data":
                self._join(place, who[0])

    def _lay(self, number: int, stage_count: int) -> None:
        """A link: a cable for every stage, with namespaces of its own between them."""
        begin, end = self._namespace(("begin", number)), self._namespace(("end", number))
        between = [self._add(f"w{number}.{i}") for i in range(1, max(1, stage_count))]
        cables = [self._cable(near, far) for near, far in pairwise([begin, *between, end])]
        self.links.append([near for near, _ in cables])
        self.arrivals.append(cables[-1][1])

    def _cable(self, near: str, far: str) -> tuple[Device, Device]:
        """Another cable; devices are numbered through."""
        number = len(self.cables)
        ends = Device(near, f"a{number}"), Device(far, f"b{number}")
        self.cables.append(ends)
        self.sends_by[near].append(ends[0])
        for device in ends:
            self.devices[device.namespace].append(device)
        return ends

    def _namespace(self, place: Place) -> str:
        kind, number = self._root(place)
        return self._add(f"{kind[0]}{number}")

    def _add(self, name: str) -> str:
        self.names[name] = None
        return name

    def _root(self, place: Place) -> Place:
        while place in self._same:
            place = self._same[place]
        return place

    def _join(self, one: Place, other: Place) -> None:
        one, other = self._root(one), self._root(other)
        if one != other:
            self._same[one] = other
