"""The rate of a link by the ceiling that it sets to what streams deliver.

A link that is never idle within a window delivers its rate, whatever the streams do. So windows in which it
was busy agree to within what a packet more or less makes, and hardly any is just above. Streams that leave it
idle give rates that vary, with as many windows just above any rate as just below.
"""

import math

import numpy as np

from fullpipe.engines.flent.series import Floats

_PACKET_BITS = 1514 * 8
_BUSY = 90
"""Percentile of the rates in windows: of a path whose rate is constant most are those of a full link, and
none is above it for long. Of one that changes, it is the rate of its good times."""
_FINE_PACKETS = 200
"""Windows have so many packets at least, so that one more or less changes them by half a percent."""
_LEAST_SHARE = 0.0025
"""How far windows of a busy link differ where packets are many: ACKs of others are estimated."""
_FEWEST = 20
"""Windows without a common step that make a ceiling."""
_MOST_ABOVE = 1 / 3
"""Of the windows at a ceiling, just above it. Where rates vary evenly 3/2 of them would be: of 30 that are
expected 6 are seen by chance once in millions of times (Poisson)."""

_LEAST_OF_NEAR = 1 / 2
"""Of windows in four times the width, at a ceiling. Where rates vary evenly it is a quarter."""


def busy_bps(rates_bps: Floats, step_s: float, window_s: float) -> float:
    """What a tenth of all windows exceed; the mean if there is no whole window.

    Args:
        rates_bps: What was delivered in consecutive steps, with headers, shape (n,), at least one.
        step_s: Their length.
        window_s: That of windows.
    """
    window = max(math.ceil(window_s / step_s), 1)
    if rates_bps.size < window:
        return float(rates_bps.mean())
    sums = np.cumsum(np.concatenate([[0.0], rates_bps]))
    return float(np.percentile((sums[window:] - sums[:-window]) / window, _BUSY))


def ceiling_bps(rates_bps: Floats, step_s: float) -> float | None:
    """The rate of a link that was busy for a while.

    Args:
        rates_bps: What was delivered in consecutive steps, with headers, shape (n,).
        step_s: Their length.

    Returns:
        bit/s; None if no ceiling is seen, and so only the least that the link can do is known.
    """
    packets = float(np.median(rates_bps)) * step_s / _PACKET_BITS if rates_bps.size else 0.0
    if packets <= 0:
        return None
    steps = math.ceil(_FINE_PACKETS / packets)
    if rates_bps.size < steps * _FEWEST:
        return None
    share = max(_LEAST_SHARE, 1 / (steps * packets))
    rates = np.sort(np.convolve(rates_bps, np.ones(steps) / steps, mode="valid"))
    at = _count(rates, 1 - share, 1 + share)
    above = _count(rates, 1 + share, 1 + 4 * share)
    near = _count(rates, 1 - 4 * share, 1 + 4 * share)
    is_ceiling = (at >= _FEWEST * steps) & (above <= _MOST_ABOVE * at) & (at >= _LEAST_OF_NEAR * near)
    return float(rates[np.argmax(np.where(is_ceiling, at, 0))]) if is_ceiling.any() else None


def _count(rates: Floats, low: float, high: float) -> Floats:
    """How many of ascending rates lie between multiples of each."""
    ends = np.searchsorted(rates, rates * high, side="right")
    found: Floats = (ends - np.searchsorted(rates, rates * low)).astype(np.float64)
    return found
