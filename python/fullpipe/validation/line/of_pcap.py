"""A capture of bulk flows as the measurement of a line: RTTs of their segments, and what arrived."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fullpipe.engines.pcap import Flow, flows_of
from fullpipe.engines.pcap.capture import read
from fullpipe.engines.pcap.pauses import is_running
from fullpipe.errors import InputFileError
from fullpipe.scenario.model.tcp import HEADERS_BYTES
from fullpipe.validation.line.measured import WAYS, Measured, Rates, Way
from fullpipe.validation.line.segment_rtts import segment_rtts

_STEP_S = 0.1
_OF_SIDE: dict[str, Way] = {"sender": "up", "receiver": "down"}
_LEAST_STEPS = 10


def measured_of(path: Path) -> Measured:
    """What a capture says of the line of the computer on which it was taken.

    Raises:
        InputFileError: If it is no capture, or no ACK says how long data of a bulk flow took.
    """
    flows = [flow for flow in flows_of(read(path).connections)[0] if flow.has_acks and flow.least_rtt_s]
    timed = [flow for flow in flows if flow.newest_rtts_s[1].size]
    if not timed:
        raise InputFileError(
            f"{path}: no bulk flow of TCP has data and ACKs that say an RTT; capture a download or an upload"
        )
    of_way = {way: [flow for flow in flows if _way(flow) == way] for way in WAYS}
    rates = {way: of for way in WAYS if (of := _rates(of_way[way])) is not None}
    if not rates:
        raise InputFileError(
            f"{path}: no bulk flow lasts for {_LEAST_STEPS * _STEP_S:g} s; capture a longer one"
        )
    found = segment_rtts(timed)
    nearest = found.nearest
    handshake_s = nearest.side.handshake_s
    is_handshake = handshake_s is not None and handshake_s <= (nearest.least_rtt_s or 0.0)
    there = HEADERS_BYTES + (0 if is_handshake else nearest.mss)
    told = ["RTT and waits: of segments, not of pings"]
    if any(flow.side.name not in _OF_SIDE for flow in flows):
        told.append(
            "direction: it is not seen on which side the capture was taken; taken for that of a receiver"
        )
    return Measured(
        found.pings,
        rates,
        one_clock=True,
        told=told,
        least_rtt_s=nearest.least_rtt_s,
        echo=(there, HEADERS_BYTES),
        has_unsure=found.has_unsure,
    )


def _way(flow: Flow) -> Way:
    return _OF_SIDE.get(flow.side.name, "down")


def _rates(flows: Sequence[Flow]) -> Rates | None:
    """Bytes that flows of one direction delivered together, in steps without their pauses."""
    if not flows:
        return None
    begin_s = min(flow.span_s[0] for flow in flows)
    end_s = max(flow.span_s[1] for flow in flows)
    edges_s = np.arange(begin_s, end_s, _STEP_S)
    arrived, seen = np.zeros(edges_s.size), np.zeros(edges_s.size)
    for flow in flows:
        times_s, front = flow.delivered
        place = np.searchsorted(times_s, edges_s, side="right")
        arrived += np.concatenate([[0.0], np.maximum.accumulate(front)])[place]
        seen += np.searchsorted(flow.sent_s, edges_s, side="right")
    longest_s = max((float(flow.rtts_s[1].max()) for flow in flows if flow.rtts_s[1].size), default=0.0)
    # Nothing is delivered while a hole is open, though data arrive.
    runs = is_running(np.diff(arrived + seen), _STEP_S, longest_s)
    bps = np.diff(arrived)[runs] * 8 / _STEP_S
    if bps.size < _LEAST_STEPS or not bps.any():
        return None
    counts = [None if flow.retransmissions is None else flow.retransmissions.total for flow in flows]
    known = [count for count in counts if count is not None]
    resent = sum(known) if len(known) == len(counts) else None
    return Rates(edges_s[1:][runs], np.full(bps.size, _STEP_S), bps, mss=flows[0].mss, resent=resent)
