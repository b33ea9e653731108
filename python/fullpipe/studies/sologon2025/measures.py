"""Quantities measured in the runs of the study, and counterparts of the figures of the thesis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fullpipe import files, plots
from fullpipe.analysis.metrics import between, completion_percentiles_s, jain, spacing_s
from fullpipe.plots.style import legend_entries
from fullpipe.runs import Run
from fullpipe.studies.experiments import Value

# Quantities of the thesis, computed from the tables of a run. Rates are in Mbit/s, windows in kB.


MBPS = 1e-6
KB = 1e-3
WITH_HEADERS = 1500 / 1448
"""Ratio of the size of an IP packet to its payload."""

DELAYS_MS = (30, 50, 70, 90)
"""One-way delays along the faster of two routes. The thesis and our scenarios name flows by these delays."""

SHORT = "short"
"""Name of the flow of short transfers, which competes with the long flows in the experiment with a
controller."""
BEFORE_S, AFTER_S, CUT = 0.5, 2.0, 0.9
"""A window is cut if, in the `AFTER_S` seconds after a change of the route, it falls below `CUT` times its
minimum in the `BEFORE_S` seconds before the change."""
FULL, OVER_S, WITHIN_S = 0.95, 1.0, 10.0
"""A link is full if its mean utilisation over `OVER_S` seconds is at least `FULL`. A link is examined for
`WITHIN_S` seconds after the dynamic flow left it."""


def four_flows(run: Run) -> dict[str, float]:
    """Measure the rates of the flows of experiment 1, and their windows at changes of the route."""
    rates = {delay: _rate(run.flows, f"{delay} ms") for delay in DELAYS_MS}
    flows = {f"flow_{delay}": rate for delay, rate in rates.items()}
    return {
        **flows,
        "mean": _mean(rates.values()),
        "long_below_80": float(sum(rates[delay] < 80 for delay in DELAYS_MS[1:])),
        "goodput_mean": _mean(rates.values()) / WITH_HEADERS,
        **_windows(run.series, every_s(run), run.scenario.duration_s),
    }


def every_s(run: Run) -> float:
    """Return the time between two changes of a flow's route, in s."""
    turns = run.scenario.flows[0].alternate
    assert turns is not None
    return turns.every_s


def _windows(series: pl.DataFrame, every_s: float, end_s: float) -> dict[str, float]:
    if every_s >= end_s:
        return {}
    window = partial(_mean_window, series)
    turns = [every_s * n for n in range(1, math.ceil(end_s / every_s))]
    slow = [(turn, turn + every_s) for turn in turns[::2]]
    fast = [(turn, turn + every_s) for turn in turns[1::2]]
    third_s = end_s / 3
    found = {
        "cwnd_trend": _window_of_all(series, end_s - third_s, end_s) / _window_of_all(series, 0, third_s),
        "cwnd_slow": _mean(window("30 ms", *span) for span in slow),
        "cwnd_fast": _mean(window("30 ms", *span) for span in fast),
        "cuts_percent": 100 * _mean(_cuts(series, [start for start, _ in fast if start + AFTER_S <= end_s])),
    }
    # The thesis discusses the 30 ms flow at 60 s, when the flow changes to the faster route. The flow also
    # changes to the faster route at 20 and 40 s.
    starts = [start for start in (20, 40, 60) if start + every_s <= end_s]
    return found | {f"cwnd_{start}": window("30 ms", start, start + every_s) for start in starts}


def _cuts(series: pl.DataFrame, turns: Iterable[float]) -> list[float]:
    """Return, for every flow and change of the route, 1 if the window was cut and 0 otherwise."""
    cuts = []
    for turn in turns:
        before = _lowest_window(series, turn - BEFORE_S, turn)
        after = _lowest_window(series, turn, turn + AFTER_S)
        cuts += [float(after[flow] < CUT * before[flow]) for flow in before]
    return cuts


def nine_flows(run: Run) -> dict[str, float]:
    """Measure the rates of the flows of experiment 2 after the first change of the route, and the times for
    which a link was not full after the dynamic flow had left it."""
    rate = partial(_mean_rate, run.series)
    end_s, step_s = run.scenario.duration_s, every_s(run)
    turns = [step_s * n for n in range(1, round(end_s / step_s))]
    with_cubic = [(turn, turn + step_s) for turn in turns[::2]]
    with_bbr = [(turn, turn + step_s) for turn in turns[1::2]]
    always = [(step_s, end_s)]

    bbr = {delay: rate(f"BBR {delay} ms", always) for delay in DELAYS_MS}
    cubic = {delay: rate(f"CUBIC {delay} ms", always) for delay in DELAYS_MS}
    shared = {delay: rate(f"CUBIC {delay} ms", with_cubic) for delay in DELAYS_MS}
    alone = {delay: rate(f"CUBIC {delay} ms", with_bbr) for delay in DELAYS_MS}
    dynamic = {"on_bbr": rate("dynamic", with_bbr), "on_cubic": rate("dynamic", with_cubic)}
    turned = [rate("dynamic", [(turn, turn + step_s)]) for turn in turns]
    on_link_1 = sum(bbr.values()) + dynamic["on_bbr"] * _seconds(with_bbr) / _seconds(always)
    bbr_gaps = [seconds_not_full(run.links, "link 1", start) for start, _ in with_cubic]
    cubic_gaps = [seconds_not_full(run.links, "link 2", start) for start, _ in with_bbr]
    return {
        **{f"bbr_{delay}": value for delay, value in bbr.items()},
        **{f"cubic_{delay}": value for delay, value in cubic.items()},
        **{f"cubic_{delay}_shared": value for delay, value in shared.items()},
        **{f"cubic_{delay}_alone": value for delay, value in alone.items()},
        **{f"dynamic_{where}": value for where, value in dynamic.items()},
        "dynamic": rate("dynamic", always),
        "dynamic_unevenness": _unevenness(turned),
        "long_share_percent": 100 * (bbr[70] + bbr[90]) / on_link_1,
        "jain_bbr": jain(bbr.values()) or math.nan,
        "jain_cubic": jain(cubic.values()) or math.nan,
        "jain_cubic_shared": jain([*shared.values(), dynamic["on_cubic"]]) or math.nan,
        "bbr_gap_s": _mean(bbr_gaps),
        "bbr_gap_max_s": max(bbr_gaps, default=math.nan),
        "cubic_gap_s": _mean(cubic_gaps),
        "cubic_gap_max_s": max(cubic_gaps, default=math.nan),
        "link_1": 100 * _utilisation(run.links, "link 1", step_s),
        "link_2": 100 * _utilisation(run.links, "link 2", step_s),
    }


def controlled_flows(run: Run) -> dict[str, float]:
    """Measure the mean rate and Jain's index of the long flows, the utilisation of both links, and the
    completion times of short transfers."""
    long = run.flows.filter(pl.col("flow") != SHORT)["goodput_bps"]
    took = completion_percentiles_s(run.transfers.filter(pl.col("flow") == SHORT), (50, 95)).row(
        0, named=True
    )
    return {
        "long_mean": _mean_of(long) * MBPS * WITH_HEADERS,
        "jain": jain(long) or math.nan,
        "link_1": 100 * _utilisation(run.links, "link 1", 0),
        "link_2": 100 * _utilisation(run.links, "link 2", 0),
        "short_median_ms": _milliseconds(took["p50_s"]),
        "short_p95_ms": _milliseconds(took["p95_s"]),
    }


def seconds_not_full(links: pl.DataFrame, link: str, start_s: float) -> float:
    """Return the time in s for which a link was not full in the `WITHIN_S` seconds after `start_s`."""
    samples = between(links.filter(pl.col("link") == link), start_s, start_s + WITHIN_S)
    step_s = spacing_s(samples)
    if step_s is None:
        return math.nan
    over = max(1, round(OVER_S / step_s))
    means = samples["utilisation"].rolling_mean(over).drop_nulls()
    return float((means < FULL).sum()) * step_s


def _rate(flows: pl.DataFrame, name: str) -> float:
    """Return the mean rate of a flow over the whole run, counting headers."""
    return float(flows.filter(pl.col("flow") == name)["goodput_bps"][0]) * MBPS * WITH_HEADERS


def _mean_rate(series: pl.DataFrame, name: str, spans: Sequence[tuple[float, float]]) -> float:
    """Return the mean rate of a flow over the given spans of time, counting headers."""
    of_flow = series.filter(pl.col("flow") == name)
    samples = pl.concat([between(of_flow, *span) for span in spans]) if spans else of_flow.clear()
    return _mean_of(samples["goodput_bps"]) * MBPS * WITH_HEADERS


def _mean_window(series: pl.DataFrame, name: str, start_s: float, end_s: float) -> float:
    samples = between(series.filter(pl.col("flow") == name), start_s, end_s)
    return _mean_of(samples["cwnd_bytes"]) * KB


def _window_of_all(series: pl.DataFrame, start_s: float, end_s: float) -> float:
    return _mean_of(between(series, start_s, end_s)["cwnd_bytes"])


def _lowest_window(series: pl.DataFrame, start_s: float, end_s: float) -> dict[str, float]:
    lowest = between(series, start_s, end_s).group_by("flow").agg(pl.col("cwnd_bytes").min()).drop_nulls()
    return {flow: float(window) for flow, window in lowest.iter_rows()}


def _utilisation(links: pl.DataFrame, link: str, start_s: float) -> float:
    return _mean_of(links.filter((pl.col("link") == link) & (pl.col("time_s") > start_s))["utilisation"])


def _seconds(spans: Iterable[tuple[float, float]]) -> float:
    return sum(end - start for start, end in spans)


def _unevenness(values: Sequence[float]) -> float:
    """Return the largest absolute difference of a value from the mean, as a share of the mean."""
    mean = _mean(values)
    return max(abs(value - mean) for value in values) / mean if mean else math.nan


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else math.nan


def _milliseconds(time_s: float | None) -> float:
    return math.nan if time_s is None else 1e3 * time_s


def _mean_of(column: pl.Series) -> float:
    return _mean(float(value) for value in column.drop_nulls())


# Counterparts of Figures 3 to 20, drawn from one run each: throughput and windows over time.


Drawn = dict[tuple[str, str, Value], Run]
"""Runs by experiment, algorithm and interval between changes of the route."""

SMOOTH_S = 1.0
"""Time over which samples (every 100 ms) are averaged in figures. `throughput.csv` has every sample."""
THROUGHPUT = "throughput (Mbit/s)"
WINDOW = "cwnd (kB)"
ROUTES = {"BBRv3": ("figures-3-5-7", "figures-4-6-8"), "CUBIC": ("figures-9-11-13", "figures-10-12-14")}
LINKS = {
    "BBRv3": ("figure-15", "figure-16", "figure-17"),
    "CUBIC": ("figure-18", "figure-19", "figure-20"),
}


@plots.in_house_style
def draw(runs: Drawn, folder: Path) -> list[Path]:
    """Write all figures, and a table with the throughput of every flow every 100 ms."""
    written = []
    for algorithm, stems in ROUTES.items():
        of = {key[2]: run for key, run in runs.items() if key[:2] == ("routes", algorithm)}
        changing = {f"{algorithm}, every {n} s": run.series for n, run in of.items() if n != "never"}
        written += _panels(changing, folder, *stems)
    for algorithm, (rates, windows, totals) in LINKS.items():
        run = runs["links", algorithm, ""]
        groups = ("BBR", "CUBIC", "dynamic")
        series = {_whose(g, algorithm): run.series.filter(pl.col("flow").str.starts_with(g)) for g in groups}
        written += _panels(series, folder, rates, windows)
        written += _totals(run, algorithm, folder, totals)
    return [*written, _samples(runs, folder)]


def _whose(group: str, algorithm: str) -> str:
    return {"BBR": "BBRv3 flows, link 1", "CUBIC": "CUBIC flows, link 2"}.get(group, f"dynamic, {algorithm}")


def _panels(series: Mapping[str, pl.DataFrame], folder: Path, rates: str, windows: str) -> list[Path]:
    """Draw two figures, one of throughput and one of windows, with a panel for every item of `series`."""
    throughput = {title: _per_second(_with_headers(frame)) for title, frame in series.items()}
    written = _figure(throughput, "goodput", THROUGHPUT, folder, rates)
    return written + _figure(series, "cwnd", WINDOW, folder, windows)


def _figure(
    panels: Mapping[str, pl.DataFrame], quantity: str, label: str, folder: Path, stem: str
) -> list[Path]:
    figure, axes = plots.new_figure(len(panels), row_height=1.5)
    frames = []
    for place, (title, frame) in zip(axes, panels.items(), strict=True):
        data = plots.time_series(place, {title: {"series": frame}}, quantity, legend_up_to=0)
        place.set_title(title)
        place.set_ylabel(label)
        if place is not axes[-1]:
            place.set_xlabel("")
        frames.append(data)
    _legend_of(figure, axes[0])
    return plots.save(figure, pl.concat(frames), folder, stem)


def _totals(run: Run, algorithm: str, folder: Path, stem: str) -> list[Path]:
    """Draw the throughput of link 1, of link 2 and of the dynamic flow.

    Each link has a rate of 100 Mbit/s, so its utilisation in per cent equals its throughput in Mbit/s.
    """
    figure, (place,) = plots.new_figure(row_height=2.4)
    links = run.links.filter(pl.col("link").is_in(["link 1", "link 2"]))
    carried = links.select("time_s", flow=pl.col("link"), goodput_bps=pl.col("utilisation") * 1e8)
    dynamic = _with_headers(run.series.filter(pl.col("flow") == "dynamic"))
    both = pl.concat([carried, dynamic.select("time_s", "flow", "goodput_bps")])
    data = plots.time_series(place, {algorithm: {"series": _per_second(both)}}, "goodput", legend_up_to=0)
    place.set_ylabel(THROUGHPUT)
    place.set_title(f"dynamic flow: {algorithm}")
    _legend_of(figure, place)
    return plots.save(figure, data, folder, stem)


def _samples(runs: Drawn, folder: Path) -> Path:
    """Write a table with every sample of the throughput, without and with headers."""
    goodput = pl.col("goodput_bps") * MBPS
    frames = [
        run.series.select(
            pl.lit(experiment).alias("experiment"),
            pl.lit(algorithm).alias("algorithm"),
            pl.lit(str(interval)).alias("interval"),
            "flow",
            "time_s",
            goodput_mbps=goodput,
            with_headers_mbps=goodput * WITH_HEADERS,
        )
        for (experiment, algorithm, interval), run in runs.items()
    ]
    return files.write_csv(folder / "throughput.csv", pl.concat(frames), digits=3)


def _with_headers(series: pl.DataFrame) -> pl.DataFrame:
    return series.with_columns(pl.col("goodput_bps") * WITH_HEADERS)


def _per_second(series: pl.DataFrame) -> pl.DataFrame:
    span = (pl.col("time_s") / SMOOTH_S - 1e-9).floor() * SMOOTH_S + SMOOTH_S
    return series.group_by("flow", span.alias("time_s"), maintain_order=True).agg(
        pl.col("goodput_bps").mean()
    )


def _legend_of(figure: Figure, place: Axes) -> None:
    entries = legend_entries(place)
    plots.shared_legend(figure, {_short(label): handle for label, handle in entries.items()})


def _short(label: str) -> str:
    """Return a label without the name of the algorithm, because the title of the panel has this name."""
    return label.removeprefix("BBR ").removeprefix("CUBIC ")
