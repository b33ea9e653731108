"""Sizes of queues relative to the paths of the flows that cross them, such as "1 bdp", made absolute."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar

from fullpipe.scenario.model.base import MAX_PACKETS, ProblemsError
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network.parts import Hop, Link, Network, Port, RoutedFlow
from fullpipe.scenario.quantities import NANOSECONDS

H = TypeVar("H", Link, Port)


def sized(network: Network) -> Network:
    """A network with queues that count packets or bytes; relative sizes need the flows that cross.

    Raises:
        ProblemsError: If a size is relative to a link that has no rate or no flow.
    """
    hops = network.hops
    relative = {i for i, hop in enumerate(hops) if hop.queue and hop.queue.size_bdp is not None}
    crossing: dict[int, list[_Crossing]] = {i: [] for i in relative}
    for routed in network.flows if relative else ():
        for circle in set(_circles(routed)):
            rtt_ns = sum(hops[i].delay_ns for i in circle)
            for i in relative.intersection(circle):
                crossing[i].append(_Crossing(rtt_ns, routed.tcp.segment_bytes))
    made = {i: _absolute(hops[i], crossing[i]) for i in sorted(relative)}
    numbers = count()
    links = tuple(_with_queue(link, made.get(next(numbers))) for link in network.links)
    media = tuple(
        replace(medium, ports=tuple(_with_queue(port, made.get(next(numbers))) for port in medium.ports))
        for medium in network.media
    )
    return replace(network, links=links, media=media)


def _with_queue(hop: H, queue: DropTail | Discipline | None) -> H:
    return hop if queue is None else replace(hop, queue=queue)


@dataclass(frozen=True)
class _Crossing:
    """A flow that crosses a link for at least a part of the run."""

    rtt_ns: int
    segment_bytes: int


def _circles(routed: RoutedFlow) -> Iterator[tuple[int, ...]]:
    """The hops of every round trip that a flow makes, one after the other as its routes change."""
    forward, reverse = routed.forward, routed.reverse
    yield (*forward, *reverse)
    for reroute in routed.later:
        forward, reverse = reroute.forward or forward, reroute.reverse or reverse
        yield (*forward, *reverse)


def _absolute(hop: Hop, crossing: Sequence[_Crossing]) -> DropTail | Discipline:
    """Rate times the largest base RTT of the flows that cross, in whole segments, and at least one."""
    queue, where = hop.queue, f"{hop.where}.queue.size"
    if queue is None or queue.size_bdp is None or hop.limit_bps is None:
        raise ProblemsError(
            f"{where}: a link of unlimited rate has no BDP; give it a rate, or use packets = 100"
        )
    if not crossing:
        raise ProblemsError(f"{where}: no flow crosses this link, so it has no BDP; use packets = 100")
    rtt_ns = max(flow.rtt_ns for flow in crossing)
    segment_bits = 8 * max(flow.segment_bytes for flow in crossing)
    packets = max(1, int(queue.size_bdp * hop.limit_bps * rtt_ns / (segment_bits * NANOSECONDS)))
    if packets > MAX_PACKETS:
        raise ProblemsError(f"{where}: makes {packets:,} packets, more than {MAX_PACKETS:,}")
    if isinstance(queue, DropTail):
        return DropTail(packets=packets)
    params = {**queue.params, queue.limit_key or "": packets}
    return queue.model_copy(update={"size_bdp": None, "params": params})
