"""Quantities measured in the runs of the study, and counterparts of the figures of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from fullpipe import plots
from fullpipe.analysis.metrics import jain_of
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run

# Quantities of the paper, computed from the tables of a run. Rates are in Mbit/s.


CAPACITY_MBPS = 1000.0
SETTLED_S = 10.0
"""Time from which pacing rates are measured. The paper describes pacing rates after the first ten seconds."""
LATE_S = 10.0
"""Length of the last part of a run, over which the quantity `pacing_slowest_late` is measured."""

MBPS = 1e-6

# BBRv1 cycles through eight phases. BBRv1 paces at 1.25 times its bandwidth estimate in one phase, at 0.75
# times the estimate in one phase, and at the estimate in six phases. The lowest eighth of all samples is
# therefore the lower level, and the highest eighth the upper level. The quantiles 1/16 and 15/16 are in the
# middle of these eighths.
LEVELS = {"pacing_low": 1 / 16, "pacing_cruise": 0.5, "pacing_high": 15 / 16}


def of_run(run: Run) -> dict[str, float]:
    """Measure the sixteen flows of a run and, if the run has samples, their pacing rates."""
    return of_flows(run.flows) | ({} if run.series.is_empty() else of_samples(run.series))


def of_flows(flows: pl.DataFrame) -> dict[str, float]:
    """Return statistics of the column goodput_bps.

    The statistics are mean, sample standard deviation, total, minimum, maximum, Jain's index, the numbers of
    flows below 1, above 50 and from 1 to 50 Mbit/s, and the efficiency.

    The total is sixteen times the mean, as in Table II. Flows start within the first 10 ms of 50 s, so
    goodput over the whole 50 s would be at most 0.02 % less.
    """
    rate = pl.col("goodput_bps") * MBPS
    row = flows.select(
        mean_mbps=rate.mean(),
        sd_mbps=rate.std(ddof=1),
        total_mbps=rate.sum(),
        min_mbps=rate.min(),
        max_mbps=rate.max(),
        jain=jain_of(rate),
        below_1=(rate < 1).sum(),
        above_50=(rate > 50).sum(),
        in_between=rate.is_between(1, 50).sum(),
        efficiency_percent=100 * rate.sum() / CAPACITY_MBPS,
    ).row(0, named=True)
    return {name: float(value) for name, value in row.items()}


def of_samples(series: pl.DataFrame) -> dict[str, float]:
    """Return pacing rates after the first 10 s, and the number of flows that retransmit in the first 10 s.

    The pacing rates are the three `LEVELS` of the median flow, the median rate of the slowest flow (also at
    the end of the run), and the ratio of the fastest flow's rate to the slowest flow's rate.

    `series` has the columns time_s, flow, pacing_bps and retransmitted_packets.
    """
    settled = series.filter((pl.col("time_s") > SETTLED_S) & pl.col("pacing_bps").is_not_null())
    late = settled.filter(pl.col("time_s") > float(series["time_s"].to_numpy().max()) - LATE_S)
    levels, at_end = _levels(settled), _levels(late)
    early = series.filter((pl.col("time_s") <= SETTLED_S) & (pl.col("retransmitted_packets") > 0))
    slowest, fastest = levels["pacing_cruise"].min(), levels["pacing_cruise"].max()
    return {
        **{name: _number(levels[name].median()) for name in LEVELS},
        "pacing_slowest": _number(slowest),
        "pacing_slowest_late": _number(at_end["pacing_cruise"].min()),
        "pacing_spread": _number(fastest) / _number(slowest),
        "early_losers": float(early["flow"].n_unique()),
    }


def _levels(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the three `LEVELS` of the pacing rate, with one row per flow."""
    rate = pl.col("pacing_bps") * MBPS
    return samples.group_by("flow", maintain_order=True).agg(
        **{name: rate.quantile(share, "linear") for name, share in LEVELS.items()}
    )


def _number(value: object) -> float:
    """Return a number as float, or NaN for None, which occurs in runs that end within the first 10 s."""
    return float(value) if isinstance(value, int | float) else float("nan")


# Counterparts of Figures 2 to 6, drawn from the tables of our runs.


GOODPUT = "goodput (Mbit/s)"
FIGURE_6_FLOW = 5

Recorded = Mapping[str, Mapping[str, pl.DataFrame]]


@plots.in_house_style
def draw(flows: pl.DataFrame, recorded: Recorded, folder: Path, *, small: int) -> list[Path]:
    """Write all figures.

    Args:
        flows: One row per flow of every run, with the buffer, the setting of the socket buffers, and the
        seed.
        recorded: The tables of one sampled run, by the setting of the socket buffers.
        folder: Folder of the figures.
        small: The bottleneck's buffer in Figures 4 to 6, in packets.
    """
    written = figure_2(flows, folder) + figure_3(flows, folder) + figure_5(flows, folder, small)
    return written + figure_4(recorded, folder) + figure_6(recorded, folder)


def figure_2(flows: pl.DataFrame, folder: Path) -> list[Path]:
    """Draw the goodput of every flow in descending order. The value of a rank is the mean over the runs."""
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
    """Draw a box plot of the goodput of all flows of all runs for every buffer."""
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
    """Draw Figures 2 and 3 for the smallest buffer only: (a) sorted bars and (b) box plots, by setting of the
    socket buffers."""
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
    """Draw pacing rates over time, with one panel per setting of the socket buffers."""
    figure, axes = plots.new_figure(len(recorded), row_height=1.7)
    frames = []
    for place, (sockets, tables) in zip(axes, recorded.items(), strict=True):
        data = plots.time_series(place, {sockets: tables}, "pacing", only=whom(tables))
        title = f"{who}, 100 packets, sockets: {sockets}"
        # In the first second, the pacing rate reaches the rate of the link. The axis leaves out this peak:
        # with the peak, all later values would look flat.
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
    """Return the goodput of the fastest flow, of the second fastest flow, and so on, each as the mean over
    the runs."""
    rate = pl.col("goodput_bps") * MBPS
    ranks = (
        flows.filter(pl.col("buffer") == buffer)
        .with_columns(rank=rate.rank("ordinal", descending=True).over("seed"))
        .group_by("rank")
        .agg(rate.mean().alias("mean"))
        .sort("rank")
    )
    return ranks["mean"].to_list()
