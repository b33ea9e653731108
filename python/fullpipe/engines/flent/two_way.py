"""Estimation of buffers from pings through both queues, with streams in both directions.

Streams in both directions compress each other's ACKs, so that the two queues fill alternately: while one is
full, the other is nearly empty (Zhang, Shenker and Clark 1991, "Observations on the dynamics of a congestion
control algorithm: the effects of two-way traffic"). So a ping at the time of a drop has waited in one full
buffer, not in two.
"""

from collections.abc import Iterator

import numpy as np

from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.send_memory import FEW_EVENTS, may_fill
from fullpipe.engines.flent.series import ECHOES, Floats, Series

_FALLEN = 0.9
"""Ratio of successive windows below which a loss has occurred. Loss-based algorithms keep 0.5 to 0.875."""

_RARE, _AT_LOSS = 95, 75
"""Percentiles of queueing delays: of all pings after slow start, and of those at a loss."""


def full_wait_s(test: Test) -> float | None:
    """Return the queueing delay of a full buffer, from pings through both queues; None without pings.

    With at most one loss-based stream per direction, or without uploads, it is p95 of pings after the first
    loss. The two queues are then hardly ever full at once, except in slow start, when ACKs are not compressed
    yet.

    With more streams, the queues overlap at times. It is then the third quartile of the pings at losses of
    uploads, which their windows reveal. The third quartile is used because a window sampled late indicates a
    queue that has already drained. With too few losses, it is the median of all pings while streams run.
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
    """Yield the times at which the window of a stream fell: midway between two samples."""
    points = [point for point in one.sockets if point.get("tcp_cwnd") is not None]
    times_s, windows = test.timing.since(one.column("t", points)), one.column("tcp_cwnd", points)
    for place in np.flatnonzero(windows[1:] < _FALLEN * windows[:-1]):
        yield float(times_s[place : place + 2].mean())


def _nearest(sent_s: Floats, times_s: Floats) -> np.ndarray:
    """Return the indices of the pings sent nearest to given times."""
    after = np.clip(np.searchsorted(sent_s, times_s), 1, max(sent_s.size - 1, 1))
    before = after - 1
    after = np.minimum(after, sent_s.size - 1)
    is_before = times_s - sent_s[before] < sent_s[after] - times_s
    return np.where(is_before, before, after)
