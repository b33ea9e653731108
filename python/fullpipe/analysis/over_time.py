"""Samples and events over time, as figures and pages draw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import polars as pl

from fullpipe.runs import Run
from fullpipe.scenario.model.cells.cellular import Cellular
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.routing import Moving, reroutes_of
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.quantities import DURATION, RATE, natural, to_nanoseconds

# Samples of runs over time, converted to the units of a figure's axis.


Tables = Mapping[str, pl.DataFrame]

_SMOOTHED_RTTS = 3
"""Length of moving means in base RTTs."""
_SMOOTHED_PART, _SMOOTHED_S = 0.1, 1.0
"""Largest length of moving means: a share of the run or a time in s, whichever is longer."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity over time: its table and columns in a run, and its label and scale on an axis."""

    table: str
    actor: str
    column: str
    label: str
    scale: float
    in_packets: str | None = None
    """Column of the same quantity in packets, which is used if all tables have the column."""


QUANTITIES: dict[str, Quantity] = {
    "goodput": Quantity("series", "flow", "goodput_bps", "goodput (Mbit/s)", 1e-6),
    "pacing": Quantity("series", "flow", "pacing_bps", "pacing rate (Mbit/s)", 1e-6),
    "delivery": Quantity("series", "flow", "delivery_bps", "delivery rate (Mbit/s)", 1e-6),
    "cwnd": Quantity("series", "flow", "cwnd_bytes", "cwnd (kB)", 1e-3, "cwnd_packets"),
    "inflight": Quantity("series", "flow", "in_flight_bytes", "in flight (kB)", 1e-3, "in_flight_packets"),
    "rtt": Quantity("series", "flow", "srtt_s", "smoothed RTT (ms)", 1e3),
    "retransmissions": Quantity("series", "flow", "retransmitted_packets", "retransmitted (packets)", 1),
    "queue": Quantity("links", "link", "backlog_packets", "queue (packets)", 1),
    "sojourn": Quantity("links", "link", "sojourn_s", "queueing delay (ms)", 1e3),
    "drops": Quantity("links", "link", "dropped_packets", "dropped (packets)", 1),
    "utilisation": Quantity("links", "link", "utilisation", "utilisation (%)", 100),
}
"""Quantities that can be drawn over time, by the name that `time_series` and `Run.plot` take."""


def samples(
    runs: Mapping[str, Tables],
    quantity: str,
    only: Sequence[str] | None = None,
    window_s: float | None = None,
) -> tuple[pl.DataFrame, str]:
    """Return the samples that `time_series` draws, and the label of the axis.

    Goodput is a moving mean over `window_s`, by default over three base RTTs. All runs have the same window,
    which is at least one sample.

    Returns:
        The columns run, actor, time_s and value, in the unit of the label.

    Raises:
        ValueError: If the quantity is unknown, or has no samples.
    """
    what = _in_packets(_quantity(quantity), runs)
    found = [(label, *each) for label, tables in runs.items() for each in _actors(tables, what, only)]
    if not found:
        raise ValueError(f'{quantity}: there are no samples to draw; run with record.interval = "100 ms"')
    longest_s = 0.0
    if quantity == "goodput":
        wanted_s = max(map(_rtts_s, runs.values())) if window_s is None else window_s
        longest_s = max(_window_s(frame, wanted_s) for _, _, frame in found)
    frames = [
        _smoothed(frame, longest_s).select(
            pl.lit(label).alias("run"), pl.lit(actor).alias("actor"), "time_s", "value"
        )
        for label, actor, frame in found
    ]
    label = f"{what.label}\nmeans over {longest_s:.2g} s" if longest_s else what.label
    return pl.concat(frames), label


def _in_packets(what: Quantity, runs: Mapping[str, Tables]) -> Quantity:
    column = what.in_packets
    if column is None or not all(column in tables.get(what.table, ()) for tables in runs.values()):
        return what
    return replace(what, column=column, label=what.label.replace("(kB)", "(packets)"), scale=1)


def _rtts_s(tables: Tables) -> float:
    """Return three times the smallest smoothed RTT, s, but at most 1 s or a tenth of the run; 0 if RTTs are
    unknown.

    Larger RTTs would be too long: a full buffer or an outage has RTTs as long as an outage, and means over
    that time would hide the outage.
    """
    series = tables.get("series")
    if series is None or "srtt_s" not in series:
        return 0.0
    long_s = _SMOOTHED_RTTS * float(series["srtt_s"].quantile(0) or 0)
    run_s = float(series["time_s"].to_numpy().max(initial=0.0))
    return min(long_s, max(_SMOOTHED_S, _SMOOTHED_PART * run_s))


def _spacing_s(frame: pl.DataFrame) -> float:
    times = frame["time_s"]
    return float(times[1] - times[0]) if len(times) > 1 else 0.0


def _window_s(frame: pl.DataFrame, wanted_s: float) -> float:
    """Return the length of the window of moving means, s: a whole number of samples, or 0 if there would be
    fewer than two samples."""
    spacing_s = _spacing_s(frame)
    window = ceil(wanted_s / spacing_s - 1e-9) if spacing_s else 0
    return window * spacing_s if window > 1 else 0.0


def _smoothed(frame: pl.DataFrame, window_s: float) -> pl.DataFrame:
    """Return moving means over a window; the samples themselves if the window has fewer than two."""
    spacing_s = _spacing_s(frame)
    window = round(window_s / spacing_s) if spacing_s else 0
    if window < 2:
        return frame
    means = pl.col("value").rolling_mean(window, min_samples=1)
    return frame.with_columns(pl.when(pl.col("value").is_null()).then(None).otherwise(means).alias("value"))


def _quantity(name: str) -> Quantity:
    if name not in QUANTITIES:
        raise ValueError(f"unknown quantity {name!r}; known are {', '.join(QUANTITIES)}")
    return QUANTITIES[name]


def _actors(tables: Tables, what: Quantity, only: Sequence[str] | None) -> list[tuple[str, pl.DataFrame]]:
    table = tables.get(what.table)
    if table is None or table.is_empty():
        return []
    value = (pl.col(what.column).cast(pl.Float64) * what.scale).alias("value")
    wanted = None if only is None else set(only)
    parts = table.select(what.actor, "time_s", value).partition_by(what.actor, as_dict=True)
    return [(name, part) for (name,), part in parts.items() if wanted is None or name in wanted]


# Changes during a run: rates and delays of links, routes, and media.


MOST = 12
"""Maximum number of times at which links, routes or nodes change, counted for each of the three. If a run has
more, as on a recorded link, all changes of links (or routes, or nodes) are left out."""
SCHEMA = {"time_s": pl.Float64, "event": pl.String}


def events_of(run: Run) -> pl.DataFrame:
    """Return changes of links, reroutes and hand-overs in the order of time: time_s and event (words)."""
    found: dict[float, dict[str, None]] = {}
    for kind in (_of_links, _of_routes, _of_nodes):
        own = [(time_s, event) for time_s, event in kind(run) if 0 < time_s < run.meta.duration_s]
        if len({time_s for time_s, _ in own}) <= MOST:
            for time_s, event in own:
                found.setdefault(time_s, {})[event] = None
    rows = [(time_s, ", ".join(events)) for time_s, events in sorted(found.items())]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _of_links(run: Run) -> Iterator[tuple[float, str]]:
    """Yield changes of rates and delays, with the name of the link if several links change."""
    conditions = run.tables["conditions"]
    if conditions.filter(pl.col("time_s") > 0)["time_s"].n_unique() > MOST:
        return
    changes: list[tuple[float, str, str]] = []
    before: dict[str, dict[str, Any]] = {}
    for row in conditions.iter_rows(named=True):
        last = before.setdefault(row["link"], row)
        said = [text for key, text in _said(row).items() if row[key] != last[key]]
        changes += [(row["time_s"], row["link"], text) for text in said]
        before[row["link"]] = row
    are_several = len({link for _, link, _ in changes}) > 1
    for time_s, link, text in changes:
        yield time_s, f"{link} {text}" if are_several else text


def _said(row: dict[str, Any]) -> dict[str, str]:
    """Return the rate and the delay of a link in words."""
    rate, delay = row["rate_bps"], row["delay_s"]
    return {
        "rate_bps": "no rate" if rate is None else natural(RATE.format(round(rate))),
        "delay_s": "no delay" if delay is None else natural(DURATION.format(to_nanoseconds(delay))),
    }


def _of_routes(run: Run) -> Iterator[tuple[float, str]]:
    scenario, duration_s = run.scenario, run.meta.duration_s
    links = scenario.topology.links if isinstance(scenario.topology, Graph) else ()
    flows = zip(flow_names(scenario.flows), scenario.flows, strict=True)
    moving: list[tuple[str, Moving]] = [(names[0], flow) for names, flow in flows]
    for name, each in [*((str(link.name), link) for link in links), *moving]:
        for reroute in reroutes_of(each, duration_s):
            yield reroute.at_s, f"reroute of {name}"


def _of_nodes(run: Run) -> Iterator[tuple[float, str]]:
    """Yield moves to another medium, and hand-overs within cellular cells."""
    for move in run.scenario.mobility or ():
        yield move.at_s, f"{move.node} to {move.to}"
    for cell in run.scenario.cells or ():
        if isinstance(cell, Cellular):
            gaps = [(f"hand-over of {user.node}", gap) for user in cell.stations for gap in user.handovers]
            gaps += [(f"hand-over in {cell.name}", gap) for gap in cell.gaps]
            for event, gap in gaps:
                yield from _again(gap.at_s, gap.every_s, run, event)
            if satellites := cell.satellites:
                yield from _again(satellites.at_s, satellites.every_s, run, "satellite")


def _again(at_s: float, every_s: float | None, run: Run, event: str) -> Iterator[tuple[float, str]]:
    """Yield an event at a time and, if it is periodic, after each period."""
    count = 1 + int((run.meta.duration_s - at_s) / every_s) if every_s and at_s < run.meta.duration_s else 1
    yield from ((at_s + n * (every_s or 0.0), event) for n in range(count))


# Tables of a run prepared for figures: flows labelled with their presets, congestion windows in packets.


EVENTS = "events"
"""Name of the table with the changes during a run: see `events_of`."""
_IN_BYTES = {"cwnd_bytes": "cwnd_packets", "in_flight_bytes": "in_flight_packets"}


def flow_labels(run: Run) -> dict[str, str]:
    """Return the label of each flow in figures: its name, with the algorithm's preset: "bbr3-1 (draft)"."""
    flows = run.scenario.flows
    presets = [flow.cca.params.get("preset") if flow.cca and flow.name is None else None for flow in flows]
    return {
        name: f"{name} ({preset})" if preset else name
        for names, preset in zip(flow_names(flows), presets, strict=True)
        for name in names
    }


def presented(run: Run) -> Mapping[str, pl.DataFrame]:
    """Return the tables of a run for the drawing functions.

    Flows have the labels of `flow_labels`. `series` also has windows in packets, as `variables` has. `events`
    has the changes during the run.
    """
    return _Presented(run)


class _Presented(Mapping[str, pl.DataFrame]):
    """Tables that are prepared when they are accessed, so that unused tables are not read."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._labels = flow_labels(run)

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name == EVENTS:
            return events_of(self._run)
        table = self._run.tables[name]
        if name == "series":
            table = table.with_columns(
                (pl.col(size) / pl.col("flow").replace_strict(self._mss(), default=None)).alias(packets)
                for size, packets in _IN_BYTES.items()
            )
        if name in ("series", "variables"):
            table = table.with_columns(pl.col("flow").replace(self._labels))
        return table

    def _mss(self) -> dict[str, int]:
        scenario = self._run.scenario
        sizes = [scenario.tcp_of(flow).mss_bytes for flow in scenario.flows]
        names = flow_names(scenario.flows)
        return {name: mss for group, mss in zip(names, sizes, strict=True) for name in group}

    def __iter__(self) -> Iterator[str]:
        yield from self._run.tables
        yield EVENTS

    def __len__(self) -> int:
        return len(self._run.tables) + 1
