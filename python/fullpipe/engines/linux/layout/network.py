"""The layout of a scenario in the guest: devices of links, hosts and routes of flows, and their settings.

The script and the tables are made from the layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fullpipe.engines.linux.departures import Pace
from fullpipe.engines.linux.tc.qdisc import QdiscTree, TcObject
from fullpipe.scenario import RoutedFlow


class Device(NamedTuple):
    """A virtual Ethernet device in its namespace."""

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
    """One of the devices of a link. Packets pass all of them in order."""

    device: Device
    tree: QdiscTree


@dataclass(frozen=True)
class Change:
    """A change of the options of a qdisc, class or filter."""

    at_ns: int
    device: Device
    object: TcObject


@dataclass(frozen=True)
class LinkLayout:
    """A link: devices with their qdiscs, and the changes on them."""

    name: str
    stages: tuple[Stage, ...]
    arrival: Device
    """The device at the far end, at which packets arrive."""
    arrival_filter: tuple[TcObject, ...]
    overhead_bytes: int
    """Size that the link layer adds to every packet."""
    changes: tuple[Change, ...]
    """Changes in order of time."""
    rates_bps: tuple[tuple[int, int], ...]
    """Start times in nanoseconds, and the rates from then on. Empty if the rate is unlimited."""
    is_used: bool
    """Whether a flow ever crosses the link."""


@dataclass(frozen=True)
class Host:
    """One end of a flow."""

    namespace: str
    address: str
    device: Device
    """The device that has the address."""
    sends_by: tuple[Device, ...]
    """The devices by which packets leave the host."""
    is_shared: bool
    """Whether several flows may send or receive at this host."""


@dataclass(frozen=True)
class Hop:
    """A route in one namespace: the device by which packets to an address leave the namespace."""

    device: Device
    address: str
    to_receiver: bool
    source: str | None
    """The source address, if the namespace is the sending host of the packets."""


@dataclass(frozen=True)
class RerouteLayout:
    """Hops that replace a flow's earlier hops at a given time."""

    at_ns: int
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class FlowLayout:
    """A flow: its two hosts, its routes, and the times at which it sends."""

    routed: RoutedFlow
    sender: Host
    receiver: Host
    hops: tuple[Hop, ...]
    reroutes: tuple[RerouteLayout, ...]
    start_ns: int
    paces: tuple[Pace, ...]
    """Paces at which the application writes data. Empty if the application never limits the flow."""
    departures_ns: tuple[int, ...]
    """Departure times of its datagrams. Empty for connections."""


@dataclass(frozen=True)
class Watched:
    """A device whose queue disciplines are counted, with the index of its link."""

    link: int
    device: Device
    queues: bool
    """Whether packets in the qdiscs wait for the link. Otherwise the packets are propagating."""


@dataclass(frozen=True)
class NetworkLayout:
    """The layout of a whole scenario in the guest."""

    namespaces: tuple[str, ...]
    cables: tuple[Cable, ...]
    links: tuple[LinkLayout, ...]
    flows: tuple[FlowLayout, ...]

    @property
    def watched(self) -> Iterator[Watched]:
        """The counted devices of all links that a flow crosses, in the order in which the guest counts."""
        for number, link in enumerate(self.links):
            if link.is_used:
                for stage in link.stages:
                    yield Watched(number, stage.device, stage.tree.queues)
                if link.arrival_filter:
                    yield Watched(number, link.arrival, queues=False)
