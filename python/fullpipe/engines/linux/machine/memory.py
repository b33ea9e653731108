"""Memory that a guest needs for a scenario."""

from fullpipe.engines.linux.layout.sizes import crossing, frame_bytes
from fullpipe.scenario import Link, Network
from fullpipe.scenario.model.link.queues import DropTail
from fullpipe.scenario.quantities import BITS, NANOSECONDS

_KERNEL_MB, _LEAST_MB, _MOST_MB = 128, 256, 16_000
_PER_NAMESPACE_MB = 0.6
_COPIES = 24
"""Memory per payload in flight: senders store several windows, and headers and rounding take as much."""
_UNKNOWN_BPS = 10_000_000_000
_MB = 1e6


def needed_mb(network: Network) -> int:
    """Return the memory in MB for the kernel, namespaces, and packets in flight and in queues.

    It is a multiple of 64. Memory that the guest does not touch costs nothing, so the estimate is high.
    """
    rates = [link.limit_bps for link in network.links if link.limit_bps]
    widest_bps = max(min(rates, default=_UNKNOWN_BPS), 1_000_000)
    for routed in network.flows:
        rates_bps = [network.hops[i].limit_bps for i in routed.forward]
        widest_bps = max(widest_bps, min((rate for rate in rates_bps if rate), default=0))
    rtt_s = max(network.base_rtt_s(routed) for routed in network.flows)
    slowest_ns = max(
        (values.get("delay_ns", 0) for link in network.links for _, values in link.steps), default=0
    )
    crossed = zip(network.links, crossing(network), strict=True)
    waiting = sum(_queue_bytes(link, frame_bytes(crossed_by)) for link, crossed_by in crossed)
    on_the_way = widest_bps / BITS * (rtt_s + slowest_ns / NANOSECONDS)
    namespaces = 3 * len(network.links) + 2 * len(network.flows)
    size = _KERNEL_MB + _PER_NAMESPACE_MB * namespaces + _COPIES * (on_the_way + waiting) / _MB
    return min(_MOST_MB, max(_LEAST_MB, -(-int(size) // 64) * 64))


def _queue_bytes(link: Link, frame: int) -> float:
    if isinstance(link.queue, DropTail):
        limit = link.queue.limit_bytes or (link.queue.packets or 0) * frame
        return min(limit, 100e6)
    return 1_000 * frame if link.queue else 0.0
