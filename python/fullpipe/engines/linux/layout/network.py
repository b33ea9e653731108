"""A scenario laid out in the guest, as a value: devices of links, places of flows, and their settings.

Everything after it reads these values: the script, and the tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fullpipe.engines.linux.layout.paces import Pace
from fullpipe.engines.linux.tc.qdisc import QdiscTree, TcObject
from fullpipe.scenario import RoutedFlow


class Device(NamedTuple):
    """A virtual Ethernet device in its namespace."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Cable:
    """A pair of devices: what one sends, the other receives."""

    near: Device
    far: Device
    mtu_bytes: int


@dataclass(frozen=True)
class Stage:
    """One of the devices of a link, over which its packets go one after the other."""

    device: Device
    tree: QdiscTree


@dataclass(frozen=True)
class Change:
    """A qdisc, class or filter that has other options from some time on."""

    at_ns: int
    device: Device
    object: TcObject


@dataclass(frozen=True)
class LinkLayout:
    """A link: devices with their qdiscs, and what changes on them."""

    name: str
    stages: tuple[Stage, ...]
    arrival: Device
    """Where its packets arrive."""
    arrival_filter: tuple[TcObject, ...]
    overhead_bytes: int
    """What the link layer adds to every packet."""
    changes: tuple[Change, ...]
    """In the order of time."""
    rates_bps: tuple[tuple[int, int], ...]
    """From when on in nanoseconds, and the rate; empty if it is unlimited."""
    is_used: bool
    """Whether a flow ever crosses it."""


@dataclass(frozen=True)
class Host:
    """One end of a flow."""

    namespace: str
    address: str
    device: Device
    """The device that has the address."""
    sends_by: tuple[Device, ...]
    """The devices by which packets leave it."""
    is_shared: bool
    """Whether other flows may send or receive here as well."""


@dataclass(frozen=True)
class Hop:
    """A route in one namespace: by which device packets to an address leave it."""

    device: Device
    address: str
    to_receiver: bool
    source: str | None
    """The address from which they set out, if that is here."""


@dataclass(frozen=True)
class RerouteLayout:
    """Hops that replace others from some time on."""

    at_ns: int
    hops: tuple[Hop, ...]


@dataclass(frozen=True)
class FlowLayout:
    """A flow: its two hosts, its routes, and when it sends."""

    routed: RoutedFlow
    sender: Host
    receiver: Host
    hops: tuple[Hop, ...]
    reroutes: tuple[RerouteLayout, ...]
    start_ns: int
    paces: tuple[Pace, ...]
    """At which its application hands data out; empty if there is always more."""
    departures_ns: tuple[int, ...]
    """When its datagrams leave; empty for a connection."""


@dataclass(frozen=True)
class Watched:
    """A device whose queue disciplines are counted, and the number of the link that it belongs to."""

    link: int
    device: Device
    queues: bool
    """Whether what is in it waits for the link; otherwise it is on its way."""


@dataclass(frozen=True)
class NetworkLayout:
    """All of a scenario, in the guest."""

    namespaces: tuple[str, ...]
    cables: tuple[Cable, ...]
    links: tuple[LinkLayout, ...]
    flows: tuple[FlowLayout, ...]

    @property
    def watched(self) -> Iterator[Watched]:
        """What is counted of every link that a flow crosses, in the order in which the guest counts."""
        for number, link in enumerate(self.links):
            if link.is_used:
                for stage in link.stages:
                    yield Watched(number, stage.device, stage.tree.queues)
                if link.arrival_filter:
                    yield Watched(number, link.arrival, queues=False)
