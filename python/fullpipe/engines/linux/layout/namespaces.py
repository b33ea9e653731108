"""Namespaces of the guest and the devices between them.

Every node at which links begin or end is a forwarding namespace. Every flow has two addresses of its own, by
which packets are routed, and two hosts of its own next to its nodes. Such a host does not send directly into
a link, since senders count packets queued at their own host and stop (`tcp_small_queue_check` in the kernel).
At a host with a network interface (NIC), this is intended: the host is one namespace for all of its flows,
and their packets leave it by the devices of that link.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullpipe.engines.linux.layout.network import Device
from fullpipe.scenario import Network


class Namespaces:
    """Namespaces, the cables between them, and the routes of every flow through them."""

    def __init__(self, network: Network, stage_counts: Sequence[int]) -> None:
        self._network = network
        self._with_nic = {link.nic_of for link in network.links if link.nic_of is not None}
        self._nodes = {
            node.name: f"{'h' if node.name in self._with_nic else 'n'}{number}"
            for number, node in enumerate(network.nodes)
        }
        self._plain: dict[tuple[str, str], Device] = {}
        self.names: dict[str, None] = {}
        self.cables: list[tuple[Device, Device]] = []
        self.devices: dict[str, list[Device]] = defaultdict(list)
        """Devices of every namespace, in the order of their cables."""
        self.sends_by: dict[str, list[Device]] = defaultdict(list)
        """Devices by which packets leave, of every namespace."""
        self.links: list[list[Device]] = []
        """Devices of every link, in the order in which packets pass them."""
        self.arrivals: list[Device] = []
        """Device of every link at which its packets arrive."""
        for number in range(len(network.flows)):
            for end in ("sender", "receiver"):
                self.host(end, number)
        for number, count in enumerate(stage_counts):
            self._lay(number, count)

    def host(self, end: str, number: int) -> str:
        """Return the namespace of a flow's sender or receiver."""
        shared = self._nodes[self._node(end, number)]
        return self._add(shared if self.is_shared(end, number) else f"{end[0]}{number}")

    def is_shared(self, end: str, number: int) -> bool:
        """Whether a flow's sender or receiver has a NIC, which other flows may share."""
        return self._node(end, number) in self._with_nic

    def _node(self, end: str, number: int) -> str:
        routed = self._network.flows[number]
        return routed.source if end == "sender" else routed.target

    def hops(self, number: int, route: Sequence[int], *, to_receiver: bool) -> Iterator[Device]:
        """Yield the devices by which packets leave the namespaces on a route from host to host."""
        ends = ("sender", "receiver") if to_receiver else ("receiver", "sender")
        here = self.host(ends[0], number)
        for link in route:
            begin, end = self._ends(link)
            if here != begin:
                yield self._between(here, begin)
            yield from self.links[link]
            here = end
        there = self.host(ends[1], number)
        if here != there:
            yield self._between(here, there)

    def _between(self, near: str, far: str) -> Device:
        """Return the device of a cable without any effect."""
        if (near, far) not in self._plain:
            self._plain[near, far], _ = self._cable(near, far)
        return self._plain[near, far]

    def _lay(self, number: int, stage_count: int) -> None:
        """Add a link: a cable for every stage, with namespaces between them."""
        begin, end = self._ends(number)
        between = [self._add(f"w{number}.{i}") for i in range(1, max(1, stage_count))]
        cables = [self._cable(near, far) for near, far in pairwise([begin, *between, end])]
        self.links.append([near for near, _ in cables])
        self.arrivals.append(cables[-1][1])

    def _cable(self, near: str, far: str) -> tuple[Device, Device]:
        """Add a cable. Devices are numbered consecutively."""
        number = len(self.cables)
        ends = Device(near, f"a{number}"), Device(far, f"b{number}")
        self.cables.append(ends)
        self.sends_by[near].append(ends[0])
        for device in ends:
            self.devices[device.namespace].append(device)
        return ends

    def _ends(self, link: int) -> tuple[str, str]:
        """Return the namespaces of the nodes where a link begins and ends."""
        source, target = self._network.links[link].source, self._network.links[link].target
        return self._add(self._nodes[source]), self._add(self._nodes[target])

    def _add(self, name: str) -> str:
        self.names[name] = None
        return name
