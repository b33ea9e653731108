"""The values measured of a run, per group of flows and per link, the same for every engine."""

from collections.abc import Collection, Mapping

import polars as pl

from fullpipe.analysis.metrics.groups import ALL, DOWNLOADS, UPLOADS, flow_directions, flow_groups
from fullpipe.analysis.metrics.link_measures import LINK_MEASURES
from fullpipe.analysis.metrics.measure import LinkMeasure, Measure
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.rows import Group, Whole
from fullpipe.runs import Run

SCHEMA = {"kind": pl.String, "of": pl.String, "metric": pl.String, "value": pl.Float64, "unit": pl.String}
BY_NAME: Mapping[str, Measure | LinkMeasure] = {each.name: each for each in (*MEASURES, *LINK_MEASURES)}
"""All of them; none of a link has the name of one of flows."""
_WAIT_S = 1e-4


def measured(
    run: Run, links: Collection[str] | None = None, metrics: Collection[str] | None = None
) -> pl.DataFrame:
    """Every measure of every group of flows, of all flows together if there are several groups, of downloads
    and uploads if there are both, and of links.

    Args:
        run: What is measured.
        links: Names of links. Left out: those of `busy_links`.
        metrics: Names of measures. Left out: all.

    Returns:
        The columns kind ("flows" or "link"), of (name of the group or link), metric, value and unit. What a
        run does not know, and what makes no sense of a group, has a null value; and what is said of all flows
        is not said of downloads and uploads again. See `Measure.is_of_connections`, too.
    """
    whole = Whole(run)
    groups = {name: Group(flows, whole) for name, flows in _parts(run).items()}
    of_flows = [
        ("flows", name, measure.name, _value(name, group, measure), measure.unit)
        for name, group in groups.items()
        for measure in MEASURES
        if metrics is None or measure.name in metrics
    ]
    chosen = pl.col("link").is_in(list(busy_links(run) if links is None else links))
    of_links = [
        ("link", str(row["link"]), measure.name, measure.value(row, run), measure.unit)
        for row in run.links_summary.filter(chosen).iter_rows(named=True)
        for measure in LINK_MEASURES
        if metrics is None or measure.name in metrics
    ]
    return pl.DataFrame([*of_flows, *of_links], schema=SCHEMA, orient="row")


def _value(name: str, group: Group, measure: Measure) -> float | None:
    """The number of a group; of all downloads and all uploads only what cannot be said of all flows."""
    is_senseless = group.goes_both_ways if measure.is_of_one_way else name in (DOWNLOADS, UPLOADS)
    return None if is_senseless else measure.value(group.connected if measure.is_of_connections else group)


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
    several = {ALL: run.flows["flow"].to_list(), **flow_directions(run)} if len(groups) > 1 else {}
    return parts | {name: run.flows.filter(pl.col("flow").is_in(flows)) for name, flows in several.items()}
