"""What is measured of a run: values per group of flows and per link, the same of every engine."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import polars as pl

from fullpipe.metrics.connections import connections
from fullpipe.metrics.delay import mean_srtt_s, power, rtt_inflation
from fullpipe.metrics.dynamics import convergence_time_s
from fullpipe.metrics.fairness import jain, starved_flows
from fullpipe.metrics.groups import flow_groups
from fullpipe.metrics.loss import drop_rate, loss_rate, marking_rate, retransmission_rate
from fullpipe.metrics.samples import mean, real
from fullpipe.metrics.transfers import slowdowns
from fullpipe.metrics.voice import call_scores
from fullpipe.results import Run

ALL = "all flows"
SCHEMA = {"kind": pl.String, "of": pl.String, "metric": pl.String, "value": pl.Float64, "unit": pl.String}


@dataclass(frozen=True)
class Group:
    """The tables of some flows of a run."""

    flows: pl.DataFrame
    run: Run


@dataclass(frozen=True)
class Measure:
    """A number per group of flows: what it is called, in which unit, and how it comes about."""

    name: str
    unit: str
    meaning: str
    value: Callable[[Group], float | None]
    event: str = ""
    """What has to happen in a run for there to be a value; empty if it takes no more than measuring."""
    table: str = "flows"
    """In which it is seen whether that happens."""


@dataclass(frozen=True)
class LinkMeasure:
    """A number per link."""

    name: str
    unit: str
    meaning: str
    value: Callable[[dict[str, Any], pl.DataFrame], float | None]


def _of(metric: Callable[[pl.DataFrame], float | None]) -> Callable[[Group], float | None]:
    """A metric of the table of flows."""
    return lambda group: metric(group.flows)


def _sum(column: str) -> Callable[[Group], float | None]:
    return lambda group: real(group.flows[column].sum()) if _known(group, column) else None


def _mean(column: str) -> Callable[[Group], float | None]:
    return lambda group: mean(group.flows[column].to_list())


def _known(group: Group, column: str) -> bool:
    return group.flows[column].null_count() < group.flows.height


def _share(group: Group) -> float | None:
    total = float(group.run.flows["goodput_bps"].sum())
    return float(group.flows["goodput_bps"].sum()) / total if total else None


def _jain(group: Group) -> float | None:
    own = connections(group.flows)
    return jain(own["goodput_bps"].to_list()) if own.height > 1 else None


def _starved(group: Group) -> float | None:
    own = connections(group.flows)
    return starved_flows(own) if own.height else None


def _power(group: Group) -> float | None:
    rtt_s = mean(group.flows["rtt_mean_s"].to_list())
    return power(float(group.flows["goodput_bps"].sum()), rtt_s) if rtt_s else None


def _srtt(group: Group) -> float | None:
    series, warmup_s = group.run.series, group.run.scenario.warmup_s
    return mean(mean_srtt_s(series, group.flows, flow, warmup_s) for flow in group.flows["flow"].to_list())


def _convergence(group: Group) -> float | None:
    series, all_flows, own = group.run.series, connections(group.run.flows), connections(group.flows)
    if series.is_empty() or all_flows.height < 2 or own.is_empty():
        return None
    times = [convergence_time_s(series, all_flows, flow) for flow in own["flow"].to_list()]
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(times) else None


def _fct(percentile: float) -> Callable[[Group], float | None]:
    return lambda group: real(_completions(group).quantile(percentile / 100, "linear"))


def _completions(group: Group) -> pl.Series:
    return _transfers(group)["fct_s"].drop_nulls()


def _slowdown(group: Group) -> float | None:
    return real(slowdowns(_transfers(group))["slowdown"].median())


def _call_score(group: Group) -> float | None:
    scores = call_scores(group.run)
    return mean([scores[flow] for flow in group.flows["flow"].to_list() if flow in scores])


def _transfers(group: Group) -> pl.DataFrame:
    of_group = pl.col("flow").is_in(group.flows["flow"].to_list())
    return group.run.tables["transfers"].filter(of_group)


_FINISHED = "any transfer finishes"
MEASURES = (
    Measure("goodput", "bit/s", "sum over its flows, each over its own time", _sum("goodput_bps")),
    Measure("wire", "bit/s", "with headers and retransmissions, sum over its flows", _sum("wire_bps")),
    Measure("share", "1", "of the goodput of all flows", _share),
    Measure("jain", "1", "Jain's index of its connections; none for a single one", _jain),
    Measure("starved", "flows", "connections below 1 Mbit/s", _starved),
    Measure("rtt_min", "s", "mean over its flows of the smallest RTT", _mean("rtt_min_s")),
    Measure("rtt_mean", "s", "mean over its flows of the mean of RTT samples", _mean("rtt_mean_s")),
    Measure("srtt_mean", "s", "mean over its flows of the mean over time of the smoothed RTT", _srtt),
    Measure("rtt_p95", "s", "mean over its flows of the 95th percentile", _mean("rtt_p95_s")),
    Measure("rtt_inflation", "1", "95th percentile over the smallest RTT", _of(rtt_inflation)),
    Measure("owd_mean", "s", "mean over its flows of the mean one-way delay", _mean("owd_mean_s")),
    Measure("owd_p95", "s", "mean over its flows of the 95th percentile", _mean("owd_p95_s")),
    Measure("jitter", "s", "mean over its flows of the interarrival jitter of datagrams", _mean("jitter_s")),
    Measure("call_score", "1", "mean opinion score of its calls, by the E-model", _call_score),
    Measure("retransmitted", "packets", "data packets sent again", _sum("retransmitted_packets")),
    Measure("retransmission_rate", "1", "of all data packets", _of(retransmission_rate)),
    Measure("loss_rate", "1", "data packets marked as lost, of all", _of(loss_rate)),
    Measure("marking_rate", "1", "data packets with a mark, of all", _of(marking_rate)),
    Measure("power", "bit/s²", "goodput over mean RTT", _power),
    Measure(
        "convergence",
        "s",
        "slowest of its connections; none if one never does",
        _convergence,
        event="all its connections converge",
        table="series",
    ),
    Measure("fct_p50", "s", "median completion time", _fct(50), _FINISHED, "transfers"),
    Measure("fct_p95", "s", "95th percentile of the completion time", _fct(95), _FINISHED, "transfers"),
    Measure("slowdown", "1", "median of the completion time over that of an empty path", _slowdown),
)
"""Per group of flows."""

LINK_MEASURES = (
    LinkMeasure("utilisation", "1", "share of the time in which it sent", lambda row, _: row["utilisation"]),
    LinkMeasure("sojourn_mean", "s", "mean wait in the queue", lambda row, _: row["sojourn_mean_s"]),
    LinkMeasure("sojourn_p95", "s", "95th percentile of it", lambda row, _: row["sojourn_p95_s"]),
    LinkMeasure("dropped", "packets", "dropped or lost", lambda row, _: row["dropped_packets"]),
    LinkMeasure(
        "drop_rate", "1", "of all packets that came", lambda row, links: drop_rate(links, str(row["link"]))
    ),
    LinkMeasure("marked", "packets", "marked by the queue", lambda row, _: row["marked_packets"]),
)
"""Per link that did something to packets."""
_WAIT_S = 1e-4


def measured(run: Run, links: Collection[str] | None = None) -> pl.DataFrame:
    """Every measure of every group of flows, of all flows together if there are several groups, and of links.

    Args:
        run: What is measured.
        links: Names of links. Left out: those of `busy_links`.

    Returns:
        The columns kind ("flows" or "link"), of (name of the group or link), metric, value and unit. What a
        run does not know, and what makes no sense of a group, has a null value.
    """
    groups = {name: Group(flows, run) for name, flows in _parts(run).items()}
    of_flows = [
        ("flows", name, measure.name, measure.value(group), measure.unit)
        for name, group in groups.items()
        for measure in MEASURES
    ]
    chosen = pl.col("link").is_in(list(busy_links(run) if links is None else links))
    of_links = [
        ("link", str(row["link"]), measure.name, measure.value(row, run.links_summary), measure.unit)
        for row in run.links_summary.filter(chosen).iter_rows(named=True)
        for measure in LINK_MEASURES
    ]
    return pl.DataFrame([*of_flows, *of_links], schema=SCHEMA, orient="row")


def busy_links(run: Run) -> list[str]:
    """The links that did something to packets: the mean wait is 0.1 ms or more, or some were dropped or
    marked."""
    columns = ("sojourn_mean_s", "dropped_packets", "marked_packets")
    waits, dropped, marked = (pl.col(name) for name in columns)
    busy = run.links_summary.filter((waits >= _WAIT_S) | (dropped > 0) | (marked > 0))
    return [str(name) for name in busy["link"]]


def _parts(run: Run) -> dict[str, pl.DataFrame]:
    groups = flow_groups(run)
    parts = {name: run.flows.filter(pl.col("flow").is_in(flows)) for name, flows in groups.items()}
    return parts | ({ALL: run.flows} if len(groups) > 1 else {})
