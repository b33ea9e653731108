"""Lines of the guest's script that set queue disciplines and filters, and those that change them."""

from collections.abc import Iterator, Sequence

from fullpipe.engines.linux.layout.namespaces import Layout
from fullpipe.engines.linux.layout.sizes import ETHERNET_BYTES, overhead
from fullpipe.engines.linux.tc.link import ROOT, Placed, Stage, arriving, differing, first, stages, states
from fullpipe.engines.linux.tc.qdiscs import fq
from fullpipe.scenario import Network
from fullpipe.scenario.model.tcp import Tcp


def lines(network: Network, layout: Layout, laid: Sequence[Sequence[Stage]]) -> Iterator[str]:
    """What stands on every device when the run begins."""
    for number, of_link in enumerate(laid):
        extra = overhead(network, number)
        for stage, (namespace, device) in zip(of_link, layout.links[number], strict=False):
            for placed in stage.placed:
                yield _line("add", namespace, device, placed, extra)
        for placed in arriving(network.links[number]):
            yield _line("add", *layout.ends[number], placed, ETHERNET_BYTES)
    for number, route in enumerate(network.routes):
        host = layout.hosts["sender", number]
        devices = [cable.near_device for cable in layout.cables if cable.near == host]
        for device in devices:
            if route.tcp.max_burst_bytes != Tcp().max_burst_bytes:
                packets = max(1, route.tcp.max_burst_bytes // route.tcp.mss_bytes)
                yield f"bursts {host} {device} {packets}"
            if route.tcp.pacing == "fq":
                yield f"qdisc {host} {device} add {ROOT} 10000 {fq().written()}"


def changes(network: Network, layout: Layout, frames: Sequence[int], seed: int) -> Iterator[str]:
    """What differs from one state of a link to the next."""
    for number, link in enumerate(network.links):
        before = stages(link, first(link), frames[number], 0)
        for turn, (at_ns, state) in enumerate(states(link), start=1):
            after, told = (stages(link, state, frames[number], *dice) for dice in ((0,), (seed, turn)))
            for stage, place in sorted(differing(before, after)):
                namespace, device = layout.links[number][stage]
                placed = told[stage].placed[place]
                yield f"at {at_ns} {_line('change', namespace, device, placed, overhead(network, number))}"
            before = after


def _line(verb: str, namespace: str, device: str, placed: Placed, link_overhead_bytes: int) -> str:
    written = placed.qdisc.written(link_overhead_bytes if placed.parent == ROOT else ETHERNET_BYTES)
    return f"{placed.word} {namespace} {device} {verb} {placed.parent} {placed.handle} {written}"
