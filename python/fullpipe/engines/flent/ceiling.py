"""Estimation of a link's rate from the ceiling of the streams' rates.

A link that is never idle within a window delivers its rate, whatever the streams do. So windows in which it
was busy agree to within a packet, and hardly any window is just above. If streams leave the link idle, rates
vary, with as many windows just above any rate as just below.
"""

import math

import numpy as np

from fullpipe.engines.flent.series import Floats

_PACKET_BITS = 1514 * 8
_BUSY = 90
"""Percentile of the rates in windows. On a path of constant rate, most windows have the rate of a full link,
and none is above it for long. On a path of changing rate, it is the rate in good times."""
_FINE_PACKETS = 200
"""Smallest number of packets in a window, so that one packet changes its rate by half a percent."""
_LEAST_SHARE = 0.0025
"""Smallest relative width of a ceiling. Windows of a busy link differ by it even with many packets, as ACKs
of other streams are estimated."""
_FEWEST = 20
"""Smallest number of disjoint windows at a ceiling."""
_MOST_ABOVE = 1 / 3
"""Largest ratio of windows just above a ceiling to windows at it. For evenly distributed rates, it would be
3/2: if 30 windows are expected, 6 occur by chance once in millions of times (Poisson)."""

_LEAST_OF_NEAR = 1 / 2
"""Smallest share of windows at a ceiling among those in four times its width. For evenly distributed rates,
it is a quarter."""


def busy_bps(rates_bps: Floats, step_s: float, window_s: float) -> float:
    """Return p90 of the rates in windows, or the mean rate if there is no whole window.

    Args:
        rates_bps: Delivered rates in consecutive steps, with headers, shape (n,), at least one.
        step_s: Length of a step.
        window_s: Length of a window.
    """
    window = max(math.ceil(window_s / step_s), 1)
    if rates_bps.size < window:
        return float(rates_bps.mean())
    sums = np.cumsum(np.concatenate([[0.0], rates_bps]))
    return float(np.percentile((sums[window:] - sums[:-window]) / window, _BUSY))


def ceiling_bps(rates_bps: Floats, step_s: float) -> float | None:
    """Return the rate of a link that was busy for a while.

    Args:
        rates_bps: Delivered rates in consecutive steps, with headers, shape (n,).
        step_s: Length of a step.

    Returns:
        bit/s; None without a ceiling, in which case only a lower bound of the rate is known.
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
    """Return, for each of ascending rates, the number of rates between two multiples of it."""
    ends = np.searchsorted(rates, rates * high, side="right")
    found: Floats = (ends - np.searchsorted(rates, rates * low)).astype(np.float64)
    return found
