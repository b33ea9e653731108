"""Conversion of links of a scenario to links of a network, with queue limits in packets or bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fullpipe.scenario.model.base import MAX_PACKETS, ProblemsError
from fullpipe.scenario.model.flows import Flow, flow_names, flow_streams
from fullpipe.scenario.model.link import LinkModel
from fullpipe.scenario.model.link.queues import Discipline, DropTail
from fullpipe.scenario.model.scenario import ScenarioModel
from fullpipe.scenario.network.parts import Hop, Link, Network, Port, RoutedFlow
from fullpipe.scenario.quantities import BITS, NANOSECONDS, SIZE, to_nanoseconds

if TYPE_CHECKING:
    from fullpipe.scenario.network.timeline import Step


# Entries of `flows`, and the single flows of each entry.


class Single(NamedTuple):
    """One flow of an entry."""

    name: str
    stream: str


class Entry(NamedTuple):
    """An entry of `flows` with its single flows."""

    place: int
    flow: Flow
    singles: list[Single]


def entries(scenario: ScenarioModel, each: int | None) -> Iterator[Entry]:
    described = zip(scenario.flows, flow_names(scenario.flows), flow_streams(scenario.flows), strict=True)
    for place, (flow, names, streams) in enumerate(described):
        yield Entry(place, flow, list(map(Single, names[:each], streams[:each])))


# Conversion of one entry of `links` to a link of the network, with its changes over time.


def link_of(described: LinkModel, name: str, ends: tuple[str, str], where: str, duration_s: float) -> Link:
    rate_bps, delay_s = described.rate_bps, described.delay_s
    steps = _steps(described, duration_s, where) if described.is_changing else []
    if described.trace is not None and steps and steps[0][0] == 0:
        beginning = steps[0][1]  # the recording gives values that the scenario leaves out
        rate_bps = rate_bps or beginning.get("rate_bps") or None
        delay_s = delay_s or beginning.get("delay_ns", 0) / NANOSECONDS
    if described.trace is not None:
        delay_s += described.trace.mean_delay_s
    return Link(
        name,
        *ends,
        rate_bps,
        delay_s,
        described.queue,
        described.loss,
        where,
        device_packets=described.device_queue.packets if described.device_queue else None,
        changes=described.changes or (),
        shapes=described.shapes or (),
        trace=described.trace,
        frames=described.frames,
        impairments=described.impairments,
        steps=tuple(steps),
    )


def _steps(described: LinkModel, duration_s: float, where: str) -> "list[Step]":
    from fullpipe.scenario.network.timeline import timeline  # imported here, as most links do not change

    return timeline(described, _known(described), duration_s, where)


def _known(described: LinkModel) -> dict[str, Any]:
    """Return the initial values of a link that are given in the scenario, in the format of the plan."""
    from fullpipe.scenario.model.link.losses import NO_LOSS, plan_of

    queue, rate_bps = described.queue, described.rate_bps
    if isinstance(queue, Discipline) and (rate_bps is None or described.device_queue):
        rate_bps = queue.rate_bps or rate_bps
    known = {
        "rate_bps": rate_bps,
        "delay_ns": to_nanoseconds(described.delay_s),
        "limit": _limit(queue),
        "loss": plan_of(described.loss) if described.loss else dict(NO_LOSS),
    }
    return {key: value for key, value in known.items() if value is not None}


def _limit(queue: DropTail | Discipline | None) -> dict[str, int | None] | None:
    """Return the limit of a queue if the scenario gives it in packets or bytes."""
    if isinstance(queue, DropTail) and not queue.is_relative:
        return {"packets": queue.packets, "bytes": queue.limit_bytes}
    if isinstance(queue, Discipline) and queue.limit_key in queue.params:
        return {"packets": queue.params[queue.limit_key], "bytes": None}
    return None


# Conversion of relative queue sizes, such as "50 ms" and "1 bdp", to packets or bytes.


H = TypeVar("H", Link, Port)


def sized(network: Network) -> Network:
    """Return a network whose queue limits are in packets or bytes.

    Raises:
        ProblemsError: If a size is relative to a link without a rate or without a flow.
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
    """Base RTT and segment size of a flow that crosses a link for at least a part of the run."""

    rtt_ns: int
    segment_bytes: int


def _circles(routed: RoutedFlow) -> Iterator[tuple[int, ...]]:
    """Yield the hops of a flow's round trip, for every route that the flow takes or may take."""
    forward, reverse = routed.forward, routed.reverse
    yield (*forward, *reverse)
    for reroute in routed.later:
        forward, reverse = reroute.forward or forward, reroute.reverse or reverse
        yield (*forward, *reverse)


_SEGMENT_BYTES = 1_514
"""Segment size in bytes that is assumed for a link that no flow crosses."""


def _absolute(hop: Hop, crossing: Sequence[_Crossing]) -> DropTail | Discipline:
    """Return the queue of a hop with its limit in packets or bytes."""
    queue, where = hop.queue, f"{hop.where}.queue.size"
    if queue is None or hop.limit_bps is None:
        what = "BDP" if queue and queue.size_bdp else "time in which a queue drains"
        raise ProblemsError(
            f"{where}: a link of unlimited rate has no {what}; give the link a rate, or use packets = 100"
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
        raise ProblemsError(f"{where}: equals {packets:,} packets, more than {MAX_PACKETS:,}")
    if isinstance(queue, DropTail):
        return DropTail(packets=packets)
    params = {**queue.params, queue.limit_key or "": packets}
    return queue.model_copy(update={"size_bdp": None, "size_s": None, "params": params})


def _with_bytes(size: int, where: str) -> DropTail:
    if size > SIZE.limit:
        raise ProblemsError(f"{where}: equals {size:,} bytes, more than {SIZE.limit:,}")
    return DropTail(bytes=f"{size} B")
