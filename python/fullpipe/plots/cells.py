"""Figures of a cell by the variables of its ports: channel and queueing delay, airtime and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
from matplotlib.figure import Figure

from fullpipe.analysis.over_time import Tables
from fullpipe.palette import looks
from fullpipe.plots.series import algorithms, last_sample_s, mark_events, restyle, time_series
from fullpipe.plots.style import in_house_style, legend_entries, new_figure, shared_legend, time_ends, within
from fullpipe.plots.variables import variables

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


def channel(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Draw the signal-to-noise ratio and the PHY rate or MCS of every port over time. The table has the
    columns of `variables`.

    Raises:
        ValueError: If no station has noise or rate selection, or no variables were recorded.
    """
    recorded = set(tables["variables"]["name"].unique())
    rate = "phy_rate" if "phy_rate" in recorded else "mcs"
    names = [name for name in ("snr", rate) if name in recorded]
    if not names:
        raise ValueError("no snr or chosen rate was recorded; set record.variables = true")
    return variables({"": tables}, names)


@in_house_style
def waits(tables: Tables) -> tuple[Figure, pl.DataFrame]:
    """Draw delay under load: goodput and RTT of flows, and queueing delay at each port.

    Returns:
        The figure, and its table: quantity, actor, time_s, value.

    Raises:
        ValueError: If no variables of a cell, or no samples, were recorded.
    """
    ports = _ports(tables["variables"])
    figure, axes = new_figure(3, row_height=2.0)  # the labels beside the axes need this height
    frames = []
    known = set(tables["series"]["flow"])
    with_goodput = [flow for flow in algorithms({"": tables}) if flow in known]  # pings have none
    only: Mapping[str, list[str] | None] = {"goodput": with_goodput or None, "rtt": None, "sojourn": ports}
    for place, (quantity, chosen) in zip(axes, only.items(), strict=True):
        data = time_series(place, {"": tables}, quantity, only=chosen, legend_up_to=0)
        frames.append(data.select(pl.lit(quantity).alias("quantity"), "actor", "time_s", "value"))
        place.label_outer()
    for place in axes:
        place.set_xlim(*time_ends(last_sample_s(frames)))
    shared_legend(figure, restyle(axes, algorithms({"": tables})))
    figure.align_ylabels(axes)
    mark_events(axes, {"": tables})
    return figure, pl.concat(frames)


CELL_FIGURES: Mapping[str, Callable[[Tables], tuple[Figure, pl.DataFrame]]] = {
    "airtime": airtime,
    "aggregates": aggregates,
    "channel": channel,
    "waits": waits,
}
"""Figures of one run by the names of `fullpipe plot --kind`; see `PACKET_FIGURES`."""


def _ports(found: pl.DataFrame) -> list[str]:
    """The ports of cells: the links with a variable that counts airtime (Wi-Fi) or resource blocks (LTE,
    NR)."""
    chosen = pl.col("name").is_in(["airtime", "resource_blocks"]) & pl.col("link").is_not_null()
    ports = found.filter(chosen)["link"].unique(maintain_order=True).to_list()
    if not ports:
        raise _nothing("cell")
    return ports


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


def _nothing(kind: str = "Wi-Fi cell") -> ValueError:
    return ValueError(f"no variables of a {kind} were recorded; set record.variables = true")
