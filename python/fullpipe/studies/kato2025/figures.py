"""Counterparts of Figures 2 to 6, from the tables of our runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from fullpipe import plots
from fullpipe.plots.style import legend_entries
from fullpipe.studies.kato2025.measures import MBPS

GOODPUT = "goodput (Mbit/s)"
FIGURE_6_FLOW = 5

Recorded = Mapping[str, Mapping[str, pl.DataFrame]]


@plots.in_house_style
def draw(flows: pl.DataFrame, recorded: Recorded, folder: Path, *, small: int) -> list[Path]:
    """Write all figures.

    Args:
        flows: One row per flow of every run, with buffer, sockets and seed.
        recorded: The tables of a sampled run per setting of the socket buffers.
        folder: Folder of the figures.
        small: The buffer of Figures 4 to 6.
    """
    written = figure_2(flows, folder) + figure_3(flows, folder) + figure_5(flows, folder, small)
    return written + figure_4(recorded, folder) + figure_6(recorded, folder)


def figure_2(flows: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw the throughput of single flows, sorted; every rank is the mean over runs."""
    conditions = _sockets(flows)
    figure, axes = plots.new_figure(len(conditions), share_y=True)
    frames = []
    for place, sockets in zip(axes, conditions, strict=True):
        of_sockets = flows.filter(pl.col("sockets") == sockets)
        groups = {f"{b} packets": _ranked(of_sockets, b) for b in _buffers(of_sockets)}
        data = plots.sorted_bars(place, groups, label=GOODPUT, legend=False)
        place.set_title(f"sockets: {sockets}, mean of {_seeds(of_sockets)} runs")
        frames.append(data.select(pl.lit(sockets).alias("sockets"), pl.all()))
    plots.shared_legend(figure, legend_entries(axes[0]))
    return plots.save(figure, pl.concat(frames), folder, "figure-2")


def figure_3(flows: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw box plots of all flows of all runs per buffer."""
    conditions = _sockets(flows)
    figure, axes = plots.new_figure(1, len(conditions), share_y=True)
    frames = []
    for place, sockets in zip(axes, conditions, strict=True):
        of_sockets = flows.filter(pl.col("sockets") == sockets)
        groups = {str(b): _rates(of_sockets, b) for b in _buffers(of_sockets)}
        data = plots.boxes(place, groups, label=GOODPUT)
        place.set_xlabel("buffer (packets)")
        if place is not axes[0]:
            place.set_ylabel("")
        place.set_title(f"sockets: {sockets}, {_seeds(of_sockets)} runs")
        frames.append(data.select(pl.lit(sockets).alias("sockets"), pl.all()))
    return plots.save(figure, pl.concat(frames), folder, "figure-3")


def figure_4(recorded: Recorded, folder: Path) -> list[Path]:
    """Draw the pacing rates of the fastest and the slowest flow of a run over time."""

    def ends(tables: Mapping[str, pl.DataFrame]) -> list[str]:
        ranked = tables["flows"].sort("goodput_bps")["flow"].to_list()
        return [ranked[-1], ranked[0]]

    return _pacing(recorded, ends, folder, "figure-4", "the fastest and the slowest flow")


def figure_5(flows: pl.DataFrame, folder: Path, buffer: int) -> list[Path]:
    """Draw (a) sorted bars and (b) box plots at the smallest buffer, for every setting of the sockets."""
    at_buffer = flows.filter(pl.col("buffer") == buffer)
    of = {s: at_buffer.filter(pl.col("sockets") == s) for s in _sockets(at_buffer)}
    figure, (bars, boxes) = plots.new_figure(1, 2)
    ranked = plots.sorted_bars(bars, {s: _ranked(frame, buffer) for s, frame in of.items()}, label=GOODPUT)
    plots.boxes(boxes, {s: _rates(frame, buffer) for s, frame in of.items()}, label=GOODPUT)
    bars.set_title(f"(a) {buffer} packets, mean of {_seeds(at_buffer)} runs")
    boxes.set_title(f"(b) {buffer} packets, {_seeds(at_buffer)} runs")
    boxes.set_xlabel("sockets")
    return plots.save(figure, ranked, folder, "figure-5")


def figure_6(recorded: Recorded, folder: Path) -> list[Path]:
    """Draw the pacing rate of the fifth flow over time."""

    def fifth(tables: Mapping[str, pl.DataFrame]) -> list[str]:
        return [tables["flows"]["flow"].to_list()[FIGURE_6_FLOW - 1]]

    return _pacing(recorded, fifth, folder, "figure-6", f"flow {FIGURE_6_FLOW}")


def _pacing(
    recorded: Recorded,
    whom: Callable[[Mapping[str, pl.DataFrame]], list[str]],
    folder: Path,
    stem: str,
    who: str,
) -> list[Path]:
    """Draw pacing rates, one row of axes per setting of the socket buffers."""
    figure, axes = plots.new_figure(len(recorded), row_height=1.7)
    frames = []
    for place, (sockets, tables) in zip(axes, recorded.items(), strict=True):
        data = plots.time_series(place, {sockets: tables}, "pacing", only=whom(tables))
        title = f"{who}, 100 packets, sockets: {sockets}"
        # Start-up reaches the whole link within a second and would flatten everything after it.
        settled = data.filter(pl.col("time_s") > 2)["value"].drop_nulls()
        if len(settled):
            top = 1.3 * float(settled.to_numpy().max()) or 1.0
            peak = float(data["value"].drop_nulls().to_numpy().max())
            place.set_ylim(0, top)
            if peak > top:
                title += f"\ncut off above: start-up, up to {peak:.0f} Mbit/s"
        place.set_title(title)
        frames.append(data)
    for place in axes[:-1]:
        place.set_xlabel("")
    return plots.save(figure, pl.concat(frames), folder, stem)


def _sockets(flows: pl.DataFrame) -> list[str]:
    return flows["sockets"].unique(maintain_order=True).to_list()


def _buffers(flows: pl.DataFrame) -> list[int]:
    return flows["buffer"].unique().sort().to_list()


def _seeds(flows: pl.DataFrame) -> int:
    return flows["seed"].n_unique()


def _rates(flows: pl.DataFrame, buffer: int) -> list[float]:
    return (flows.filter(pl.col("buffer") == buffer)["goodput_bps"] * MBPS).to_list()


def _ranked(flows: pl.DataFrame, buffer: int) -> list[float]:
    """Return the means over runs of the fastest flow, of the second fastest, and so on."""
    rate = pl.col("goodput_bps") * MBPS
    ranks = (
        flows.filter(pl.col("buffer") == buffer)
        .with_columns(rank=rate.rank("ordinal", descending=True).over("seed"))
        .group_by("rank")
        .agg(rate.mean().alias("mean"))
        .sort("rank")
    )
    return ranks["mean"].to_list()
