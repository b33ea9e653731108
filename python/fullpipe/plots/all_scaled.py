"""A run with load both ways and pings, as Flent draws it: downloads, uploads, their sums, and latency."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe.analysis.metrics.samples import spacing_s
from fullpipe.palette import looks
from fullpipe.plots.actors import algorithms
from fullpipe.plots.style import SMALL, figure_of, in_house_style, legend_columns, new_figure
from fullpipe.runs import Run
from fullpipe.scenario.model.flows import flow_names

_SCALED = (5, 95)
"""Percentiles of the values at which an axis ends, as in Flent's scaled plots."""
_CUT = "axes end at the 5th and 95th percentile of what is drawn"
_ROOM = 0.1
"""Beside them, as a share of what is between them."""
_SMOOTHED = 10
"""Samples of which a sum or a mean is the mean, as in Flent's."""
_OF_AXES = 0.85
"""Share of the width of a figure that its axes have."""
_MBPS, _MS, _EDGE_S = 1e-6, 1e3, 1e-9
Curves = Mapping[str, pl.DataFrame]
"""Frames with the columns time_s and value, by their labels."""


@in_house_style
def all_scaled(run: Run) -> tuple[Figure, pl.DataFrame]:
    """Four panels over time: the goodput of every download, that of every upload, the sums of both, and the
    RTT of every ping and probe. Means and sums are smoothed over ten samples. Panels that have nothing in
    them are left out. Axes end at the 5th and the 95th percentile of what is drawn, with a tenth of room.

    Source: the plot `all_scaled` of Flent's test `rrul`, with its plot `totals`.

    Returns:
        The figure, and its table: panel, curve, time_s, value, unit.

    Raises:
        ValueError: If the run has neither samples of goodput nor pings.
    """
    panels = {name: (curves, unit) for name, curves, unit in _panels(run) if curves}
    if not panels:
        raise ValueError("all_scaled is of a run with samples of goodput, or with pings; this one has none")
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
        place.set_xlim(0, run.meta.duration_s)
        place.label_outer()
    places[-1].set_xlabel("time (s)")
    figure.align_ylabels(places)
    figure.supxlabel(_CUT, fontsize=SMALL, color="0.4")
    return figure, pl.concat(parts)


def _panels(run: Run) -> list[tuple[str, Curves, str]]:
    ways = _rates(run)
    sums = {
        f"{way}, sum": _smooth(_together(list(of.values()), mean=False)) for way, of in ways.items() if of
    }
    pings = _pings(run)
    step_s = spacing_s(run.series) or 0.2
    mean = {"mean": _smooth(_binned(list(pings.values()), step_s))} if len(pings) > 1 else {}
    return [
        *((way, of | _mean_of(of), "Mbit/s") for way, of in ways.items()),
        ("totals", sums if sum(map(len, ways.values())) > 1 else {}, "Mbit/s"),
        ("RTT", pings | mean, "ms"),
    ]


def _rates(run: Run) -> dict[str, dict[str, pl.DataFrame]]:
    """The goodput of every stream while it ran, by direction."""
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
    """The RTT of every packet with a reply, at the time at which it was sent."""
    replies = run.probes.drop_nulls("rtt_s").select("flow", "time_s", value=pl.col("rtt_s") * _MS)
    return {
        str(part["flow"][0]): part.drop("flow") for part in replies.partition_by("flow", maintain_order=True)
    }


def _mean_of(curves: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return {"mean": _smooth(_together(list(curves.values()), mean=True))} if len(curves) > 1 else {}


def _together(curves: list[pl.DataFrame], *, mean: bool) -> pl.DataFrame:
    value = pl.col("value").mean() if mean else pl.col("value").sum()
    return pl.concat(curves).group_by("time_s").agg(value).sort("time_s")


def _binned(curves: list[pl.DataFrame], step_s: float) -> pl.DataFrame:
    """The mean of what was sent in every step, as pings are not sent at the same times."""
    at = ((pl.col("time_s") / step_s).floor() + 0.5) * step_s
    return pl.concat(curves).group_by(at).agg(pl.col("value").mean()).sort("time_s")


def _smooth(curve: pl.DataFrame) -> pl.DataFrame:
    return curve.with_columns(pl.col("value").rolling_mean(_SMOOTHED, center=True, min_samples=1))


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
    columns = legend_columns(list(curves), _OF_AXES * figure_of(place).get_figwidth())
    place.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)
