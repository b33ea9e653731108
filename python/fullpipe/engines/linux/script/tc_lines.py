"""Lines of the guest's script that set and change queue disciplines, classes and filters."""

from collections.abc import Iterator

from fullpipe.engines.linux.layout.network import Device, FlowLayout, NetworkLayout
from fullpipe.engines.linux.tc.qdisc import ETHERNET_BYTES, OUTER, ROOT, TcObject
from fullpipe.engines.linux.tc.service import fq
from fullpipe.scenario.model.tcp import Tcp


def added(network: NetworkLayout) -> Iterator[str]:
    """Yield the objects on every device at the start of the run."""
    for link in network.links:
        for stage in link.stages:
            for placed in stage.tree.objects:
                yield _line("add", stage.device, placed, link.overhead_bytes)
        for placed in link.arrival_filter:
            yield _line("add", link.arrival, placed)
    for flow in network.flows:
        if not flow.routed.flow.datagrams:
            yield from _sender(flow)


def changed(network: NetworkLayout) -> Iterator[str]:
    """Yield the changes during the run."""
    for link in network.links:
        for change in link.changes:
            line = _line("change", change.device, change.object, link.overhead_bytes)
            yield f"at {change.at_ns} {line}"


def watched(network: NetworkLayout) -> Iterator[str]:
    """Yield the devices to count, in the order of the guest's numbers."""
    for number, seen in enumerate(network.watched):
        yield f"watch {number} {' '.join(seen.device)}"


def _sender(flow: FlowLayout) -> Iterator[str]:
    """Yield the settings of a sending host: the maximum burst, and pacing by fq."""
    tcp = flow.routed.tcp
    for device in flow.sender.sends_by:
        if tcp.max_burst_bytes != Tcp().max_burst_bytes:
            yield f"bursts {' '.join(device)} {max(1, tcp.max_burst_bytes // tcp.mss_bytes)}"
        if tcp.pacing == "fq":
            yield _line("add", device, TcObject(ROOT, OUTER, fq()))


def _line(verb: str, device: Device, placed: TcObject, link_overhead_bytes: int = ETHERNET_BYTES) -> str:
    """Return the line of a qdisc, class or filter. The root adds the overhead, also for those below it."""
    options = placed.qdisc.written(link_overhead_bytes if placed.parent == ROOT else ETHERNET_BYTES)
    return f"{placed.command} {' '.join(device)} {verb} {placed.parent} {placed.handle} {options}"
