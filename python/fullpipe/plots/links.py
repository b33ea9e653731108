"""Figures and marks of links and cells: events, capacities, airtime and aggregates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import Tables, smoothed
from fullpipe.palette import looks
from fullpipe.plots.style import (
    REFERENCE,
    SMALL,
    figure_of,
    in_house_style,
    legend_entries,
    new_figure,
    note_below,
    shared_legend,
    within,
)

# Marks of events: a line through all panels, and words above the first panel.


_PER_LETTER = 0.6
"""Width of a letter, as a share of the font size."""
_OF_FIGURE = 0.8
"""Width of the axes, as a share of the width of the figure."""
_BETWEEN = 4.0
"""Room between two labels, in points."""
_WARMUP = "warm-up"
_BEHIND: Any = {"linewidth": 0, "zorder": 0.3}
"""Look of shades behind curves and bands of states."""


def mark_events(axes: Sequence[Axes], runs: Mapping[str, Tables], warmup_s: float = 0.0) -> bool:
    """Mark the events of runs within the panels, shade events that last, and shade the warm-up. A label that
    would overlap an earlier one begins at its mark, or is left out. Returns whether there is a mark."""
    found: dict[float, dict[str, None]] = {}
    lasting: dict[tuple[float, float], None] = {}
    for tables in runs.values():
        events = tables.get("events")
        for time_s, event, *until_s in events.iter_rows() if events is not None else ():
            found.setdefault(time_s, {})[event] = None
            lasting |= {(time_s, end_s): None for end_s in until_s if end_s is not None}
    begin, end = axes[0].get_xlim()
    grid = axes[0].get_gridspec()
    width = _OF_FIGURE * 72 * figure_of(axes[0]).get_figwidth() / (grid.ncols if grid else 1)
    taken = 0.0
    for begin_s, end_s in lasting:
        for place in axes if end_s > begin and begin_s < end else ():
            place.axvspan(max(begin_s, begin), min(end_s, end), color="0.5", alpha=0.25, **_BEHIND)
    if warmup_s > begin:
        taken = _shade(axes, warmup_s)
    for time_s, words in sorted(found.items()):
        if not begin <= time_s <= end:
            continue
        for place in axes:
            place.vlines(time_s, 0, 1, "0.3", ":", linewidth=0.8, transform=place.get_xaxis_transform())
        text, at = ", ".join(words), width * (time_s - begin) / (end - begin)
        half = _PER_LETTER * SMALL * len(text) / 2
        is_centred = at - half >= taken
        if is_centred or taken <= at <= width - 2 * half:
            axes[0].annotate(
                text, (time_s, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                ha="center" if is_centred else "left", va="bottom", fontsize=SMALL, color="0.3",
                annotation_clip=False,
            )  # fmt: skip
            taken = at + (half if is_centred else 2 * half) + _BETWEEN
    return bool(warmup_s or found)


def _shade(axes: Sequence[Axes], warmup_s: float) -> float:
    """Shade the warm-up in all panels, and return the width of its label above the first panel, in points."""
    for place in axes:
        place.axvspan(0, warmup_s, color="0.5", alpha=0.1, **_BEHIND)
    axes[0].annotate(
        _WARMUP, (0, 1), (0, 2), xycoords="axes fraction", textcoords="offset points",
        ha="left", va="bottom", fontsize=SMALL, color="0.3",
    )  # fmt: skip
    return _PER_LETTER * SMALL * len(_WARMUP) + _BETWEEN


# Capacities: grey lines for rates that are set, and grey areas for recorded rates and cells.


_HALF = 0.5
_OVER = 1.02
"""Ratio of goodput to capacity above which a note explains the excess."""
_BURSTS = (
    "goodput exceeds the capacity when a retransmission fills a hole: all later data are delivered at once"
)
_LATE_S = 0.1
"""Least time after which a packet may still be delivered at an earlier, higher capacity."""
_FAR_ABOVE = 3.0
"""A capacity above this multiple of the largest drawn value is not drawn, because it would flatten the
curves."""
_AREA: Any = {"color": "0.85", "linewidth": 0, "zorder": 0.4}
_DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (8, 2)))
"""Dashes of capacities in one panel."""


class Capacity(NamedTuple):
    """The capacity of a link over time."""

    times_s: tuple[float, ...]
    rates: tuple[float, ...]
    """Rates in Mbit/s."""
    is_mean: bool
    """Whether rates are means of the time before; otherwise rates hold from their time on."""

    def most(self, from_s: float, until_s: float) -> float:
        """The highest rate between two times; 0 if no rate is known."""
        first = bisect_left(self.times_s, from_s) if self.is_mean else bisect_right(self.times_s, from_s) - 1
        last = bisect_right(self.times_s, until_s) + self.is_mean
        return max(self.rates[max(0, first) : last], default=0.0)


def capacities(tables: Tables, window_s: float = 0.0) -> dict[tuple[str, str], Capacity]:
    """Capacities of busy links, by label and link: the link with the highest utilisation, and links with at
    least half of this utilisation. Means are moving means over the window."""
    links, known = tables.get("links"), tables.get("capacities")
    if links is None or known is None or links.is_empty():
        return {}
    means = links.group_by("link", maintain_order=True).agg(pl.col("utilisation").mean())
    busy = means.filter(pl.col("utilisation") >= _HALF * pl.col("utilisation").max())["link"].to_list()
    rows = known.filter(pl.col("link").is_in(busy)).with_columns(value=pl.col("rate_bps") * 1e-6)
    found = {}
    for part in rows.partition_by("link", maintain_order=True):
        link, is_mean, what = part.select("link", "is_mean", "what").row(0)
        part = smoothed(part, window_s) if is_mean else part
        found[what, link] = Capacity(tuple(part["time_s"]), tuple(part["value"]), is_mean)
    return found


def draw_capacities(axes: Axes, runs: Mapping[str, Tables], window_s: float = 0.0) -> dict[str, Any]:
    """Draw each capacity of a busy link once, and return the legend entries. Capacities far above the drawn
    values are left out."""
    (begin, end), top = axes.get_xlim(), axes.get_ylim()[1]
    every = [
        (run, link, what, found)
        for run, tables in runs.items()
        for (what, link), found in capacities(tables, window_s).items()
    ]
    are_several, is_of_all = (len({each[n] for each in every}) > 1 for n in (1, 3))
    names: dict[Capacity, dict[str, None]] = {}
    for run, link, what, found in every:
        whose = [link] if are_several else [run] if len(runs) > 1 and is_of_all else []
        names.setdefault(found, {})[" of ".join([what, *whose])] = None
    entries, highest = dict[str, Any](), top
    for number, (found, words) in enumerate(names.items()):
        most = found.most(begin, end)
        typical = [
            rate for time_s, rate in zip(found.times_s, found.rates, strict=True) if begin <= time_s <= end
        ]
        if (float(np.mean(typical or most)) if found.is_mean else most) > _FAR_ABOVE * top:
            continue
        if found.is_mean:
            drawn: Any = axes.fill_between(found.times_s, found.rates, **_AREA)
        else:
            look = REFERENCE | {"linestyle": _DASHES[number % len(_DASHES)]}
            (drawn,) = axes.step((*found.times_s, end), (*found.rates, found.rates[-1]), where="post", **look)
        entries[", ".join(words)] = drawn
        highest = max(highest, min(1.08 * most, _FAR_ABOVE * top))
    axes.set_xlim(begin, end)
    axes.set_ylim(top=highest)
    return entries


def note_bursts(figure: Figure, goodput: pl.DataFrame, runs: Mapping[str, Tables], window_s: float) -> None:
    """Write a line below the figure if a flow has more goodput than any busy link can carry.

    Args:
        figure: The figure.
        goodput: run, time_s and value, Mbit/s.
        runs: Tables by label.
        window_s: Length of the means.
    """
    for run, tables in runs.items():
        limits = capacities(tables, window_s).values()
        before_s = window_s + max(window_s, _LATE_S)
        for time_s, value in goodput.filter(run=run).select("time_s", "value").drop_nulls().iter_rows():
            if limits and value > _OVER * max(limit.most(time_s - before_s, time_s) for limit in limits):
                note_below(figure, [_BURSTS])
                return


# Airtime and aggregates of a Wi-Fi cell.


BIN = "ppdus_to_"
"""Prefix of the variables that count PPDUs by size; the largest size of a bin, in packets, follows."""
OF_THE_CELL = {
    "cell_control": "control frames",
    "cell_collisions": "collisions",
    "cell_beacons": "beacons",
}
"""Labels of the uses of airtime other than data, by variable."""
GREYS = ("#777777", "#aaaaaa", "#cccccc")


@in_house_style
def airtime(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Draw the airtime over time: shares of the data of each port, and of all other uses. The remaining share
    is idle time.

    Returns:
        The figure, and its table: part, time_s, share.

    Raises:
        ValueError: If no variables of a cell were recorded.
    """
    found = tables["variables"]
    ports = list(_of(found, "airtime")["link"].unique(maintain_order=True))
    parts = {port: _shares(found, "airtime", port) for port in ports}
    for name, label in OF_THE_CELL.items():
        parts[label] = _shares(found, name, None)
    parts = {label: within(shares) for label, shares in parts.items()}
    figure, (place,) = new_figure(row_height=2.4)
    first = next(iter(parts.values()))
    stacked = [frame["share"].to_numpy() for frame in parts.values()]
    own = looks(ports)
    areas = [*(own[port].area for port in ports), *({"facecolor": grey} for grey in GREYS)]
    drawn_as = place.stackplot(first["time_s"].to_numpy(), stacked, labels=list(parts))
    for drawn, area in zip(drawn_as, areas, strict=True):
        drawn.set(**area)
    place.set(xlabel="time (s)", ylabel="share of the time", ylim=(0, 1))
    place.margins(x=0)
    shared_legend(figure, legend_entries(place))
    return figure, pl.concat([f.select(pl.lit(part).alias("part"), pl.all()) for part, f in parts.items()])


@in_house_style
def aggregates(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Draw the share of PPDUs in each range of sizes, in packets, for every port.

    Returns:
        The figure, and its table: port, at_least, at_most, ppdus, share.

    Raises:
        ValueError: If no variables of a cell were recorded.
    """
    found = tables["variables"].filter(pl.col("name").str.starts_with(BIN))
    if found.is_empty():
        raise _nothing()
    counted = (
        found.group_by("link", "name", maintain_order=True)
        .agg(ppdus=pl.col("value").last().cast(pl.Int64))
        .select(port="link", at_most=pl.col("name").str.strip_prefix(BIN).cast(pl.Int64), ppdus="ppdus")
        .with_columns(share=pl.col("ppdus") / pl.col("ppdus").sum().over("port"))
    )
    sizes = counted["at_most"].unique().sort().to_list()
    ports = counted["port"].unique(maintain_order=True).to_list()
    figure, (place,) = new_figure(row_height=2.4)
    width = 0.8 / len(ports)
    own = looks(ports)
    for i, port in enumerate(ports):
        shares = dict(counted.filter(pl.col("port") == port).select("at_most", "share").iter_rows())
        at = [n + (i - (len(ports) - 1) / 2) * width for n in range(len(sizes))]
        heights = [shares.get(size, 0.0) for size in sizes]
        place.bar(at, heights, width, label=port, **own[port].area)
    place.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    place.set(xlabel="packets of a PPDU, up to", ylabel="share of the port's PPDUs", ylim=(0, 1))
    shared_legend(figure, legend_entries(place))
    return figure, counted


def _of(found: pl.DataFrame, name: str) -> pl.DataFrame:
    rows = found.filter((pl.col("name") == name) & pl.col("link").is_not_null())
    if rows.is_empty():
        raise _nothing()
    return rows


def _shares(found: pl.DataFrame, name: str, port: str | None) -> pl.DataFrame:
    """Return, for a port or the cell, the growth of a counter of seconds divided by the time between
    samples."""
    rows = _of(found, name)
    rows = rows if port is None else rows.filter(pl.col("link") == port)
    grown, passed = pl.col("value").diff(), pl.col("time_s").diff()
    return rows.sort("time_s").select("time_s", share=(grown / passed)).drop_nulls()


def _nothing() -> ValueError:
    return ValueError("no variables of a Wi-Fi cell were recorded; set record.variables = true")
