"""Quantities over time, for one run or for several in the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from fullpipe.analysis.over_time import Tables, samples
from fullpipe.plots.actors import line_names
from fullpipe.plots.style import in_house_style, inches_across, legend_columns

_LONGER = 1.5
"""A gap, in usual distances of two samples."""
_ABOVE_THE_AXIS = 2.6
"""The layer of lines: a flow that gets nothing lies on the axis."""


def _parted(times_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Known samples, with a missing one in every gap. A flow that is measured less often than samples are
    taken, such as a ping, has no gaps between its samples."""
    known = np.isfinite(values)
    places = np.flatnonzero(known)
    if places.size < 2:
        return times_s, values
    between = np.diff(times_s[places])
    gaps = np.flatnonzero((np.diff(places) > 1) & (between > _LONGER * np.median(between))) + 1
    middles = (times_s[places[gaps - 1]] + times_s[places[gaps]]) / 2
    return np.insert(times_s[places], gaps, middles), np.insert(values[places], gaps, np.nan)


def _alone(values: np.ndarray) -> list[int]:
    """Places of samples between missing ones, of which a line shows nothing."""
    known = np.isfinite(np.concatenate([[np.nan], values, [np.nan]]))
    return [int(place) for place in np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:])]


@in_house_style
def time_series(
    axes: Axes,
    runs: Mapping[str, Tables],
    quantity: str,
    *,
    only: Sequence[str] | None = None,
    legend_up_to: int = 8,
) -> pl.DataFrame:
    """Draw a quantity of every run over time; `runs` maps a label to the tables of a run. A line has the name
    of its flow or link, after the label of the run if several runs have it.

    `only` keeps the flows or links of these names. Missing samples leave gaps, and a sample between two of
    them is a dot. Returns the columns run, actor, time_s, value, in the unit of the axis.

    Goodput is drawn as a mean over three round trips where samples are closer: bytes that waited behind a
    lost packet are delivered at once when it is repaired, in a short interval more than a link can carry."""
    data, label = samples(runs, quantity, only)
    drawn = data.partition_by("run", "actor", maintain_order=True)
    names = line_names((str(frame["run"][0]), str(frame["actor"][0])) for frame in drawn)
    for frame, name in zip(drawn, names.values(), strict=True):
        times_s, values = _parted(frame["time_s"].to_numpy(), frame["value"].to_numpy().astype(float))
        (line,) = axes.plot(times_s, values, label=name, zorder=_ABOVE_THE_AXIS)
        if alone := _alone(values):
            line.set(marker=".", markersize=3, markevery=alone)
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    if np.nanmin(data["value"].fill_null(float("nan")).to_numpy(), initial=0) >= 0:
        axes.set_ylim(bottom=0)
    if 1 < len(drawn) <= legend_up_to:
        labels = [str(line.get_label()) for line in axes.lines]
        axes.legend(ncols=min(legend_columns(labels, inches_across(axes)), 4)).set_in_layout(False)
    return data
