"""Totals of a flow after the warm-up: bytes, packets and losses."""

import math
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.document import number
from fullpipe.engines.flent.series import ECHOES, RATES, Series
from fullpipe.engines.flent.timing import Timing


@dataclass(frozen=True)
class Totals:
    """Values for the table of flows. None: not in the file."""

    start_s: float
    end_s: float
    delivered_bytes: int | None = None
    goodput_bps: float | None = None
    sent_packets: int | None = None
    retransmitted_packets: int | None = None
    lost_packets: int | None = None


def totals_of(one: Series, timing: Timing) -> Totals:
    """Return the totals of a flow of any kind."""
    if one.kind in RATES:
        return _of_stream(one, timing)
    lost = _lost(one)
    sent = None if lost is None else lost + len(one.values)
    return Totals(0.0, timing.duration_s, sent_packets=sent, lost_packets=lost)


def _of_stream(one: Series, timing: Timing) -> Totals:
    """Return the bytes and the time that netperf reports at the end, or the sum of the samples."""
    start_s = one.first_s - timing.origin_s
    times_s = one.column("t", one.values)
    lasts_s = np.nan_to_num(one.column("dur", one.values), nan=timing.step_s)
    sampled_bytes = float((one.column("val", one.values) * 1e6 / 8 * lasts_s).sum())
    end_s = float(timing.since(times_s)[-1]) if times_s.size else start_s
    received, took_s = (number(one.meta.get(key)) for key in ("BYTES_RECVD", "ELAPSED_TIME"))
    if received is not None and received >= 0 and took_s and 0 < took_s <= 2 * timing.duration_s:
        end_s, delivered = start_s + took_s, received
    else:
        took_s, delivered = end_s - start_s, sampled_bytes
    goodput = delivered * 8 / took_s if took_s > 0 else None
    resent = retransmissions(one) if one.kind == "tcp" else None
    sent = _segments(one, resent or 0)
    return Totals(start_s, end_s, round(delivered), goodput, sent, resent)


def mss_of(one: Series) -> int | None:
    """Return the MSS of a stream's socket, or None if it is missing or impossible."""
    mss = one.meta.get("TCP_MSS")
    return mss if isinstance(mss, int) and not isinstance(mss, bool) and 1 <= mss <= 9_000 else None


def _segments(one: Series, resent: int) -> int | None:
    """Return the sent packets of a stream: full segments of all bytes, plus retransmissions."""
    mss, sent_bytes = mss_of(one), number(one.meta.get("BYTES_SENT"))
    if mss is None or sent_bytes is None or sent_bytes < 0:
        return None
    return math.ceil(sent_bytes / mss) + resent


def retransmissions(one: Series) -> int | None:
    """Return the retransmitted packets, or None if the number is impossible: netperf could not read it."""
    said = number(one.meta.get("TCP_RETRANSMIT"))
    sent = number(one.meta.get("BYTES_SENT"))
    if said is None or said < 0 or said != math.floor(said):
        return None
    if sent is not None and said > max(sent, 1.0):
        return None
    return int(said)


def _lost(one: Series) -> int | None:
    """Return the number of packets without a reply before a later packet with a reply."""
    if one.kind not in (*ECHOES, "call"):
        return None
    said = sum(bool(point.get("lost")) for point in one.points)
    numbers = one.column("seq", one.values)
    if said or not numbers.size or np.isnan(numbers).any():
        return said or None
    gaps = round(numbers.max() - numbers.min()) + 1 - np.unique(numbers).size
    return gaps if gaps <= 100 * numbers.size else None
