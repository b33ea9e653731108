"""Conversion of irregular samples to a grid of regular steps, as in the tables of a run."""

import math

import numpy as np

from fullpipe.engines.flent.series import Floats

_STALE_STEPS = 1.5
"""Steps for which a value of a socket is valid if no other follows."""


def rates_bps(ends_s: Floats, lasts_s: Floats, mbps: Floats, grid_s: Floats) -> Floats:
    """Return the mean rate in the step before each time of a grid.

    Args:
        ends_s: End of every sample, shape (n,).
        lasts_s: Duration of every sample, shape (n,).
        mbps: Rate of every sample in Mbit/s, shape (n,).
        grid_s: Times at regular distances, the first one step after 0 s, shape (m,).

    Returns:
        bit/s, shape (m,). The bits on the grid equal those of the samples within it. NaN before the first
        sample and after the last.
    """
    if not ends_s.size or not grid_s.size:
        return np.full(grid_s.size, math.nan)
    begins_s = np.maximum(ends_s - lasts_s, np.concatenate([[-math.inf], ends_s[:-1]]))
    bits = mbps * 1e6 * lasts_s
    times = np.column_stack([begins_s, ends_s]).ravel()
    delivered = np.column_stack([np.cumsum(bits) - bits, np.cumsum(bits)]).ravel()
    edges = np.concatenate([[grid_s[0] - (grid_s[1] - grid_s[0] if grid_s.size > 1 else grid_s[0])], grid_s])
    found: Floats = np.diff(np.interp(edges, times, delivered)) / np.diff(edges)
    found[(grid_s <= begins_s[0]) | (edges[:-1] >= ends_s[-1])] = math.nan
    return found


def latest(times_s: Floats, values: Floats, grid_s: Floats) -> Floats:
    """Return the latest value at each time of a grid; NaN if it is older than 1.5 steps.

    Args:
        times_s: Times of the values, ascending, shape (n,).
        values: The values, shape (n,); NaN if a point has none.
        grid_s: Times of the grid, shape (m,).
    """
    known = ~np.isnan(values)
    times_s, values = times_s[known], values[known]
    if not times_s.size or not grid_s.size:
        return np.full(grid_s.size, math.nan)
    step_s = grid_s[1] - grid_s[0] if grid_s.size > 1 else math.inf
    place = np.searchsorted(times_s, grid_s, side="right") - 1
    found: Floats = values[np.maximum(place, 0)].copy()
    old = grid_s - times_s[np.maximum(place, 0)] > _STALE_STEPS * step_s
    found[(place < 0) | old] = math.nan
    return found


def means(times_s: Floats, values: Floats, grid_s: Floats) -> Floats:
    """Return the mean of the values in the step before each time of a grid; NaN for a step without values."""
    place = np.searchsorted(grid_s, times_s)
    inside = (place < grid_s.size) & ~np.isnan(values)
    count = np.bincount(place[inside], minlength=grid_s.size)
    total = np.bincount(place[inside], weights=values[inside], minlength=grid_s.size)
    found: Floats = np.divide(total, count, out=np.full(grid_s.size, math.nan), where=count > 0)
    return found
