"""Conversion of relative queue sizes, such as "50 ms" and "1 bdp", to packets or bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple, TypeVar

from fullpipe.scenario.model.base import MAX_PACKETS, ProblemsError
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.network.parts import Hop, Link, Network, Port, RoutedFlow
from fullpipe.scenario.quantities import BITS, NANOSECONDS, SIZE, to_nanoseconds

H = TypeVar("H", Link, Port)


def sized(network: Network) -> Network:
    """Return a network whose queue limits are in packets or bytes.

    Raises:
        ProblemsError: If a size is relative to a link that has no rate or no flow.
    """
    hops = network.hops
    relative = {i for i, hop in enumerate(hops) if hop.queue and hop.queue.is_relative}
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


class _Crossing(NamedTuple):
    """A flow that crosses a link for at least a part of the run."""

    rtt_ns: int
    segment_bytes: int


def _circles(routed: RoutedFlow) -> Iterator[tuple[int, ...]]:
    """Yield the hops of a flow's round trip, for every route that it takes or may take."""
    forward, reverse = routed.forward, routed.reverse
    yield (*forward, *reverse)
    for reroute in routed.later:
        forward, reverse = reroute.forward or forward, reroute.reverse or reverse
        yield (*forward, *reverse)


_SEGMENT_BYTES = 1_514
"""Segment size for a link that no flow crosses."""


def _absolute(hop: Hop, crossing: Sequence[_Crossing]) -> DropTail | Discipline:
    """Return the queue of a hop with its limit in packets or bytes."""
    queue, where = hop.queue, f"{hop.where}.queue.size"
    if queue is None or hop.limit_bps is None:
        what = "BDP" if queue and queue.size_bdp else "time in which a queue drains"
        raise ProblemsError(
            f"{where}: a link of unlimited rate has no {what}; give it a rate, or use packets = 100"
        )
    segment_bytes = max((flow.segment_bytes for flow in crossing), default=_SEGMENT_BYTES)
    if queue.size_s is not None:
        multiple, time_ns = 1.0, to_nanoseconds(queue.size_s)
    elif queue.size_bdp is not None and crossing:
        multiple, time_ns = queue.size_bdp, max(flow.rtt_ns for flow in crossing)
    else:
        raise ProblemsError(f"{where}: no flow crosses this link, so it has no BDP; use packets = 100")
    if isinstance(queue, DropTail) and queue.size_s is not None:
        size = hop.limit_bps * time_ns // (BITS * NANOSECONDS)
        return _with_bytes(max(segment_bytes, size), where)
    packets = max(1, int(multiple * hop.limit_bps * time_ns / (BITS * segment_bytes * NANOSECONDS)))
    if packets > MAX_PACKETS:
        raise ProblemsError(f"{where}: makes {packets:,} packets, more than {MAX_PACKETS:,}")
    if isinstance(queue, DropTail):
        return DropTail(packets=packets)
    params = {**queue.params, queue.limit_key or "": packets}
    return queue.model_copy(update={"size_bdp": None, "size_s": None, "params": params})


def _with_bytes(size: int, where: str) -> DropTail:
    if size > SIZE.limit:
        raise ProblemsError(f"{where}: makes {size:,} bytes, more than {SIZE.limit:,}")
    return DropTail(bytes=f"{size} B")
