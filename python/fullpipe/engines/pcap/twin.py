"""The twin of a capture: a scenario whose path is estimated from the packets, with its guesses and unknown
properties."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullpipe.engines.imported.measurement import FEW_EVENTS, FILLING, Twin, busy_bps, ceiling_bps, of_file
from fullpipe.engines.pcap.blocks import Ints
from fullpipe.engines.pcap.connections import Floats
from fullpipe.engines.pcap.described import algorithm_of, is_running, mss_told, scenario_of
from fullpipe.engines.pcap.flow import Flow, Retransmissions
from fullpipe.engines.pcap.run import Captured
from fullpipe.engines.pcap.window import Cells
from fullpipe.errors import InputFileError
from fullpipe.scenario import Scenario
from fullpipe.scenario.model.tcp import HEADERS_BYTES, MOST_MSS_BYTES

_TAKEN = "cubic"
"""Algorithm of flows for which the user gives no algorithm: the default of most hosts."""
_STEP_S = 0.01
_WINDOW_RTTS = 10
_LEAST_BUFFER_BYTES = 2 * 1514
_FULL_SHARE = 0.05
"""Smallest queueing delay, as a share of the RTT, from which a queue counts as filled."""
_AT_LOSS = 95
"""Percentile of the queueing delays next to losses, which is used as the delay of a full buffer. The estimate
is wrong only if nearly all losses are random."""
_NOT_FULL = 0.75
"""A loss counts as random if the queueing delays of the packets next to it are below this share of a full
buffer's delay."""


@dataclass(frozen=True)
class Way:
    """One direction of a path, as estimated from its flows."""

    rate_bps: float
    is_ceiling: bool
    """Whether the link was saturated for a long time. If false, `rate_bps` is a lower bound."""
    rise_s: float | None
    """Queueing delay of a full buffer; None without losses."""
    longest_s: float
    """Longest observed queueing delay."""
    lost: int
    """Lost packets."""
    at_random: int
    """Packets lost while the buffer was not full."""
    doubtful: int
    """Number of segments of which it is unknown whether they were lost or overtaken."""
    sent: int

    @property
    def is_full(self) -> bool:
        """Whether the link was saturated with a standing queue."""
        return self.is_ceiling and self.longest_s * self.rate_bps / 8 >= _LEAST_BUFFER_BYTES


def twin_of(captured: Captured, path: Path, algorithms: Mapping[str, str]) -> Twin:
    """Return the scenario that would reproduce a capture.

    Args:
        captured: The flows of the capture.
        path: Path of the capture file; the scenario gets the name of this file.
        algorithms: Algorithms by the names of flows; `all` applies to flows that are not named.

    Raises:
        InputFileError: If no flow has both data and ACKs, which queueing delays are computed from, or the
            result is not a valid scenario.
    """
    flows = [flow for flow in captured.flows if flow.newest_rtts_s[1].size]
    if not flows:
        raise InputFileError(
            f"{path}: no flow has ACKs of data sent only once, so queueing delays are unknown"
        )
    forward = _forward(flows)
    backward = [flow for flow in flows if flow not in forward]
    ahead, back = _way(forward), _way(backward) if backward else None
    bases_s = [_base_s(flow, back if back and flow in backward else ahead) for flow in flows]
    with of_file(path, "capture"):
        twin = Twin(_scenario(captured, path, algorithms, flows, (ahead, back), bases_s))
    unknown = "" if ahead.is_full else ", because the link was never full for long"
    twin.guessed.append(
        f"RTT: {min(bases_s) * 1e3:.4g} ms, the smallest of a handshake or a segment,"
        f" {'without' if ahead.is_full else 'with'} the transmission time{unknown};"
        " both directions get half of it"
    )
    _say(", forward" if back else "", ahead, twin)
    if back:
        _say(", backward", back, twin)
    else:
        twin.guessed.append("the other direction, in which only ACKs were sent, is assumed to be equal")
    _say_of_senders(flows, algorithms, twin)
    doubtful = [flow for flow in flows if flow.is_mss_guess or flow.mss > MOST_MSS_BYTES]
    if doubtful:
        twin.guessed.append(f"{_first_of(doubtful)}: {mss_told(doubtful[0])}")
    if left_out := len(captured.flows) - len(flows):
        twin.unknown.append(f"flows without an RTT sample: {left_out:,}, which are left out")
    return twin


def _forward(flows: Sequence[Flow]) -> list[Flow]:
    """Return the flows in the direction of the largest flow: all flows to, or all flows from, one host.

    This host is the sender or the receiver of the largest flow, whichever more flows share.

    On loopback, where both ends have one address, ports distinguish the hosts.
    """
    hosts = Counter(host for flow in flows for host in _hosts(flow))
    first = _hosts(flows[0])
    near = max(first, key=lambda host: hosts[host])
    return [flow for flow in flows if _hosts(flow)[1 - first.index(near)] != near]


def _hosts(flow: Flow) -> tuple[str, str]:
    """Return the addresses of sender and receiver, with ports if the addresses are equal."""
    sender, receiver = (end.rpartition(".")[0] for end in flow.ends)
    return flow.ends if sender == receiver else (sender, receiver)


def _way(flows: Sequence[Flow]) -> Way:
    longest_s = max(float(flow.newest_rtts_s[1].max()) for flow in flows)
    rates_bps = _rates_bps(flows, longest_s)
    ceiling = ceiling_bps(rates_bps, _STEP_S)
    losses = [(rises_s, packets) for rises_s, packets in map(_losses, flows) if rises_s.size]
    full_s = [float(np.percentile(rises_s, _AT_LOSS)) for rises_s, _ in losses]
    return Way(
        ceiling or busy_bps(rates_bps, _STEP_S, _WINDOW_RTTS * longest_s),
        ceiling is not None,
        max(full_s, default=None),
        round(max(float(np.ptp(flow.newest_rtts_s[1])) for flow in flows), 9),
        sum(int(packets.sum()) for _, packets in losses),
        sum(
            int(packets[rises_s < _NOT_FULL * full].sum())
            for (rises_s, packets), full in zip(losses, full_s, strict=True)
        ),
        sum(int(again.is_doubtful.sum()) for flow in flows if (again := flow.retransmissions)),
        sum(int(flow.packets.sum()) for flow in flows),
    )


def _rates_bps(flows: Sequence[Flow], longest_s: float) -> Floats:
    """Return the arrival rate of all flows in every step outside pauses, headers included: bit/s,
    shape (n,)."""
    arrived = [_arrivals(flow) for flow in flows]
    end_s = max(float(times_s[-1]) for times_s, _ in arrived)
    begin_s = min(float(times_s[0]) for times_s, _ in arrived)
    total = np.zeros(int((end_s - begin_s) / _STEP_S) + 1)
    for times_s, bytes_ in arrived:
        place = ((times_s - begin_s) / _STEP_S).astype(np.int64)
        total += np.bincount(place, bytes_, total.size)
    return np.asarray(total[is_running(total, _STEP_S, longest_s)] * 8 / _STEP_S)


def _arrivals(flow: Flow) -> tuple[Floats, Floats]:
    """Return times and bytes of arrivals at the receiver, with headers: as captured at the receiver, or as
    reported by ACKs."""
    factor = 1 + HEADERS_BYTES / flow.mss
    cells = flow.cells
    if flow.side.name == "receiver" or cells is None:
        return flow.sent_s, np.asarray(flow.data.payload[flow.rows] * factor, dtype=np.float64)
    known = cells.reported < flow.acks.time_s.size
    bytes_ = np.bincount(cells.reported[known], cells.length[known], flow.acks.time_s.size)
    return flow.acks.time_s, np.asarray(bytes_ * factor, dtype=np.float64)


def _losses(flow: Flow) -> tuple[Floats, Ints]:
    """Return, for every lost segment, the queueing delay next to it, and the packets in the segment.

    The delay is the larger of two: the delay of the segment that passes the capture before the lost segment,
    and the delay of the segment after it.
    """
    cells, again = flow.cells, flow.retransmissions
    seen_s, rtts_s = flow.newest_rtts_s
    if cells is None or again is None or not seen_s.size:
        return np.array([]), np.array([], dtype=np.int64)
    own_s = flow.answers_s[2]
    passed_s = seen_s + (rtts_s - own_s) if flow.side.name == "receiver" else seen_s - own_s
    order = np.argsort(passed_s, kind="stable")
    lost, times_s = _lost(flow, cells, again)
    after = np.minimum(np.searchsorted(passed_s[order], times_s), seen_s.size - 1)
    beside = rtts_s[order][np.maximum(after - 1, 0)], rtts_s[order][after]
    rises_s = np.maximum(*beside) - rtts_s.min()
    return rises_s, flow.packets[lost]


def _lost(flow: Flow, cells: Cells, again: Retransmissions) -> tuple[Ints, Floats]:
    """Return the lost segments and their capture times.

    A segment lost before the point of capture is represented by its retransmission, with the capture time of
    the segment that revealed the hole.
    """
    repeated = np.flatnonzero((cells.nth > 0) & ~again.is_spurious[cells.segment])
    seen = np.unique(cells.segment[repeated - 1])
    unseen = np.setdiff1d(np.flatnonzero(again.packets > 0), cells.segment[cells.nth > 0])
    lost = np.concatenate([seen, unseen])
    return lost, np.concatenate([flow.sent_s[seen], flow.sent_s[flow.overtaking[unseen]]])


def _base_s(flow: Flow, way: Way) -> float:
    """Return the base RTT of a flow, minus the transmission time if the rate of the path is known.

    For a link that was not saturated, only a lower bound of the rate is known, so nothing is subtracted.
    """
    byte_s = 8 / way.rate_bps if way.is_full else 0.0
    measured = [float(flow.newest_rtts_s[1].min()) - (flow.mss + 2 * HEADERS_BYTES) * byte_s]
    if flow.side.handshake_s is not None:
        measured.append(flow.side.handshake_s - 2 * HEADERS_BYTES * byte_s)
    return max(min(measured), 1e-6)


def _say(word: str, way: Way, twin: Twin) -> None:
    if way.is_ceiling:
        twin.guessed.append(
            f"rate{word}: {way.rate_bps / 1e6:.4g} Mbit/s with headers of {HEADERS_BYTES} B; all flows"
            " together often have this rate, and hardly ever a slightly higher rate"
        )
    else:
        twin.unknown.append(
            f"rate{word}: at least {way.rate_bps / 1e6:.4g} Mbit/s with headers of {HEADERS_BYTES} B; a tenth"
            f" of all windows of {_WINDOW_RTTS} RTTs exceed this rate; the link was never busy for long"
        )
    if way.rise_s is None or way.rise_s * way.rate_bps <= 0:
        twin.unknown.append(
            f"buffer{word}: at least {way.longest_s * 1e3:.4g} ms, the longest queueing delay; no loss shows"
            " that the buffer was full"
        )
    else:
        twin.guessed.append(
            f"buffer{word}: {way.rise_s * 1e3:.4g} ms, the queueing delay of packets sent next to dropped"
            " packets; the buffer is assumed to be drop-tail"
        )
    if way.doubtful:
        twin.unknown.append(
            f"random loss{word}: {way.doubtful:,} segments were dropped or overtaken; the capture does not"
            " show which"
        )
    elif _probability(way) is not None:
        twin.guessed.append(
            f"random loss{word}: {way.at_random:,} of {way.sent:,} packets were dropped while the buffer was"
            " not full; drops by an AQM or a policer would look the same"
        )
    elif way.lost:
        twin.unknown.append(
            f"random loss{word}: {way.lost:,} packets were dropped, {way.at_random:,} of them while the"
            f" buffer was not full; an estimate needs {FEW_EVENTS} of these"
        )


def _probability(way: Way) -> float | None:
    """Return the probability of random loss, or None if too few losses occurred without a full buffer."""
    return way.at_random / way.sent if way.at_random >= FEW_EVENTS and not way.doubtful else None


def _say_of_senders(flows: Sequence[Flow], algorithms: Mapping[str, str], twin: Twin) -> None:
    unsaid = [flow for flow in flows if algorithm_of(flow, algorithms) is None]
    if unsaid:
        twin.unknown.append(
            f"algorithm of {_first_of(unsaid)}: {_TAKEN} is assumed; give another with --cca all=NAME"
        )
    if any(algorithm_of(flow, algorithms) not in {*FILLING, None} for flow in flows):
        twin.unknown.append("buffer: an algorithm that keeps queues short may never have filled the buffer")
    held_back = [flow.name for flow in flows if (flow.receiver_share or 0.0) > 0.5]
    if held_back:
        twin.unknown.append(
            f"rate for {held_back[0]}: the receive window limited the flow for more than half of the time"
        )
    if any(flow.side.name in ("middle", "unknown") for flow in flows):
        twin.unknown.append("queues before and after the point of capture are modelled as one queue")


def _first_of(flows: Sequence[Flow]) -> str:
    return f"{flows[0].name} and {len(flows) - 1} more" if len(flows) > 1 else flows[0].name


def _scenario(
    captured: Captured,
    path: Path,
    algorithms: Mapping[str, str],
    flows: Sequence[Flow],
    ways: tuple[Way, Way | None],
    bases_s: Sequence[float],
) -> Scenario:
    """Return the scenario of the flows with the estimated path."""
    said = {flow.name: algorithm_of(flow, algorithms) or _TAKEN for flow in flows}
    tree = scenario_of(path, flows, captured.capture.duration_s, said).to_dict()
    base_s, (ahead, back) = min(bases_s), ways
    topology: dict[str, Any] = {"kind": "dumbbell", "bottleneck": _link(ahead, base_s)}
    if back is not None:
        topology["reverse"] = _link(back, base_s)
    else:
        topology["reverse"] = {key: value for key, value in _link(ahead, base_s).items() if key != "loss"}
    forward = _forward(flows)
    for made, flow, own_s in zip(tree["flows"], flows, bases_s, strict=True):
        if flow not in forward:
            made["direction"] = "reverse"
        if own_s - base_s > _FULL_SHARE * base_s:
            made["access"] = {"delay": f"{(own_s - base_s) / 4:.6g} s"}  # an RTT crosses four access links
    return Scenario(**{**tree, "name": f"{tree['name']} twin", "topology": topology})


def _link(way: Way, base_s: float) -> dict[str, Any]:
    link: dict[str, Any] = {"rate": f"{way.rate_bps:.0f} bit/s", "delay": f"{base_s / 2:.6g} s"}
    probability = _probability(way)
    if way.rise_s is not None and way.rise_s > _FULL_SHARE * base_s:
        size = max(math.ceil(way.rise_s * way.rate_bps / 8), _LEAST_BUFFER_BYTES)
        link["queue"] = {"kind": "drop_tail", "bytes": f"{size} B"}
    if probability is not None:
        link["loss"] = {"kind": "bernoulli", "probability": float(f"{probability:.3g}")}
    return link
