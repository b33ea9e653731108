"""The buffers of a path of which pings show both queues together, with streams both ways.

Streams that go both ways compress each other's ACKs, and then the two queues fill in turn: while one is full
the other is nearly empty (Zhang, Shenker and Clark 1991, "Observations on the dynamics of a congestion
control algorithm: the effects of two-way traffic"). So a ping that passes when a packet is dropped has waited
in one full buffer, and not in two.
"""

from collections.abc import Iterator

import numpy as np

from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.send_memory import FEW_EVENTS, may_fill
from fullpipe.engines.flent.series import ECHOES, Floats, Series

_FALLEN = 0.9
"""A window below so much of the one before has met a loss: all that fill buffers keep 0.5 to 0.875 of it."""

_RARE, _AT_LOSS = 95, 75
"""Percentiles of waits: of all after slow start, and of those at a loss."""


def full_wait_s(test: Test) -> float | None:
    """The wait in a full buffer, from pings through both; None without any.

    With one stream each way that fills buffers, or none that uploads, it is what a twentieth of pings exceed
    after the first loss: the two queues are hardly ever full at once but in slow start, in which ACKs are not
    compressed yet. With more streams, queues overlap now and then, and it is the wait of pings that pass at
    the time of a loss of an upload, which its window tells; or the median of all while streams run, if there
    are too few of those. Of these pings it is the third quartile: a window that was sampled late tells a
    queue that has already drained.
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
    lost_s = seen_s - rtts_s[_nearest(sent_s, seen_s)]  # the window falls a round trip after the loss
    return float(np.percentile(rises_s[_nearest(sent_s, lost_s)], _AT_LOSS))


def _pings(test: Test) -> tuple[Floats, Floats, Floats]:
    """Of pings and probes of best effort in the order in which they were sent: when, how much longer they
    took than the fastest to the same host, and how long."""
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
    """When the window of a stream fell: between the sample before and the one that shows it."""
    points = [point for point in one.sockets if point.get("tcp_cwnd") is not None]
    times_s, windows = test.timing.since(one.column("t", points)), one.column("tcp_cwnd", points)
    for place in np.flatnonzero(windows[1:] < _FALLEN * windows[:-1]):
        yield float(times_s[place : place + 2].mean())


def _nearest(sent_s: Floats, times_s: Floats) -> np.ndarray:
    """The places of the pings that were sent nearest to some times."""
    after = np.clip(np.searchsorted(sent_s, times_s), 1, max(sent_s.size - 1, 1))
    before = after - 1
    after = np.minimum(after, sent_s.size - 1)
    is_before = times_s - sent_s[before] < sent_s[after] - times_s
    return np.where(is_before, before, after)
