"""Figures of samples: phase planes, rates, distributions, all metrics scaled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isinf
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fullpipe.analysis.metrics.samples import spacing_s
from fullpipe.analysis.over_time import Tables, goodput_window_s, samples, smoothed
from fullpipe.analysis.statistics import Summary, summarise
from fullpipe.palette import COLOURS, look_of, looks
from fullpipe.plots.series import algorithms, flow_looks, with_algorithm
from fullpipe.plots.style import (
    MANY_POINTS,
    REFERENCE,
    after_warmup,
    asked_window_s,
    figure_of,
    in_house_style,
    inches_across,
    legend_columns,
    legend_entries,
    new_figure,
    note_below,
    shared_legend,
    time_ends,
    within,
)
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import flow_names

# Delivery rate and RTT of a flow as functions of its bytes in flight, as in the model of BBR.


OVER = ("delivery", "rtt")
"""Quantities that are drawn over the bytes in flight; each has a panel."""
_ENTRY = ["run", "actor", "time_s"]
_COLUMNS = ("time_s", "in_flight", "value")
_FAR_ABOVE = 3.0
"""A capacity above this multiple of the axis is not drawn, because it would flatten the trajectories."""


_ARROWS, _ARROW_POINTS = 6, 12.0
"""Largest number of arrows of a trajectory, and least length of a segment with an arrow, in points."""
_BDP: Any = {**REFERENCE, "linestyle": (0, (1, 1.5))}
_LEAST: Any = {**REFERENCE, "linestyle": (0, (6, 2, 1, 2))}
"""Looks of the BDP and the base RTT, which differ from that of the capacity."""


@in_house_style
def phase(
    tables: Tables, only: Sequence[str] | None = None, warmup_s: float = 0.0
) -> tuple[Figure, pl.DataFrame]:
    """Trajectories of the delivery rate and the smoothed RTT of flows over the bytes in flight after the
    warm-up. Arrows point forward in time, a ring marks the first sample, and a dot the last one. The rate
    grows until the path is full, at its BDP in flight; from then on the queue and the RTT grow. Grey lines
    mark the BDP, the capacity and the base RTT of the path, if they are constant.

    `only` keeps the flows of these names.

    Returns:
        The figure, and its table: quantity, flow, time_s, in_flight, value, in the units of the axes.

    Raises:
        ValueError: If these flows have no samples of data in flight.
    """
    figure, axes = new_figure(1, len(OVER), row_height=2.6)
    in_flight, below = samples({"": tables}, "inflight", only)
    frames, notes = [], dict[str, None]()
    flows = in_flight["actor"].unique(maintain_order=True).to_list()
    of, styles = algorithms({"": tables}), flow_looks(tables, flows)
    for place, quantity in zip(axes, OVER, strict=True):
        values, beside = samples({"": tables}, quantity, only)
        both = in_flight.rename({"value": "in_flight"}).join(values, on=_ENTRY, maintain_order="left")
        both, note = after_warmup(both.drop_nulls(["in_flight", "value"]), warmup_s)
        notes[note] = None
        for (flow,), rows in both.group_by("actor", maintain_order=True):
            x, y = rows["in_flight"].to_numpy(), rows["value"].to_numpy()
            look = styles[str(flow)]
            place.plot(
                x,
                y,
                linewidth=0.5,
                alpha=0.6,
                label=with_algorithm(str(flow), of),
                rasterized=rows.height > MANY_POINTS,
                **look.line,
            )
            for ends, style in ((slice(1), "none"), (slice(-1, None), "full")):
                place.plot(
                    x[ends], y[ends], "o", fillstyle=style, markersize=4, color=look.color, clip_on=False
                )
        place.set(xlabel=below, ylabel=beside, xlim=(0, None), ylim=(0, None))
        drawn = both.select(pl.lit(quantity).alias("quantity"), pl.col("actor").alias("flow"), *_COLUMNS)
        frames.append(drawn)
    if not any(frame.height for frame in frames):
        raise ValueError('there are no samples of data in flight; run with record.interval = "10 ms"')
    entries = legend_entries(axes[0])
    ring = Line2D([], [], marker="o", fillstyle="none", markersize=4, linestyle="none", color="0.3")
    dot = Line2D([], [], marker="o", markersize=4, linestyle="none", color="0.3")
    entries |= {"first sample": ring, "last sample": dot, **_references(axes, tables, flows, below)}
    for place, frame in zip(axes, frames, strict=True):
        for (flow,), rows in frame.group_by("flow", maintain_order=True):
            _arrows(place, rows["in_flight"].to_numpy(), rows["value"].to_numpy(), styles[str(flow)].color)
    shared_legend(figure, entries)
    note_below(figure, list(notes))
    return figure, pl.concat(frames)


def _references(axes: Sequence[Axes], tables: Tables, flows: Sequence[str], below: str) -> dict[str, Any]:
    """Draw the BDP, the capacity and the base RTT of the paths of flows, and return their legend entries."""
    paths = tables.get("paths")
    entries: dict[str, Any] = {}
    if paths is None or "packets" not in below:
        return entries
    rate, rtt = axes
    own = paths.filter(pl.col("flow").is_in(flows))
    for size in own["bdp_packets"].drop_nulls().unique():
        for place in axes:
            entries["BDP"] = place.axvline(size, **_BDP)
    for bps in own["capacity_bps"].drop_nulls().unique():
        if bps * _MBPS <= _FAR_ABOVE * rate.get_ylim()[1]:
            entries["capacity"] = rate.axhline(bps * _MBPS, **REFERENCE)
            rate.set_ylim(top=max(rate.get_ylim()[1], 1.05 * bps * _MBPS))
    for base_s in own["base_rtt_s"].drop_nulls().unique():
        entries["base RTT"] = rtt.axhline(base_s * _MS, **_LEAST)
    return entries


def _arrows(place: Axes, x: np.ndarray, y: np.ndarray, colour: str) -> None:
    """Draw arrow heads in the middle of long segments of a trajectory, evenly spread over the time."""
    shown = place.transData.transform(np.stack([x, y], axis=1)) * 72 / figure_of(place).dpi
    steps = np.diff(shown, axis=0)
    longs = np.flatnonzero(np.hypot(*steps.T) >= _ARROW_POINTS)
    chosen = (
        longs[np.unique(np.linspace(0, len(longs) - 1, _ARROWS).round().astype(int))] if len(longs) else longs
    )
    for n in chosen:
        middle = (x[n] + x[n + 1]) / 2, (y[n] + y[n + 1]) / 2
        look = {
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": 0.5,
            "mutation_scale": 7,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        place.annotate("", middle, (x[n], y[n]), arrowprops=look)


# The goodput of one flow over the goodput of another flow, as in D. Chiu and R. Jain, "Analysis of the
# increase and decrease algorithms for congestion avoidance in computer networks", 1989,
# doi:10.1016/0169-7552(89)90019-6, figure 5.


GREY = "#777777"
_OF_TWO = "#333333"
"""Colour of the trajectory if the two flows have different algorithms; no algorithm has this colour."""


@in_house_style
def rates(
    tables: Tables, only: Sequence[str] | None = None, warmup_s: float = 0.0
) -> tuple[Figure, pl.DataFrame]:
    """The trajectory of the goodputs of two flows after the warm-up, from a ring to a dot. Arrows point
    forward in time. On the solid grey line both goodputs are equal. On the dotted grey line their sum equals
    its mean over the second half of the drawn time. The trajectory has the colour of the algorithm of both
    flows, or is dark grey if their algorithms differ.

    Args:
        tables: Tables of a run with samples over time.
        only: Names of two flows; may be omitted if the run has two flows.
        warmup_s: Length of the warm-up in s.

    Returns:
        The figure, and its table: time_s, and a column of Mbit/s for each flow.

    Raises:
        ValueError: If there are no samples, or the number of flows is not two.
    """
    found, _ = samples({"": tables}, "goodput", only, asked_window_s())
    found, note = after_warmup(found.drop_nulls("value"), warmup_s)
    flows = found["actor"].unique(maintain_order=True).to_list()
    if len(flows) != 2:
        raise ValueError(f"rates needs two flows; choose two of {len(flows)} with --flow")
    data = found.pivot("actor", index="time_s", values="value").drop_nulls()
    x, y = (data[flow].to_numpy() for flow in flows)
    figure, (place,) = new_figure(width="column", row_height=3.3)
    of = algorithms({"": tables})
    kinds = {of.get(flow, "") for flow in flows}
    colour = look_of(kinds.pop(), 0).color if len(kinds) == 1 else _OF_TWO
    place.plot(x, y, linewidth=0.8, color=colour, rasterized=data.height > MANY_POINTS)
    entries: dict[str, object] = {}
    for name, at, mark in (("first sample", 0, "none"), ("last sample", -1, "full")):
        (entries[name],) = place.plot(
            x[at], y[at], "o", fillstyle=mark, markersize=5, color=colour, clip_on=False
        )
    together = float(np.mean((x + y)[data.height // 2 :]))
    most = 1.05 * max(together, float(x.max()), float(y.max()))
    (entries["equal goodput"],) = place.plot([0, most], [0, most], color=GREY, linestyle="-", linewidth=0.6)
    (entries[f"mean sum, {together:.3g} Mbit/s"],) = place.plot(
        [0, together], [together, 0], color=GREY, linestyle=":", linewidth=1.0
    )
    across, up = (f"goodput of {with_algorithm(flow, of)}\n(Mbit/s)" for flow in flows)
    place.set(xlabel=across, ylabel=up)
    place.set(xlim=(0, most), ylim=(0, most), aspect="equal")
    _arrows(place, x, y, colour)
    shared_legend(figure, entries)
    half_s = float(data["time_s"][data.height // 2])
    window_s = goodput_window_s({"": tables}, asked_window_s())
    means = f"goodputs are means over {window_s:.2g} s" if window_s else ""
    note_below(figure, [f"dotted: sum of both goodputs, mean from {half_s:.3g} s to the end", means, note])
    return figure, data


# Figures of flows of one run by their samples over time.


SAMPLE_FIGURES: Mapping[str, Callable[..., tuple[Figure, pl.DataFrame]]] = {"phase": phase, "rates": rates}
"""Figures of the samples of one run, by the names of `fullpipe plot --kind`; `only` selects flows."""


# Distribution of a quantity: sorted bars and box plots over flows, and cumulative shares.


_LINE, _OF_AXES = 0.15, 0.8
"""Height of a line of the legend, and width of the whole legend, as shares of the axes."""
Groups = Mapping[str, Sequence[float]]


@in_house_style
def sorted_bars(axes: Axes, groups: Groups, *, label: str, legend: bool = True) -> pl.DataFrame:
    """Draw one bar per flow, the largest first. Bars of several groups are side by side at every rank.

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
    """Draw one box per group: quartiles and median, whiskers to the extremes, a cross at the mean.

    With a `reach`, a whisker ends at the last value within `reach` box heights beyond the box (Tukey: 1.5).

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
    """Largest length of a whisker beyond its box."""
    return inf if isinf(reach) else reach * (found.q3 - found.q1)


@in_house_style
def cumulative(axes: Axes, groups: Groups, *, label: str) -> pl.DataFrame:
    """Draw the cumulative share of values, a line per group. The axis is linear up to 0.1 and logarithmic
    beyond.

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


# A run with load in both directions and pings, drawn as by Flent: downloads, uploads, sums, and latency.


_SCALED = (5, 95)
"""Percentiles of the values at which an axis ends, as in Flent's scaled plots."""
_CUT = "axes end at the 5th and the 95th percentile of the drawn values"
_ROOM = 0.1
"""Room beyond each percentile of `_SCALED`, as a share of the distance between both percentiles."""
_SAMPLES = 5
"""Least number of samples of a moving mean."""
_LEGEND_SHARE = 0.85
"""Width of the axes, as a share of the width of the figure."""
_MBPS, _MS, _EDGE_S = 1e-6, 1e3, 1e-9
Curves = Mapping[str, pl.DataFrame]
"""Frames with the columns time_s and value, by curve label."""


@in_house_style
def all_scaled(run: Run) -> tuple[Figure, pl.DataFrame]:
    """Four panels over time: the goodput of every download, the goodput of every upload, the sums of both,
    and the RTT of every ping and probe. All goodputs are moving means over the same window, which a note
    names, so that the sum of one flow equals the flow: five samples, or three base RTTs if these are longer.
    Empty panels are left out. Axes end at the 5th and the 95th percentile of the drawn values, plus a tenth
    of their distance.

    Source: the plot `all_scaled` of Flent's test `rrul`, with its plot `totals`.

    Returns:
        The figure, and its table: panel, curve, time_s, value, unit.

    Raises:
        ValueError: If the run has neither samples of goodput nor pings.
    """
    step_s = spacing_s(run.series) or 0.2
    window_s = goodput_window_s({"": run.tables}, asked_window_s())
    if asked_window_s() is None:
        window_s = max(window_s, _SAMPLES * step_s)
    panels = {
        name: ({label: within(data) for label, data in curves.items()}, unit)
        for name, curves, unit in _panels(run, window_s, step_s)
        if curves
    }
    if not panels:
        raise ValueError("all_scaled needs samples of goodput or pings, and this run has neither")
    figure, places = new_figure(len(panels), row_height=1.9)
    of = algorithms({"": run.tables})
    parts = []
    for place, (name, (curves, unit)) in zip(places, panels.items(), strict=True):
        _draw(place, curves, f"{name} ({unit})", of)
        parts += [
            data.select(pl.lit(name).alias("panel"), pl.lit(label).alias("curve"), "time_s", "value")
            .with_columns(unit=pl.lit(unit))
            .drop_nulls("value")
            for label, data in curves.items()
        ]
    for place in places:
        place.set_xlim(*time_ends(run.meta.duration_s))
        place.label_outer()
    places[-1].set_xlabel("time (s)")
    figure.align_ylabels(places)
    has_goodput, has_mean = "RTT" not in next(iter(panels)), "mean" in panels.get("RTT", ({}, ""))[0]
    notes = [f"goodput: means over {window_s or step_s:.2g} s"] if has_goodput else []
    notes += [f"mean RTT: over all pings of {step_s:.2g} s"] if has_mean else []
    note_below(figure, [*notes, _CUT])
    return figure, pl.concat(parts)


def _panels(run: Run, window_s: float, step_s: float) -> list[tuple[str, Curves, str]]:
    ways = {
        way: {name: smoothed(curve, window_s) for name, curve in of.items()}
        for way, of in _rates(run).items()
    }
    sums = {f"{way}, sum": _together(list(of.values()), mean=False) for way, of in ways.items() if of}
    pings = _pings(run)
    mean = {"mean": _binned(list(pings.values()), step_s)} if len(pings) > 1 else {}
    return [
        *((way, of | _mean_of(of), "Mbit/s") for way, of in ways.items()),
        ("totals", sums if sum(map(len, ways.values())) > 1 else {}, "Mbit/s"),
        ("RTT", pings | mean, "ms"),
    ]


def _rates(run: Run) -> dict[str, dict[str, pl.DataFrame]]:
    """The goodput of every stream while the stream ran, by direction."""
    spans = run.flows.filter(pl.col("cca").is_not_null()).select("flow", "start_s", "end_s")
    samples = (
        run.series.join(spans, on="flow", how="inner", maintain_order="left")
        .filter(pl.col("time_s") > pl.col("start_s"), pl.col("time_s") <= pl.col("end_s") + _EDGE_S)
        .drop_nulls("goodput_bps")
        .select("flow", "time_s", value=pl.col("goodput_bps") * _MBPS)
    )
    found: dict[str, dict[str, pl.DataFrame]] = {"downloads": {}, "uploads": {}}
    for flow, names in zip(run.scenario.flows, flow_names(run.scenario.flows), strict=True):
        way = found["uploads" if flow.is_upload else "downloads"]
        way |= {name: samples.filter(flow=name).drop("flow") for name in names if name in samples["flow"]}
    return found


def _pings(run: Run) -> dict[str, pl.DataFrame]:
    """The RTT of every packet with a reply, by the send time of the packet."""
    replies = run.probes.drop_nulls("rtt_s").select("flow", "time_s", value=pl.col("rtt_s") * _MS)
    return {
        str(part["flow"][0]): part.drop("flow") for part in replies.partition_by("flow", maintain_order=True)
    }


def _mean_of(curves: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return {"mean": _together(list(curves.values()), mean=True)} if len(curves) > 1 else {}


def _together(curves: list[pl.DataFrame], *, mean: bool) -> pl.DataFrame:
    value = pl.col("value").mean() if mean else pl.col("value").sum()
    return pl.concat(curves).group_by("time_s").agg(value).sort("time_s")


def _binned(curves: list[pl.DataFrame], step_s: float) -> pl.DataFrame:
    """The mean of the curves in every step; steps are needed because pings have different send times."""
    at = ((pl.col("time_s") / step_s).floor() + 0.5) * step_s
    return pl.concat(curves).group_by(at).agg(pl.col("value").mean()).sort("time_s")


def _draw(place: Axes, curves: Curves, label: str, of: Mapping[str, str]) -> None:
    found = looks([name for name in curves if name != "mean"], of)
    for name, data in curves.items():
        look = found[name].line if name in found else {"color": "black", "linewidth": 1.6}
        place.plot(data["time_s"], data["value"], label=name, **look)
    values = np.concatenate([data["value"].drop_nulls().to_numpy() for data in curves.values()])
    low, high = (float(value) for value in np.percentile(values, _SCALED)) if values.size else (0.0, 1.0)
    room = _ROOM * (high - low) or _ROOM * high or 1.0
    place.set_ylim(max(0.0, low - room), high + room)
    place.set_ylabel(label)
    columns = legend_columns(list(curves), _LEGEND_SHARE * figure_of(place).get_figwidth())
    place.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)
