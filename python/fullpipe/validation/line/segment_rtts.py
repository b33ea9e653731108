"""RTTs of captured segments, of hosts near and far, as pings to the nearest host."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.pcap import Flow
from fullpipe.validation.line.measured import Pings

_STEP_S = 0.05


@dataclass(frozen=True)
class SegmentRtts:
    """RTTs as to the nearest host."""

    nearest: Flow
    """That with the smallest RTT, which is taken for that of an empty queue."""
    pings: Pings
    has_unsure: bool
    """Whether waits may be longer than RTTs show: for part of the time there are only those of hosts whose
    flows began while others sent, so that they may never have met an empty queue."""


def segment_rtts(flows: Sequence[Flow]) -> SegmentRtts:
    """The median RTT of segments in every step: hundreds of them say no more.

    Hosts share the queue of the line and not the way behind it, so of each the smallest RTT is taken away.
    That of a host that never met an empty queue is too large, so that it counts only where there is no other.

    Args:
        flows: With RTTs of data, at least one.
    """
    hosts: dict[tuple[str, ...], list[Flow]] = defaultdict(list)
    for flow in flows:
        hosts[tuple(sorted(end.rpartition(".")[0] for end in flow.ends))].append(flow)
    nearest = min(flows, key=_least_s)
    columns = []
    for of_host in hosts.values():
        shift_s = _least_s(nearest) - min(map(_least_s, of_host))
        is_unsure = _began_among(of_host, [flow for flow in flows if flow not in of_host])
        for flow in of_host:
            times_s, rtts_s = flow.newest_rtts_s
            columns.append((times_s, rtts_s + shift_s, np.full(times_s.size, is_unsure)))
    times_s, rtts_s, unsure = (np.concatenate(column) for column in zip(*columns, strict=True))
    steps = np.floor(times_s / _STEP_S)
    kept = ~unsure | ~np.isin(steps, steps[~unsure])
    order = np.flatnonzero(kept)[np.argsort(steps[kept], kind="stable")]
    begins = np.flatnonzero(np.diff(steps[order], prepend=-np.inf) > 0)
    medians_s = np.array([np.median(part) for part in np.split(rtts_s[order], begins[1:])])
    pings = Pings(times_s[order][begins] - medians_s, medians_s)
    return SegmentRtts(nearest, pings, bool(unsure[kept].any()))


def _least_s(flow: Flow) -> float:
    return flow.least_rtt_s or 0.0


def _began_among(of_host: Sequence[Flow], others: Sequence[Flow]) -> bool:
    """Whether flows to other hosts sent data when those of a host began."""
    begin_s = min(flow.span_s[0] for flow in of_host)
    return any(flow.sent_s[0] < begin_s < flow.span_s[1] for flow in others)
