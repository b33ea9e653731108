"""From what the guest has written down to the tables of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.engines.linux.script.script import Experiment
from fullpipe.engines.linux.tables import datagrams, links
from fullpipe.engines.linux.tables.datagrams import Trips
from fullpipe.errors import EngineError
from fullpipe.results import TABLES, frame
from fullpipe.scenario import Route, Scenario
from fullpipe.scenario.quantities import BITS, NANOSECONDS, to_nanoseconds

NOT_MEASURED = frozenset(
    {
        "flows.refused_bytes",
        "transfers.ideal_s",
        "flows.limited_cwnd",
        "flows.limited_pacing",
        "flows.limited_application",
        "links.sojourn_s",
        "links_summary.sojourn_mean_s",
        "links_summary.sojourn_p95_s",
        "links_summary.backlog_max_packets",
        "variables",
        "packets",
    }
)
"""A kernel tells the state of a connection and of a queue, not what became of every packet."""

_SMOOTHED = "its RTT samples are smoothed"
_NEVER_FORGOTTEN = "it is of the whole connection, the warm-up included"

_TEXT = (
    "number",
    "time",
    "state",
    "ca_state",
    "mss",
    "cwnd",
    "ssthresh",
    "rtt",
    "min_rtt",
    "pacing",
    "delivery",
)
_COUNTS = ("unacked", "sacked", "lost", "resent", "retransmitted", "sent", "delivered", "sent_bytes")
_REST = ("busy", "rwnd_limited", "sndbuf_limited", "received", "finished")
_COLUMNS = (*_TEXT, *_COUNTS, *_REST)
_UNSIGNED = ("pacing", "delivery")
_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_NO_MIN_RTT = 2**32 - 1
_LATE_NS = 200_000
_US = 1e6


def read(folder: Path, scenario: Scenario, experiment: Experiment) -> dict[str, pl.DataFrame]:
    """The tables of a run.

    Raises:
        EngineError: If the guest did something else than it was asked to.
    """
    _check(folder, experiment)
    samples = _samples(folder / "flows", scenario)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    trips = datagrams.read(folder / "datagrams", experiment)
    series = _all_series(samples, trips, scenario, experiment, interval_ns) if interval_ns else {}
    flows = _flows(samples, trips, folder, scenario, experiment)
    measured: dict[str, Mapping[str, Any]] = {
        "flows": flows,
        "transfers": _transfers(samples, flows, experiment),
        "probes": datagrams.probes(list(trips.values())),
        "series": series,
        **links.read(folder / "links", scenario, experiment),
    }
    return {name: frame(table, measured.get(name, {})) for name, table in TABLES.items()}


def otherwise(scenario: Scenario) -> dict[str, str]:
    """The columns that are something else for connections than their meaning says, and why.

    A kernel tells its smoothed RTT and its smallest one, not every sample.
    """
    smoothed = {f"flows.rtt_{what}_s": _SMOOTHED for what in ("mean", "p50", "p95", "p99")}
    return smoothed | ({"flows.rtt_min_s": _NEVER_FORGOTTEN} if scenario.warmup_s else {})


def _check(folder: Path, experiment: Experiment) -> None:
    """The kernel may silently choose another algorithm, and drop what its own queues cannot hold."""
    for line in (folder / "connections").read_text(encoding="ascii").splitlines():
        number, asked, chosen = line.split(",")[:3]
        if asked != chosen:
            name = experiment.network.routes[int(number)].name
            raise EngineError(f"{name}: the kernel runs {chosen} instead of {asked}")
    thrown_away = int((folder / "thrown-away").read_text(encoding="ascii"))
    if thrown_away:
        raise EngineError(f"the guest's kernel itself dropped {thrown_away} packets; the run says nothing")


def _samples(path: Path, scenario: Scenario) -> pl.DataFrame:
    """Samples in the order of time; reading a clock takes time, so times are those that were meant."""
    types = {name: pl.UInt64 if name in _UNSIGNED else pl.Int64 for name in _COLUMNS}
    read = pl.read_csv(path, has_header=False, new_columns=list(_COLUMNS), schema=types)
    interval_ns = to_nanoseconds(scenario.record.interval_s)
    period_ns = sample_ns(interval_ns)
    early = pl.col("time") - pl.col("time") % period_ns
    marks = [to_nanoseconds(scenario.warmup_s), to_nanoseconds(scenario.duration_s)]
    meant = pl.when(pl.col("time") - early < _LATE_NS).then(early).otherwise(pl.col("time"))
    for mark_ns in marks:
        near = pl.col("time").is_between(mark_ns, mark_ns + _LATE_NS)
        meant = pl.when(near).then(mark_ns).otherwise(meant)
    timed = read.with_columns(time=meant)
    return timed.unique(["number", "time"], keep="last", maintain_order=True).sort("time", "number")


def sample_ns(interval_ns: int, at_least_ns: int = 10_000_000) -> int:
    """Time between samples of flows: short enough for RTTs, and a whole part of that of the tables."""
    return interval_ns // -(-interval_ns // at_least_ns) if interval_ns else at_least_ns


def _series(samples: pl.DataFrame, experiment: Experiment, interval_ns: int) -> dict[str, Any]:
    routes = experiment.network.routes
    rows = samples.filter(pl.col("time") % interval_ns == 0)
    seconds = interval_ns / NANOSECONDS
    grown = [
        pl.col(name).diff().over("number").alias(f"{name}_more") for name in ("received", "retransmitted")
    ]
    rows = rows.with_columns(*grown).filter(pl.col("time") > 0)
    begun = [starts_ns <= time for time, starts_ns in _with(rows, experiment.starts_ns)]
    on = pl.Series(begun, dtype=pl.Boolean)
    paced = pl.Series([_paces(routes[number]) for number in rows["number"]], dtype=pl.Boolean)
    flight = pl.col("unacked") - pl.col("sacked") - pl.col("lost") + pl.col("resent")
    values = rows.select(
        time_s=pl.col("time") / NANOSECONDS,
        goodput_bps=pl.col("received_more") * BITS / seconds,
        cwnd_bytes=pl.when(on).then(pl.col("cwnd") * pl.col("mss")),
        in_flight_bytes=pl.when(on).then(flight * pl.col("mss")),
        srtt_s=pl.when(pl.col("rtt") > 0).then(pl.col("rtt") / _US),
        min_rtt_s=pl.when((pl.col("min_rtt") > 0) & (pl.col("min_rtt") < _NO_MIN_RTT)).then(
            pl.col("min_rtt") / _US
        ),
        pacing_bps=pl.when(on & paced & (pl.col("pacing") < 2**63)).then(
            pl.col("pacing").cast(pl.Float64) * BITS
        ),
        delivery_bps=pl.when(pl.col("delivery") > 0).then(pl.col("delivery").cast(pl.Float64) * BITS),
        retransmitted_packets=pl.col("retransmitted_more"),
    ).to_dict(as_series=False)
    values["flow"] = [routes[number].name for number in rows["number"]]
    values["state"] = [
        _state(row, routes[row["number"]], begun=b)
        for row, b in zip(rows.iter_rows(named=True), begun, strict=True)
    ]
    return values


def _with(rows: pl.DataFrame, of_flows: Sequence[int]) -> list[tuple[int, int]]:
    return [(time, of_flows[number]) for number, time in rows.select("number", "time").iter_rows()]


def _paces(route: Route) -> bool:
    """Whether the kernel paces a flow; it keeps a rate for the others, too, which nothing follows."""
    return route.tcp.pacing != "auto" or route.flow.described.startswith(("bbr", "prague"))


def _state(row: Mapping[str, int], route: Route, *, begun: bool) -> str:
    stop_s = route.flow.stop_s
    stopped = stop_s is not None and row["time"] >= to_nanoseconds(stop_s) and not row["unacked"]
    if not begun:
        return "waiting"
    return "done" if row["finished"] >= 0 or stopped else _STATES[row["ca_state"]]


def _all_series(
    samples: pl.DataFrame,
    trips: Mapping[int, Trips],
    scenario: Scenario,
    experiment: Experiment,
    interval_ns: int,
) -> Mapping[str, Any]:
    """Rows in the order of time and of flows."""
    found = pl.DataFrame(_series(samples, experiment, interval_ns))
    if not trips:
        return found.to_dict(as_series=False)
    duration_ns = to_nanoseconds(scenario.duration_s)
    rows = [row for of_flow in trips.values() for row in datagrams.series(of_flow, interval_ns, duration_ns)]
    order = {route.name: number for number, route in enumerate(experiment.network.routes)}
    both = pl.concat([found, pl.DataFrame(rows)], how="diagonal_relaxed")
    numbers = pl.col("flow").replace_strict(order, return_dtype=pl.Int64)
    return both.sort("time_s", numbers, maintain_order=True).to_dict(as_series=False)


def _flows(
    samples: pl.DataFrame,
    trips: Mapping[int, Trips],
    folder: Path,
    scenario: Scenario,
    experiment: Experiment,
) -> dict[str, list[Any]]:
    types = dict.fromkeys(("number", "time", "marked"), pl.Int64)
    marks = pl.read_csv(folder / "marks", has_header=False, new_columns=list(types), schema=types)
    rows = [
        datagrams.flow(trips[number], scenario)
        if number in trips
        else _flow(number, samples.filter(pl.col("number") == number), marks, scenario, experiment)
        for number in range(len(experiment.network.routes))
    ]
    return {key: [row.get(key) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}


def _transfers(
    samples: pl.DataFrame, flows: Mapping[str, list[Any]], experiment: Experiment
) -> dict[str, list[Any]]:
    """A flow that has a size is one transfer."""
    rows = []
    for number, route in enumerate(experiment.network.routes):
        if route.flow.size_bytes is not None:
            last = _row(samples.filter(pl.col("number") == number).tail(1))
            rows.append(
                {
                    "flow": route.name,
                    "number": 1,
                    "connection": 1,
                    "start_s": flows["start_s"][number],
                    "end_s": flows["end_s"][number],
                    "bytes": route.flow.size_bytes,
                    "delivered_bytes": last["received"],
                    "sent_packets": last["sent"],
                    "retransmitted_packets": last["retransmitted"],
                    "fct_s": flows["fct_s"][number],
                }
            )
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def _flow(
    number: int, samples: pl.DataFrame, marks: pl.DataFrame, scenario: Scenario, experiment: Experiment
) -> dict[str, Any]:
    route, start_ns = experiment.network.routes[number], experiment.starts_ns[number]
    warmup_ns, duration_ns = to_nanoseconds(scenario.warmup_s), to_nanoseconds(scenario.duration_s)
    finished = samples["finished"].max()
    finished_ns = finished if isinstance(finished, int) and finished >= 0 else None
    stop_ns = None if route.flow.stop_s is None else to_nanoseconds(route.flow.stop_s)
    end_ns = min(at for at in (finished_ns, stop_ns, duration_ns) if at is not None)
    begin_ns = max(warmup_ns, start_ns)
    span_s = (end_ns - begin_ns) / NANOSECONDS
    before = _row(samples.filter(pl.col("time") <= begin_ns).tail(1))
    after = _row(samples.filter(pl.col("time") >= end_ns).head(1)) if span_s > 0 else before
    delivered = after["received"] - before["received"]
    sent = after["sent"] - before["sent"]
    wire = after["sent_bytes"] - before["sent_bytes"] + sent * route.tcp.overhead_bytes
    counts = marks.filter(pl.col("number") == number).sort("time")["marked"]
    return {
        "flow": route.name,
        "cca": route.flow.described,
        "protocol": "tcp",
        "start_s": start_ns / NANOSECONDS,
        "end_s": end_ns / NANOSECONDS,
        "delivered_bytes": delivered,
        "goodput_bps": delivered * BITS / span_s if span_s > 0 else None,
        "wire_bps": wire * BITS / span_s if span_s > 0 else None,
        "sent_packets": sent,
        "retransmitted_packets": after["retransmitted"] - before["retransmitted"],
        "marked_packets": counts[-1] - counts[0],
        **_rtts(samples, begin_ns, end_ns),
        "fct_s": None if finished_ns is None else (finished_ns - start_ns) / NANOSECONDS,
        **{
            f"limited_{ours}": (after[theirs] - before[theirs]) / _US / span_s if span_s > 0 else None
            for ours, theirs in (("receiver", "rwnd_limited"), ("send_buffer", "sndbuf_limited"))
        },
    }


def _row(rows: pl.DataFrame) -> dict[str, int]:
    return dict(rows.row(0, named=True))


def _rtts(samples: pl.DataFrame, begin_ns: int, end_ns: int) -> dict[str, float | None]:
    """Statistics of the smoothed RTT, each sample weighted by the packets acknowledged since the last."""
    rows = samples.with_columns(weight=pl.col("delivered").diff().fill_null(0))
    rows = rows.filter((pl.col("time") > begin_ns) & (pl.col("time") <= end_ns + _LATE_NS))
    rows = rows.filter((pl.col("rtt") > 0) & (pl.col("weight") > 0)).sort("rtt")
    names = ("rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s")
    lowest = samples.filter((pl.col("min_rtt") > 0) & (pl.col("min_rtt") < _NO_MIN_RTT))["min_rtt"].min()
    smallest = {"rtt_min_s": float(lowest) / _US if isinstance(lowest, int) else None}
    if rows.is_empty():
        return smallest | dict.fromkeys(names)
    weight, rtt = rows["weight"], rows["rtt"]
    share = weight.cum_sum() / weight.sum()
    quantiles = [rtt.filter(share >= q)[0] / _US for q in (0.5, 0.95, 0.99)]
    mean = float((rtt * weight).sum()) / float(weight.sum()) / _US
    return smallest | dict(zip(names, (mean, *quantiles), strict=True))
