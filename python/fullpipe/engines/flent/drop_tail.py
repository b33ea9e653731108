"""The smallest drop-tail queue with which streams saturate a link."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fullpipe.engines.flent.remarks import Test
from fullpipe.engines.flent.series import Series
from fullpipe.engines.flent.totals import totals_of

_UNUSED = 0.05
"""Largest unused share of a saturated link."""
_KEPT = 0.7
"""Share of the window that CUBIC keeps after a loss (RFC 9438, section 4.6)."""


def least_wait_s(test: Test, streams: Sequence[Series], rtts_s: Mapping[str, float]) -> float:
    """Return the delay of the smallest full drop-tail queue with which CUBIC streams saturate a link.

    Formula: a window that falls to the share b of r + q and then rises linearly leaves
    (r - b (r + q))^2 / (2 (1 - b) (r + q) r) of the link unused. It is solved for q and divided by sqrt(n)
    for n streams. r is the mean RTT of all bytes.
    Source: Appenzeller, Keslassy and McKeown 2004, "Sizing router buffers", for sqrt(n).

    Args:
        test: The test.
        streams: The streams of one direction, at least one.
        rtts_s: RTT without a queue to every host. A stream to another host gets the smallest.
    """
    nearest_s = min(rtts_s.values())
    weights = np.array([totals_of(one, test.timing).goodput_bps or 0.0 for one in streams])
    each_s = np.array([rtts_s.get(one.host, nearest_s) for one in streams])
    mean_s = float(np.average(each_s, weights=weights)) if weights.sum() > 0 else nearest_s
    linear = 2 * _KEPT + 2 * _UNUSED * (1 - _KEPT)
    full = (linear - math.sqrt(linear**2 - 4 * _KEPT**2)) / (2 * _KEPT**2)
    return (full - 1) * mean_s / math.sqrt(len(streams))
