"""Samples and events over time, as figures and pages draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from fullpipe.analysis.metrics.paths import base_rtts_s, capacity_bps
from fullpipe.runs import Run
from fullpipe.scenario import resolve
from fullpipe.scenario.model.cells.cellular import Cellular, Gap
from fullpipe.scenario.model.flows import flow_names
from fullpipe.scenario.model.link.losses import plan_of
from fullpipe.scenario.model.routing import Moving, reroutes_of
from fullpipe.scenario.model.topology import Graph
from fullpipe.scenario.network.parts import Link
from fullpipe.scenario.quantities import BITS, DURATION, NANOSECONDS, RATE, natural, to_nanoseconds
from fullpipe.scenario.traces import TraceError

# Samples of runs over time, converted to the units of a figure's axis.


Tables = Mapping[str, pl.DataFrame]

_SMOOTHED_RTTS = 3
"""Length of moving means in base RTTs."""
_SMOOTHED_PART, _SMOOTHED_S = 0.1, 1.0
"""Largest length of moving means: a share of the run or a time in s, whichever is longer."""
_PART_OF_MEANS = 1 / 40
"""Least length of moving means in figures of means over runs, as a share of the run."""


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
    *,
    each_ping: bool = True,
) -> tuple[pl.DataFrame, str]:
    """Return the samples that `time_series` draws, and the label of the axis.

    Goodput is a moving mean over `window_s`, by default over three base RTTs. All runs have the same window,
    which is at least one sample. Pings have no goodput unless `only` names them. The RTTs of pings are those
    of the single pings at their send times, or, without `each_ping`, those of the sample intervals.

    Returns:
        The columns run, actor, time_s and value, in the unit of the label.

    Raises:
        ValueError: If the quantity is unknown, or has no samples.
    """
    what = _in_packets(_quantity(quantity), runs)
    found = [(label, *each) for label, tables in runs.items() for each in _actors(tables, what, only)]
    if quantity == "rtt" and each_ping:
        found = [(run, actor, pings_of(runs[run]).get(actor, frame)) for run, actor, frame in found]
    if not found:
        raise ValueError(f'{quantity}: there are no samples to draw; run with record.interval = "100 ms"')
    longest_s = goodput_window_s(runs, window_s) if quantity == "goodput" else 0.0
    frames = [
        smoothed(frame, longest_s).select(
            pl.lit(label).alias("run"), pl.lit(actor).alias("actor"), "time_s", "value"
        )
        for label, actor, frame in found
    ]
    label = f"{what.label}\nmeans over {longest_s:.2g} s" if longest_s else what.label
    has_pings = quantity == "rtt" and each_ping
    return pl.concat(frames), _label_of_rtts(label, runs, found) if has_pings else label


def _label_of_rtts(label: str, runs: Mapping[str, Tables], found: Sequence[tuple[str, str, Any]]) -> str:
    """The label of an axis of RTTs, which says if RTTs are those of single pings."""
    are_pings = {actor in pings_of(runs[run]) for run, actor, _ in found}
    if are_pings == {True}:
        return "RTT of pings (ms)"
    return f"{label}\npings: RTT of each" if True in are_pings else label


def goodput_window_s(
    runs: Mapping[str, Tables], window_s: float | None = None, *, over_runs: bool = False
) -> float:
    """Return the length of the moving means of goodput of these runs, s; 0 if it is less than two samples.

    Args:
        runs: Tables by label.
        window_s: Wanted length; by default three base RTTs.
        over_runs: Whether the default is at least a part of the run, as bands of several means over runs
            would otherwise fill the axes.
    """
    least_s = _PART_OF_MEANS * max(map(_length_s, runs.values())) if over_runs else 0.0
    wanted_s = max(least_s, *map(_rtts_s, runs.values())) if window_s is None else window_s
    frames = [frame for tables in runs.values() for _, frame in _parts(tables, QUANTITIES["goodput"])]
    return max((_window_s(frame, wanted_s) for frame in frames), default=0.0)


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
    return min(long_s, max(_SMOOTHED_S, _SMOOTHED_PART * _length_s(tables)))


def _length_s(tables: Tables) -> float:
    """Return the time of the last sample of flows, s."""
    return float(tables["series"]["time_s"].to_numpy().max(initial=0.0)) if "series" in tables else 0.0


def _spacing_s(frame: pl.DataFrame) -> float:
    times = frame["time_s"]
    return float(times[1] - times[0]) if len(times) > 1 else 0.0


def _window_s(frame: pl.DataFrame, wanted_s: float) -> float:
    """Return the length of the window of moving means, s: a whole number of samples, or 0 if there would be
    fewer than two samples."""
    spacing_s = _spacing_s(frame)
    window = ceil(wanted_s / spacing_s - 1e-9) if spacing_s else 0
    return window * spacing_s if window > 1 else 0.0


def smoothed(frame: pl.DataFrame, window_s: float) -> pl.DataFrame:
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
    """The samples of flows or links, all by default. Goodput of pings is only returned if `only` names them,
    or no other flow has samples."""
    found = [(name, part) for name, part in _parts(tables, what) if only is None or name in only]
    if what.column == "goodput_bps" and only is None:
        pings = pings_of(tables)
        return [(name, part) for name, part in found if name not in pings] or found
    return found


def _parts(tables: Tables, what: Quantity) -> list[tuple[str, pl.DataFrame]]:
    """The samples of every flow or link, as time_s and value."""
    table = tables.get(what.table)
    if table is None or table.is_empty():
        return []
    value = (pl.col(what.column).cast(pl.Float64) * what.scale).alias("value")
    parts = table.select(what.actor, "time_s", value).partition_by(what.actor, as_dict=True)
    return [(str(name), part) for (name,), part in parts.items()]


def pings_of(tables: Tables) -> dict[str, pl.DataFrame]:
    """Return the RTTs of every ping flow, as time_s (of the send time) and value (ms; null: no reply)."""
    probes = tables.get("probes")
    if probes is None or probes.is_empty():
        return {}
    scale = QUANTITIES["rtt"].scale
    rtts = probes.select("flow", "time_s", value=pl.col("rtt_s").cast(pl.Float64) * scale).sort("time_s")
    parts = rtts.partition_by("flow", as_dict=True, maintain_order=True)
    return {str(name): part for (name,), part in parts.items() if not part["value"].is_null().all()}


# Changes during a run: rates and delays of links, routes, and media.


MOST = 12
"""Maximum number of times at which links, routes or nodes change, counted for each of the three. If a run has
more, as on a recorded link, all changes of links (or routes, or nodes) are left out."""
SCHEMA = {"time_s": pl.Float64, "event": pl.String, "until_s": pl.Float64}
Event = tuple[float, str, float | None]
"""A time in s, words, and the end of a state that lasts."""


def events_of(run: Run) -> pl.DataFrame:
    """Return changes of links, losses, reroutes and hand-overs in the order of time: time_s, event (words),
    and until_s (the end of an interruption or a spike of losses; otherwise null)."""
    found: dict[float, dict[str, float | None]] = {}
    for kind in (_of_links, _of_losses, _of_routes, _of_nodes):
        own = [event for event in kind(run) if 0 < event[0] < run.meta.duration_s]
        if len({time_s for time_s, _, _ in own}) <= MOST:
            for time_s, event, until_s in own:
                found.setdefault(time_s, {})[event] = until_s
    rows = [
        (time_s, ", ".join(events), max((end for end in events.values() if end is not None), default=None))
        for time_s, events in sorted(found.items())
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _of_links(run: Run) -> Iterator[Event]:
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
        yield time_s, f"{link} {text}" if are_several else text, None


def _of_losses(run: Run) -> Iterator[Event]:
    """Yield changes of the loss of links. A change ends where the link has its first loss again."""
    changes: list[tuple[str, Event]] = []
    for hop in resolve(run.scenario).hops:
        if not isinstance(hop, Link):
            continue
        first = last = "no loss" if hop.loss is None else _loss_said(plan_of(hop.loss))
        steps = [(at / NANOSECONDS, _loss_said(known["loss"])) for at, known in hop.steps if "loss" in known]
        for number, (time_s, text) in enumerate(steps):
            if text not in (first, last):
                end_s = next((later_s for later_s, then in steps[number:] if then == first), None)
                changes.append((hop.name, (time_s, text, end_s)))
            last = text
    are_several = len({link for link, _ in changes}) > 1
    for link, (time_s, text, end_s) in changes:
        yield time_s, f"{link} {text}" if are_several else text, end_s


def _loss_said(loss: Mapping[str, Any]) -> str:
    """Return a loss model of the plan in words."""
    probability = loss.get("probability")
    if loss["kind"] != "bernoulli" or probability is None:
        return f"loss: {loss['kind']}"
    return f"loss {100 * probability:.3g} %" if probability else "no loss"


def _said(row: dict[str, Any]) -> dict[str, str]:
    """Return the rate and the delay of a link in words."""
    rate, delay = row["rate_bps"], row["delay_s"]
    return {
        "rate_bps": "no rate" if rate is None else natural(RATE.format(round(rate))),
        "delay_s": "no delay" if delay is None else natural(DURATION.format(to_nanoseconds(delay))),
    }


def _of_routes(run: Run) -> Iterator[Event]:
    scenario, duration_s = run.scenario, run.meta.duration_s
    links = scenario.topology.links if isinstance(scenario.topology, Graph) else ()
    flows = zip(flow_names(scenario.flows), scenario.flows, strict=True)
    moving: list[tuple[str, Moving]] = [(names[0], flow) for names, flow in flows]
    for name, each in [*((str(link.name), link) for link in links), *moving]:
        for reroute in reroutes_of(each, duration_s):
            yield reroute.at_s, f"reroute of {name}", None


def _of_nodes(run: Run) -> Iterator[Event]:
    """Yield moves to another medium, and hand-overs within cellular cells."""
    for move in run.scenario.mobility or ():
        yield move.at_s, f"{move.node} to {move.to}", None
    for cell in run.scenario.cells or ():
        if isinstance(cell, Cellular):
            gaps = [(f"hand-over of {user.node}", gap) for user in cell.stations for gap in user.handovers]
            gaps += [(f"hand-over in {cell.name}", gap) for gap in cell.gaps]
            for event, gap in gaps:
                times_s = _again(gap.at_s, gap.every_s, run)
                yield from ((time_s, event, time_s + gap.gap_s) for time_s in times_s)
            if satellites := cell.satellites:
                times_s = _again(satellites.at_s, satellites.every_s, run)
                yield from ((time_s, "satellite", None) for time_s in times_s)


def _again(at_s: float, every_s: float | None, run: Run) -> list[float]:
    """Return a time and, if it is periodic, the times after each period."""
    count = 1 + int((run.meta.duration_s - at_s) / every_s) if every_s and at_s < run.meta.duration_s else 1
    return [at_s + n * (every_s or 0.0) for n in range(count)]


# Capacities of links over time: rates of the table `conditions`, recordings, and cells.


_CAPACITY = "capacity"


def capacities_of(run: Run) -> pl.DataFrame:
    """Return the capacities of links and of ports of cellular cells: link, time_s, rate_bps, is_mean, what.

    A rate holds from its time on, or, if `is_mean`, is the mean of the sample interval that ends at this
    time. `what` is the label of the capacity. Rates are limited by the frames and the shaper of the link. A
    packet-delivery trace has its opportunities in every interval; a trace whose file has changed has no rows.
    A port of a cell has the rate of all resource blocks at the MCS of the sample, and no capacity during
    interruptions. Wi-Fi ports have no rows, because the rate within a frame is far above what a station can
    use.
    """
    hops = {hop.name: hop for hop in resolve(run.scenario).hops if isinstance(hop, Link)}
    limits_bps = {name: replace(hop, rate_bps=None, trace=None).limit_bps for name, hop in hops.items()}
    limits = pl.col("link").replace_strict(limits_bps, default=None, return_dtype=pl.Float64)
    steps = run.tables["conditions"].select("time_s", "link", rate_bps=pl.min_horizontal("rate_bps", limits))
    times_s = run.tables["links"]["time_s"].unique().sort().to_numpy()
    means = [*_recorded_rates(hops, times_s), *_cell_rates(run, times_s)]
    others = ~pl.col("link").is_in([link for link, _, _ in means])
    frames = [steps.filter(others).with_columns(is_mean=False, what=pl.lit(_CAPACITY))]
    frames += [
        pl.DataFrame({"time_s": times_s, "link": link, "rate_bps": rates_bps, "is_mean": True, "what": what})
        for link, rates_bps, what in means
    ]
    return pl.concat(frames).drop_nulls("rate_bps").select("link", "time_s", "rate_bps", "is_mean", "what")


def _recorded_rates(hops: Mapping[str, Link], times_s: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield the mean rates of packet-delivery traces in the intervals that end at these times."""
    for name, hop in hops.items():
        if hop.trace is not None and hop.trace.kind == "mahimahi":
            with suppress(TraceError):
                yield name, hop.trace.rates_bps(times_s), _CAPACITY


def _cell_rates(run: Run, times_s: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield the rates of ports of cellular cells at the MCS of each sample, without interruptions."""
    variables = run.tables["variables"]
    modes = variables.filter(pl.col("name") == "mcs") if len(times_s) else variables.clear()
    for cell in [cell for cell in run.scenario.cells or () if isinstance(cell, Cellular)]:
        for port, user, rates_bps in cell.modes():
            known = modes.filter(pl.col("link") == port)
            mcs = known["value"].to_numpy().astype(int)
            if len(mcs) == len(times_s):
                share = sum(_covered(gap, times_s, run) for gap in (*cell.gaps, *user.handovers))
                is_alone = len(cell.stations) == 1 and not cell.background.users
                what = _CAPACITY if is_alone else f"{_CAPACITY} without other users"
                yield port, np.array(rates_bps)[mcs] * (1 - share), what


def _covered(gap: Gap, times_s: Any, run: Run) -> Any:
    """The share of every interval that ends at these times in which a cell is interrupted."""
    begins_s = np.concatenate([[0.0], times_s[:-1]])
    found = np.zeros(len(times_s))
    for at_s in _again(gap.at_s, gap.every_s, run):
        found += (np.minimum(times_s, at_s + gap.gap_s) - np.maximum(begins_s, at_s)).clip(0)
    return found / (times_s - begins_s)


def paths_of(run: Run) -> pl.DataFrame:
    """Return the empty path of every flow: flow, capacity_bps (of the narrowest link), base_rtt_s, and
    bdp_packets, their product in full packets with all headers. Values that vary during a run are null. A
    measurement has no rows, because its path is unknown."""
    network, labels = resolve(run.scenario), flow_labels(run)
    rows = []
    paths = zip(network.flows, base_rtts_s(network), strict=True)
    for routed, rtt_s in () if run.meta.engine.is_of_a_file else paths:
        bps = capacity_bps(network, [routed.name])
        packets = bps * rtt_s / BITS / routed.tcp.segment_bytes if bps and rtt_s else None
        rows.append((labels[routed.name], bps, rtt_s, packets))
    columns = ("capacity_bps", "base_rtt_s", "bdp_packets")
    return pl.DataFrame(rows, {"flow": pl.String(), **dict.fromkeys(columns, pl.Float64())}, orient="row")


# Tables of a run prepared for figures: flows labelled with their presets, congestion windows in packets.


_MADE: Mapping[str, Callable[[Run], pl.DataFrame]] = {
    "events": events_of,
    "capacities": capacities_of,
    "paths": paths_of,
}
"""Tables that are computed from a run, by name."""
_PACKETS_PER_S = "packets/s"
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

    Flows have the labels of `flow_labels`. `series` also has windows in packets, as `variables` has.
    `variables` has bandwidths in bit/s of payload. `events` has the changes during the run, `capacities`
    the capacities of links, and `paths` the empty paths of flows.
    """
    return _Presented(run)


class _Presented(Mapping[str, pl.DataFrame]):
    """Tables that are prepared when they are accessed, so that unused tables are not read."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._labels = flow_labels(run)

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name in _MADE:
            return _MADE[name](self._run)
        table = self._run.tables[name]
        if name == "series":
            table = table.with_columns(
                (pl.col(size) / pl.col("flow").replace_strict(self._mss(), default=None)).alias(packets)
                for size, packets in _IN_BYTES.items()
            )
        if name == "variables":
            of_flow = pl.col("flow").replace_strict(self._mss(), default=None)
            is_rate = pl.col("unit").eq(_PACKETS_PER_S) & of_flow.is_not_null()
            table = table.with_columns(
                pl.when(is_rate).then(pl.col("value") * of_flow * BITS).otherwise("value").alias("value"),
                pl.when(is_rate).then(pl.lit("bit/s")).otherwise("unit").alias("unit"),
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
        yield from _MADE

    def __len__(self) -> int:
        return len(self._run.tables) + len(_MADE)
