"""How a quantity is spread: sorted bars and box plots over flows, and shares up to a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isinf

import polars as pl
from matplotlib.axes import Axes

from fullpipe.analysis.statistics import Summary, summarise
from fullpipe.palette import COLOURS, looks
from fullpipe.plots.style import in_house_style, inches_across, legend_columns

_LINE, _OF_AXES = 0.15, 0.8
"""Height of a line of the legend and width of all of it, as shares of the axes."""
Groups = Mapping[str, Sequence[float]]


@in_house_style
def sorted_bars(axes: Axes, groups: Groups, *, label: str, legend: bool = True) -> pl.DataFrame:
    """One bar per flow, the largest first, the groups side by side at every rank.

    Returns the columns group, rank, value.
    """
    width, found = 0.8 / len(groups), looks(list(groups))
    rows = []
    for position, (group, values) in enumerate(groups.items()):
        ranked = sorted(values, reverse=True)
        places = [rank + (position - (len(groups) - 1) / 2) * width for rank in range(1, len(ranked) + 1)]
        axes.bar(places, ranked, width, label=group, **found[group].area)
        rows += [(group, rank, value) for rank, value in enumerate(ranked, start=1)]
    longest = max(len(values) for values in groups.values())
    axes.set_xticks(range(1, longest + 1))
    axes.set_xlabel("flow, sorted")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    if legend and len(groups) > 1:
        columns = legend_columns(list(groups), _OF_AXES * inches_across(axes))
        axes.set_ylim(
            top=axes.get_ylim()[1] * (1 + _LINE * -(-len(groups) // columns))
        )  # room for the legend
        box = {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 1}  # hides the grid
        axes.legend(loc="upper right", ncols=columns, borderaxespad=0, **box)
    return pl.DataFrame(rows, schema=["group", "rank", "value"], orient="row")


@in_house_style
def boxes(axes: Axes, groups: Groups, *, label: str, reach: float = inf) -> pl.DataFrame:
    """One box per group: quartiles and median, whiskers to the extremes, a cross at the mean.

    With a `reach`, whiskers end at the last value within so many heights of the box beyond it (Tukey: 1.5).

    Returns the columns group, n, minimum, q1, median, q3, maximum, mean.
    """
    found = {group: summarise(values) for group, values in groups.items()}
    drawn = [
        {
            "label": group,
            "whislo": min(v for v in groups[group] if v >= low),
            "q1": s.q1,
            "med": s.median,
            "q3": s.q3,
            "whishi": max(v for v in groups[group] if v <= high),
            "mean": s.mean,
        }
        for group, s in found.items()
        for low, high in [(s.q1 - _beyond(s, reach), s.q3 + _beyond(s, reach))]
    ]
    axes.bxp(
        drawn,
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        widths=0.5,
        boxprops={"facecolor": "#cfe3f1", "edgecolor": COLOURS[0]},
        medianprops={"color": COLOURS[0], "linewidth": 1.2},
        whiskerprops={"color": COLOURS[0]},
        capprops={"color": COLOURS[0]},
        meanprops={"marker": "x", "markeredgecolor": COLOURS[1], "markersize": 5},
    )
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    rows = [(g, s.n, s.minimum, s.q1, s.median, s.q3, s.maximum, s.mean) for g, s in found.items()]
    columns = ["group", "n", "minimum", "q1", "median", "q3", "maximum", "mean"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _beyond(found: Summary, reach: float) -> float:
    """How far a whisker may reach beyond its box."""
    return inf if isinf(reach) else reach * (found.q3 - found.q1)


@in_house_style
def cumulative(axes: Axes, groups: Groups, *, label: str) -> pl.DataFrame:
    """The share of values up to a size, a line per group. The axis is linear to 0.1 and logarithmic beyond.

    Returns the columns group, value, share.
    """
    rows, found = [], looks(list(groups))
    for group, values in groups.items():
        ranked = sorted(values)
        shares = [rank / len(ranked) for rank in range(1, len(ranked) + 1)]
        axes.plot([0.0, *ranked], [0.0, *shares], drawstyle="steps-post", label=group, **found[group].line)
        rows += [(group, value, share) for value, share in zip(ranked, shares, strict=True)]
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(label)
    return pl.DataFrame(rows, schema=["group", "value", "share"], orient="row")
