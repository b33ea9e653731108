"""Estimates of a measured path: the rate of its links, their buffers, and the memory of sending sockets."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fullpipe.engines.flent.described import retransmissions, totals_of
from fullpipe.engines.flent.document import text
from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.series import ECHOES, Floats, Series
from fullpipe.engines.imported.measurement import FEW_EVENTS, FILLING

# The smallest drop-tail queue with which streams saturate a link.


_UNUSED = 0.05
"""Largest unused share of a saturated link."""
_KEPT = 0.7
"""Share of the window that CUBIC keeps after a loss (RFC 9438, section 4.6)."""


def least_wait_s(test: Test, streams: Sequence[Series], rtts_s: Mapping[str, float]) -> float:
    """Return the queueing delay of the smallest drop-tail queue with which CUBIC streams saturate a link,
    when this queue is full.

    Formula: r is the base RTT (without queueing), averaged over all bytes, and q is the delay of a full
    queue. If the window falls to b times its maximum, which is (r + q) times the rate, and then rises
    linearly, it leaves the share (r - b (r + q))^2 / (2 (1 - b) (r + q) r) of the link unused. The result is
    the q that leaves 5 % of the link unused, divided by sqrt(n) for n streams. Source: Appenzeller, Keslassy
    and McKeown 2004, "Sizing router buffers", for sqrt(n).

    Args:
        test: The test.
        streams: The streams of one direction, at least one.
        rtts_s: Base RTT to every host, without queueing. A stream to a host without an entry gets the
            smallest RTT.
    """
    nearest_s = min(rtts_s.values())
    weights = np.array([totals_of(one, test.timing).goodput_bps or 0.0 for one in streams])
    each_s = np.array([rtts_s.get(one.host, nearest_s) for one in streams])
    mean_s = float(np.average(each_s, weights=weights)) if weights.sum() > 0 else nearest_s
    linear = 2 * _KEPT + 2 * _UNUSED * (1 - _KEPT)
    full = (linear - math.sqrt(linear**2 - 4 * _KEPT**2)) / (2 * _KEPT**2)
    return (full - 1) * mean_s / math.sqrt(len(streams))


# Detection of streams that were limited by the memory of their sockets, not by the path.


_FLAT_SHARE = 0.5
"""A congestion window counts as flat if at least this share of its samples equal its maximum. Linux increases
the congestion window only while the flow uses it fully (tcp_is_cwnd_limited)."""
_LARGEST_MSS = 9_000
_LEAST_PAYLOAD = 0.5
"""Smallest share of the memory of a full send buffer that payload takes. The overhead of a full segment takes
less memory than the segment's payload."""


def may_fill(test: Test, one: Series) -> bool:
    """Whether a stream can fill a buffer: its algorithm is loss-based, or unknown."""
    return test.names.known(one.algorithm) in {*FILLING, None}


@dataclass(frozen=True)
class SendMemory:
    """The sizes in net.ipv4.tcp_wmem of the test host, in bytes."""

    first: int
    most: int

    def keys(self) -> Mapping[str, str]:
        """Return these sizes as keys of the table `tcp` of a scenario."""
        return {"send_memory": f"{self.first} B", "send_memory_most": f"{self.most} B"}


def send_memory_of(test: Test) -> SendMemory | None:
    """Return the memory of a sending socket on the test host, or None if the file does not contain it."""
    words = text(test.document.table("SYSCTLS"), "net.ipv4.tcp_wmem").split()
    if len(words) != 3 or not all(word.isascii() and word.isdecimal() and len(word) < 11 for word in words):
        return None
    _, first, most = map(int, words)
    return SendMemory(first, most) if _LARGEST_MSS <= first <= most < 2**31 else None


def is_held_back(test: Test, one: Series, memory: SendMemory) -> bool:
    """Whether an upload was limited by the memory of its socket.

    An upload counts as limited in this way if it used a loss-based algorithm, had fewer than 10
    retransmissions and a flat window, and had at least half as many bytes in flight as the memory of its
    socket.
    """
    events, goodput_bps = retransmissions(one), totals_of(one, test.timing).goodput_bps
    windows, rtts_ms = (one.column(key, one.sockets) for key in ("tcp_cwnd", "tcp_rtt"))
    windows, rtts_ms = windows[~np.isnan(windows)], rtts_ms[~np.isnan(rtts_ms)]
    if test.names.algorithm(one) not in FILLING or not one.is_upload or not windows.size or not rtts_ms.size:
        return False
    if events is None or events >= FEW_EVENTS or goodput_bps is None:
        return False
    is_flat = float((windows == windows.max()).mean()) >= _FLAT_SHARE
    under_way = goodput_bps / 8 * float(np.median(rtts_ms)) * 1e-3
    return is_flat and under_way >= _LEAST_PAYLOAD * memory.most


# Estimation of buffers from pings that pass the queues of both directions, with streams in both directions.
#
# Streams in both directions compress each other's ACKs, so that the two queues fill alternately: while one
# is full, the other is nearly empty (Zhang, Shenker and Clark 1991, "Observations on the dynamics of a
# congestion control algorithm: the effects of two-way traffic"). So a ping at the time of a drop has waited
# in only one full buffer.


_FALLEN = 0.9
"""Ratio of successive samples of the congestion window below which a loss is assumed. After a loss,
loss-based algorithms keep 0.5 to 0.875 of the window."""

_RARE, _AT_LOSS = 95, 75
"""Percentiles of queueing delays: of all pings after slow start, and of pings sent at the time of a loss."""


def full_wait_s(test: Test) -> float | None:
    """Return the queueing delay of a full buffer, computed from pings; None without pings.

    With at most two loss-based streams, or without uploads, the result is the p95 of the queueing delays of
    pings after the first loss. A ping passes the queues of both directions. After slow start, streams
    compress each other's ACKs, so these two queues are rarely full at the same time.

    With more streams, the queues of both directions are full at the same time now and then. A drop of an
    upload's window reveals a loss, and the ping sent nearest to each loss gives a queueing delay. The result
    is the p75 of these delays, because a late sample of the window can select a ping that was sent after the
    queue had drained. With fewer than 10 losses, the result is the median queueing delay of all pings while
    streams run.
    """
    sent_s, rises_s, rtts_s = _pings(test)
    begin_s, end_s = test.timing.delay_s, test.timing.delay_s + test.timing.length_s
    loaded = (sent_s >= begin_s) & (sent_s <= end_s)
    if not loaded.any():
        return None
    filling = [one for one in test.streams if may_fill(test, one)]
    uploads = [one for one in filling if one.is_upload]
    seen_s = np.array([time_s for one in uploads for time_s in _falls_s(test, one)])
    seen_s = seen_s[(seen_s >= begin_s) & (seen_s <= end_s)]
    if not uploads or len(filling) <= 2:
        repaired_s = seen_s.min() + 2 * rtts_s.max() if seen_s.size else begin_s
        later = loaded & (sent_s >= repaired_s)
        return float(np.percentile(rises_s[later if later.any() else loaded], _RARE))
    if seen_s.size < FEW_EVENTS:
        return float(np.median(rises_s[loaded]))
    lost_s = seen_s - rtts_s[_nearest(sent_s, seen_s)]  # the window falls one RTT after the loss
    return float(np.percentile(rises_s[_nearest(sent_s, lost_s)], _AT_LOSS))


def _pings(test: Test) -> tuple[Floats, Floats, Floats]:
    """Return send times, queueing delays and RTTs of best-effort pings and probes, in the order of sending.

    The queueing delay is the RTT minus the smallest RTT to the same host.
    """
    found = []
    for one in test.series:
        if one.kind in ECHOES and one.mark is None and one.values:
            rtts_s = one.column("val", one.values) * 1e-3
            sent_s = test.timing.since(one.column("t", one.values)) - rtts_s
            found.append(np.vstack([sent_s, rtts_s - rtts_s.min(), rtts_s]))
    if not found:
        return np.array([]), np.array([]), np.array([])
    together = np.hstack(found)
    sent_s, rises_s, rtts_s = together[:, np.argsort(together[0], kind="stable")]
    return sent_s, rises_s, rtts_s


def _falls_s(test: Test, one: Series) -> Iterator[float]:
    """Yield the times at which the congestion window of a stream fell: the middle between two samples of the
    window."""
    points = [point for point in one.sockets if point.get("tcp_cwnd") is not None]
    times_s, windows = test.timing.since(one.column("t", points)), one.column("tcp_cwnd", points)
    for place in np.flatnonzero(windows[1:] < _FALLEN * windows[:-1]):
        yield float(times_s[place : place + 2].mean())


def _nearest(sent_s: Floats, times_s: Floats) -> np.ndarray:
    """Return, for each of the given times, the index of the ping whose send time is nearest."""
    after = np.clip(np.searchsorted(sent_s, times_s), 1, max(sent_s.size - 1, 1))
    before = after - 1
    after = np.minimum(after, sent_s.size - 1)
    is_before = times_s - sent_s[before] < sent_s[after] - times_s
    return np.where(is_before, before, after)
