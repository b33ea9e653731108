"""Predictions of theory as functions of the path, to compare with measurements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import heapify, heappop, heappush


def bbr_share(
    buffer_bdp: float, rate_bps: float, rtt_s: float, *, flows: int = 1, packet_bytes: int = 1514
) -> float:
    """Share of a link that BBRv1 flows get together beside flows that fill the buffer, such as CUBIC's.

    In the model every BBR flow is limited by its cap of two estimated bandwidth-delay products in flight. The
    other flows hold a share p of the buffer. A BBR flow in ProbeRTT sees their queue and four packets of each
    BBR flow, so that the cap of all BBR flows is 2 (1 - p) c ((p q + 4 N) / c + l). This equals their data in
    flight, (1 - p) (q + c l), so that p = 1/2 - 1/(2 X) - 4 N / q. In a ProbeRTT, once per 10 s, they send
    nothing for q/c + 0.2 s + l. The number of flows that fill the buffer has no influence.

    Source: Ware, Mukerjee, Seshan and Sherry, "Modeling BBR's interactions with loss-based congestion
    control", IMC 2019, equations 9 to 11.

    Args:
        buffer_bdp: Buffer X, in bandwidth-delay products.
        rate_bps: Rate of the link, which is c in packets per second.
        rtt_s: Round-trip time l of the empty path.
        flows: BBR flows N.
        packet_bytes: Size of a packet on the wire.

    Returns:
        From 0 to 1.

    Raises:
        ValueError: If there is no buffer, no link, no delay or no flow.

    >>> round(bbr_share(4, 50e6, 0.04), 3)
    0.606
    """
    if min(buffer_bdp, rate_bps, rtt_s, flows, packet_bytes) <= 0:
        raise ValueError("buffer, rate, round-trip time, flows and packet must all be above zero")
    packets_per_s = rate_bps / 8 / packet_bytes
    buffer_packets = buffer_bdp * rtt_s * packets_per_s
    others = max(0.0, 1 / 2 - 1 / (2 * buffer_bdp) - 4 * flows / buffer_packets)
    probing_s = buffer_packets / packets_per_s + 0.2 + rtt_s
    return (1 - others) * max(0.0, 1 - probing_s / 10)


def max_min(
    capacities_bps: Mapping[int, float], routes: Sequence[Collection[int]]
) -> list[tuple[int, float]]:
    """Max-min fair rates of flows that share links: no flow can get more unless one with no more gets less.

    The link with the least capacity per flow limits all flows that cross it. Their rates are subtracted from
    the other links that they cross. The remaining flows follow in the same way.

    Source: Bertsekas and Gallager, "Data Networks", second edition, 1992, section 6.5.2.

    Args:
        capacities_bps: Capacity of every link, by its number.
        routes: Links that each flow crosses, one or more, each once.

    Returns:
        For each flow, the link that limits it and its rate in bit/s.

    Raises:
        ValueError: If a flow crosses no link.

    >>> max_min({0: 30.0, 1: 10.0}, [{0}, {0, 1}])
    [(0, 20.0), (1, 10.0)]
    """
    if not all(routes):
        raise ValueError("every flow crosses one link or more")
    left_bps = dict(capacities_bps)
    crossing: dict[int, set[int]] = {}
    for flow, route in enumerate(routes):
        for link in route:
            crossing.setdefault(link, set()).add(flow)
    found: dict[int, tuple[int, float]] = {}
    waiting = [(left_bps[link] / len(flows), link) for link, flows in crossing.items()]
    heapify(waiting)
    while waiting:
        least_bps, link = heappop(waiting)
        flows = list(crossing[link])
        if not flows:
            continue
        rate_bps = left_bps[link] / len(flows)
        if rate_bps > least_bps:  # other links have limited some of its flows since
            heappush(waiting, (rate_bps, link))
            continue
        for flow in flows:
            found[flow] = link, rate_bps
            for other in routes[flow]:
                left_bps[other] = max(0.0, left_bps[other] - rate_bps)
                crossing[other].discard(flow)
    return [found[flow] for flow in range(len(routes))]
