"""Classes for the layout of a scenario in the guest: devices of links, and hosts and routes of flows.

`script` writes the guest's script from the layout, and `tables` uses the layout to read the results.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fullpipe.engines.linux.departures import Pace
from fullpipe.engines.linux.tc.gates import GatePackets
from fullpipe.engines.linux.tc.qdisc import QdiscTree, TcObject
from fullpipe.scenario import RoutedFlow


class Device(NamedTuple):
    """The name of a virtual Ethernet device and the name of its namespace."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Cable:
    """A pair of connected devices. Each device receives the packets that the other device sends."""

    near: Device
    far: Device
    mtu_bytes: int


@dataclass(frozen=True)
class Stage:
    """One of the devices of a link, with its qdiscs. Packets pass all devices of the link in order."""

    device: Device
    tree: QdiscTree


@dataclass(frozen=True)
class Change:
    """A change of the options of a qdisc, class or filter."""

    at_ns: int
    device: Device
    object: TcObject


@dataclass(frozen=True)
class GateLayout:
    """Gate packets, and the device by which they leave."""

    device: Device
    packets: GatePackets


@dataclass(frozen=True)
class LinkLayout:
    """A link in the guest: devices with their qdiscs, and changes of the qdiscs during the run."""

    name: str
    stages: tuple[Stage, ...]
    arrival: Device
    """The device at the far end of the link, at which packets arrive."""
    arrival_filter: tuple[TcObject, ...]
    overhead_bytes: int
    """Bytes that the link layer adds to every packet."""
    changes: tuple[Change, ...]
    """Changes of qdiscs, classes and filters. Changes at equal times are in order."""
    gate_packets: tuple[GateLayout, ...]
    """Gate packets, which are sent after changes at the same time."""
    rates_bps: tuple[tuple[int, int], ...]
    """Pairs of a start time in ns and the rate from this time on. Empty if the rate is unlimited."""
    is_used: bool
    """Whether at least one flow crosses the link during the run."""


@dataclass(frozen=True)
class Host:
    """The sender or the receiver of a flow."""

    namespace: str
    address: str
    device: Device
    """The device to which the address belongs."""
    sends_by: tuple[Device, ...]
    """The devices by which packets leave the host."""
    is_shared: bool
    """Whether several flows may send or receive at this host."""


@dataclass(frozen=True)
class Hop:
    """One entry of a namespace's routing table: the device by which packets to an address leave."""

    device: Device
    address: str
    to_receiver: bool
    source: str | None
    """The source address of the packets if the namespace is their sending host, otherwise None."""


@dataclass(frozen=True)
class RerouteLayout:
    """Hops that replace a flow's earlier hops at the time `at_ns`."""

    at_ns: int
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class FlowLayout:
    """A flow in the guest: its two hosts, its routes, and the times at which it starts and sends."""

    routed: RoutedFlow
    sender: Host
    receiver: Host
    hops: tuple[Hop, ...]
    reroutes: tuple[RerouteLayout, ...]
    start_ns: int
    paces: tuple[Pace, ...]
    """Paces at which the application writes data. Empty if the application never limits the flow."""
    departures_ns: tuple[int, ...]
    """Departure times of the flow's datagrams. Empty for TCP connections."""


@dataclass(frozen=True)
class Watched:
    """A device for which the guest records the counters of its qdiscs, and the index of its link."""

    link: int
    device: Device
    queues: bool
    """Whether packets in the qdiscs wait for the link. If false, the packets are propagating."""


@dataclass(frozen=True)
class NetworkLayout:
    """The layout of a whole scenario in the guest."""

    namespaces: tuple[str, ...]
    cables: tuple[Cable, ...]
    links: tuple[LinkLayout, ...]
    flows: tuple[FlowLayout, ...]

    @property
    def watched(self) -> Iterator[Watched]:
        """The devices whose qdiscs' counters the guest records, in the order of the guest's indices."""
        for number, link in enumerate(self.links):
            if link.is_used:
                for stage in link.stages:
                    yield Watched(number, stage.device, stage.tree.queues)
                if link.arrival_filter:
                    yield Watched(number, link.arrival, queues=False)
