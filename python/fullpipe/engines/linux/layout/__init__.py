"""Computes the layout of a scenario in the guest: namespaces, devices of links, addresses and routes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullpipe.engines.linux import departures
from fullpipe.engines.linux.departures import (
    crossing,
    departures_ns,
    frame_bytes,
    mtu_bytes,
    overhead_bytes,
    paces,
)
from fullpipe.engines.linux.layout.network import (
    Cable,
    Change,
    Device,
    FlowLayout,
    GateLayout,
    Hop,
    Host,
    LinkLayout,
    NetworkLayout,
    RerouteLayout,
    Stage,
)
from fullpipe.engines.linux.tc import gates
from fullpipe.engines.linux.tc.link import (
    LinkState,
    arrival_filter,
    differing,
    link_states,
    outages,
    qdisc_trees,
)
from fullpipe.scenario import Link, Network, RoutedFlow, Scenario, resolve
from fullpipe.scenario.quantities import to_nanoseconds

# Devices of every link in the guest, their qdiscs, and changes of the qdiscs during the run.


def stage_count(link: Link) -> int:
    """Return the number of a link's devices that have a qdisc."""
    [(_, first), *_] = link_states(link)
    return len(qdisc_trees(link, first, frame_bytes(()), seed=0))


def lay_link(link: Link, devices: Sequence[Device], arrival: Device, crossed_by: Sequence[RoutedFlow],
             seed: int) -> LinkLayout:  # fmt: skip
    """Place the qdiscs of a link on its devices. A link that neither delays nor drops packets has one device
    without a qdisc."""
    states, frame = link_states(link), frame_bytes(crossed_by)
    [(_, first), *_] = states
    gate_changes, gate_packets = _gates(states, devices, frame) if first.is_gated else ([], [])
    return LinkLayout(
        link.name,
        tuple(map(Stage, devices, qdisc_trees(link, first, frame, seed))),
        arrival,
        arrival_filter(link),
        overhead_bytes(crossed_by),
        (*_changes(link, states, devices, frame, seed), *gate_changes),
        tuple(gate_packets),
        _rates_bps(link, states),
        is_used=bool(crossed_by),
    )


def _changes(
    link: Link, states: Sequence[tuple[int, LinkState]], devices: Sequence[Device], frame: int, seed: int
) -> Iterator[Change]:
    """Yield the changes from each state of the link to the next state. A changed qdisc gets a new seed."""
    for turn, ((_, before), (at_ns, after)) in enumerate(pairwise(states), start=1):
        old, new = (qdisc_trees(link, state, frame, seed=0) for state in (before, after))
        drawn = qdisc_trees(link, after, frame, seed, turn)
        for stage, place in differing(old, new):
            yield Change(at_ns, devices[stage], drawn[stage].objects[place])


def _gates(
    states: Sequence[tuple[int, LinkState]], devices: Sequence[Device], frame: int
) -> tuple[list[Change], list[GateLayout]]:
    """Return the changes of outer classes and the gate packets of a link on these devices.

    A link with a rate has a second gate on its second device, which holds the packet in transmission.
    """
    changes, packets = list[Change](), list[GateLayout]()
    for outage in outages(states):
        before_bps, after_bps = outage.state.link_bps, outage.after.link_bps
        stages = [(devices[0], before_bps, after_bps)]
        if before_bps is not None:
            stages.append((devices[1], None, None))
        for device, rate_bps, restored_bps in stages:
            gate = gates.gate(outage.begin_ns, outage.end_ns, rate_bps, frame)
            packets.append(GateLayout(device, gate.packets))
            changes += [
                Change(outage.begin_ns, device, gates.outer_class(gate.rate_bps, frame)),
                Change(gate.restored_ns, device, gates.outer_class(restored_bps, frame)),
            ]
    for (_, before), (at_ns, after) in pairwise(states):
        if before.link_bps is None and before.rate_bps != after.rate_bps:
            packets.append(GateLayout(devices[0], gates.wake(at_ns)))
    return changes, packets


def _rates_bps(link: Link, states: Sequence[tuple[int, LinkState]]) -> tuple[tuple[int, int], ...]:
    if link.rate_bps is None:
        return ()
    return tuple(
        (at_ns, 0 if state.outage_bps is not None else state.rate_bps or 0) for at_ns, state in states
    )


# Namespaces of the guest and the devices between them.
# Every node at which links begin or end is a forwarding namespace. Every flow has an address for its sender
# and one for its receiver, by which the nodes route its packets. Every flow also has two hosts, which are
# namespaces next to its first and last node. Such a host does not send directly into a link, because Linux
# stops a sender when too many of the sender's packets are queued at its host (TCP small queues,
# `tcp_small_queue_check` in the kernel). A host with a network interface (NIC) in the scenario is different:
# it is one namespace for all of its flows, packets leave it by the devices of the NIC, and the limit applies.


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
        """Devices by which packets leave, for every namespace."""
        self.links: list[list[Device]] = []
        """Devices of every link, in the order in which packets pass them."""
        self.arrivals: list[Device] = []
        """Device at the far end of every link, at which packets arrive."""
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
        """Whether a flow's sender or receiver is at a host with a NIC, which several flows may share."""
        return self._node(end, number) in self._with_nic

    def _node(self, end: str, number: int) -> str:
        routed = self._network.flows[number]
        return routed.source if end == "sender" else routed.target

    def hops(self, number: int, route: Sequence[int], *, to_receiver: bool) -> Iterator[Device]:
        """Yield the devices by which packets leave the namespaces on a route, from the sending to the
        receiving host."""
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
        """Return the device in the namespace `near`, on the cable without qdiscs between `near` and `far`.
        The cable is added if it is missing."""
        if (near, far) not in self._plain:
            self._plain[near, far], _ = self._cable(near, far)
        return self._plain[near, far]

    def _lay(self, number: int, stage_count: int) -> None:
        """Add a link: a cable for every stage, and a namespace between consecutive cables."""
        begin, end = self._ends(number)
        between = [self._add(f"w{number}.{i}") for i in range(1, max(1, stage_count))]
        cables = [self._cable(near, far) for near, far in pairwise([begin, *between, end])]
        self.links.append([near for near, _ in cables])
        self.arrivals.append(cables[-1][1])

    def _cable(self, near: str, far: str) -> tuple[Device, Device]:
        """Add a cable between two namespaces, and return its two devices."""
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


# The layout of a whole scenario in the guest.


_RECEIVERS, _SENDERS = "10.2", "10.1"
_HOSTS_PER_NET = 250


def lay_out(scenario: Scenario, seed: int) -> NetworkLayout:
    """Compute the layout of a scenario that has passed `check`. The result depends only on the arguments."""
    network = resolve(scenario)
    places = Namespaces(network, [stage_count(link) for link in network.links])
    # `_hops` and `_reroutes` add cables between nodes. All cables must exist before `_host` reads the
    # devices.
    hops = [tuple(_hops(places, n, routed)) for n, routed in enumerate(network.flows)]
    reroutes = [tuple(_reroutes(places, n, routed)) for n, routed in enumerate(network.flows)]
    described = zip(network.links, places.links, places.arrivals, crossing(network), strict=True)
    return NetworkLayout(
        tuple(places.names),
        tuple(_cables(network, places)),
        tuple(lay_link(*link, seed) for link in described),
        tuple(
            _flow(scenario, seed, places, n, routed, hops[n], reroutes[n])
            for n, routed in enumerate(network.flows)
        ),
    )


def _flow(
    scenario: Scenario,
    seed: int,
    places: Namespaces,
    number: int,
    routed: RoutedFlow,
    hops: tuple[Hop, ...],
    reroutes: tuple[RerouteLayout, ...],
) -> FlowLayout:
    flow, start_ns, end_ns = routed.flow, _start_ns(routed, seed), _end_ns(routed, scenario)
    leave_ns = departures_ns(flow.datagrams, routed.stream, start_ns, end_ns, seed) if flow.datagrams else ()
    handed_out = paces(flow, routed.tcp, start_ns, end_ns)
    sender, receiver = (_host(places, end, number) for end in ("sender", "receiver"))
    return FlowLayout(routed, sender, receiver, hops, reroutes, start_ns, handed_out, tuple(leave_ns))


def _start_ns(routed: RoutedFlow, seed: int) -> int:
    """Return the start time of a flow, which equals the start time in the simulator."""
    flow = routed.flow
    return departures.start_ns(
        to_nanoseconds(flow.start_s), to_nanoseconds(flow.start_jitter_s), seed, routed.stream
    )


def _end_ns(routed: RoutedFlow, scenario: Scenario) -> int:
    """Return the time before which a flow sends. A flow without `stop` can still send at the last nanosecond
    of a run."""
    after_ns = to_nanoseconds(scenario.duration_s) + 1
    return after_ns if routed.flow.stop_s is None else min(after_ns, to_nanoseconds(routed.flow.stop_s))


def _host(places: Namespaces, end: str, number: int) -> Host:
    namespace = places.host(end, number)
    address = _address(number, to_receiver=end == "receiver")
    devices, sends_by = places.devices[namespace], tuple(places.sends_by[namespace])
    return Host(namespace, address, devices[0], sends_by, places.is_shared(end, number))


def _address(number: int, *, to_receiver: bool) -> str:
    """Return the address of a flow's receiver or sender."""
    net = _RECEIVERS if to_receiver else _SENDERS
    return f"{net}.{number // _HOSTS_PER_NET}.{number % _HOSTS_PER_NET + 1}"


def _hops(places: Namespaces, number: int, routed: RoutedFlow) -> Iterator[Hop]:
    yield from _along(places, number, routed.forward, to_receiver=True)
    yield from _along(places, number, routed.reverse, to_receiver=False)


def _reroutes(places: Namespaces, number: int, routed: RoutedFlow) -> Iterator[RerouteLayout]:
    for new in routed.reroutes:
        hops: list[Hop] = []
        for to_receiver, route in ((True, new.forward), (False, new.reverse)):
            if route is not None:
                hops += _along(places, number, route, to_receiver=to_receiver)
        yield RerouteLayout(to_nanoseconds(new.at_s), tuple(hops))


def _along(places: Namespaces, number: int, route: Sequence[int], *, to_receiver: bool) -> Iterator[Hop]:
    address, source = (_address(number, to_receiver=end) for end in (to_receiver, not to_receiver))
    for place, device in enumerate(places.hops(number, route, to_receiver=to_receiver)):
        yield Hop(device, address, to_receiver, source if place == 0 else None)


def _cables(network: Network, places: Namespaces) -> Iterator[Cable]:
    """Yield all cables. The MTU of a host's cables fits the packets of the host's flows. The MTU of all other
    cables fits the packets of all flows."""
    of_hosts: dict[str, int] = {}
    for n, routed in enumerate(network.flows):
        for host in (places.host("sender", n), places.host("receiver", n)):
            of_hosts[host] = max(mtu_bytes(routed), of_hosts.get(host, 0))
    largest = max(of_hosts.values())

    def mtu(device: Device) -> int:
        return of_hosts.get(device.namespace, largest)

    for near, far in places.cables:
        yield Cable(near, far, min(mtu(near), mtu(far)))
