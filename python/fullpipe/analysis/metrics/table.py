"""Metrics of a run as a table, and the metrics that outputs show by default."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

from fullpipe.analysis.metrics.groups import ALL, DOWNLOADS, UPLOADS, flow_directions, flow_groups
from fullpipe.analysis.metrics.measure import LinkMeasure, Measure, View
from fullpipe.analysis.metrics.measures import MEASURES
from fullpipe.analysis.metrics.rows import Group, Whole
from fullpipe.analysis.metrics.specific import LINK_MEASURES
from fullpipe.errors import UnknownNameError, suggestion
from fullpipe.lazy import pl
from fullpipe.runs import Run
from fullpipe.scenario import Scenario

# Measured values of a run per group of flows and per link. All engines have the same metrics.


COLUMNS = ("kind", "of", "metric", "value", "unit")
Row = tuple[str, str, str, float | None, str]
"""A row of the table: its fields are `COLUMNS`."""
BY_NAME: Mapping[str, Measure | LinkMeasure] = {each.name: each for each in (*MEASURES, *LINK_MEASURES)}
"""All measures; measures of links and of flows have different names."""
NOT_OF_ECHOES = frozenset(measure.name for measure in MEASURES if not measure.is_of_echoes)
"""Names of measures that are meaningless for pings and probes."""
_WAIT_S = 1e-4


def check_metric(name: str) -> None:
    """Raise UnknownNameError if a name is not a metric. The error names the metrics that have the name as a
    synonym or as their label."""
    if name not in BY_NAME:
        raise UnknownNameError("metric", name, BY_NAME, "fullpipe list metrics", by_synonym())


def metric_suggestion(name: str) -> str:
    """Return the addition to an error on an unknown metric: see `fullpipe.errors.suggestion`."""
    return suggestion(name, BY_NAME, by_synonym())


@cache
def by_synonym() -> dict[str, list[str]]:
    """Return the names of metrics by their synonyms and labels in lower case."""
    found: dict[str, list[str]] = {}
    for each in BY_NAME.values():
        for word in (*each.synonyms, *filter(None, [each.label.lower()])):
            found.setdefault(word, []).append(each.name)
    return found


def measured(
    run: Run, links: Collection[str] | None = None, metrics: Collection[str] | None = None
) -> pl.DataFrame:
    """Return every measure of every group of flows and of links.

    If there are several groups, there are also values for all flows together. If some flows download and
    others upload, there are also values for each direction.

    Args:
        run: A run of any engine.
        links: Names of links. Default: the links of `busy_links`.
        metrics: Names of measures. Default: all.

    Returns:
        The columns kind ("flows" or "link"), of (name of the group or link), metric, value and unit. The
        value is null if the run did not measure the metric, or the metric is undefined for the group. The
        value is also null for downloads and uploads if all flows together have a value. See
        `Measure.is_of_connections`, too.
    """
    return pl.DataFrame(measured_rows(run, links, metrics), schema=schema(), orient="row")


def without_idle_rtt(run: Run) -> list[str]:
    """Return the names of ping and probe flows under load whose `latency_increase` is unknown: see
    `Whole.idle_rtt_s`."""
    return Whole(run).without_idle_rtt()


def schema() -> dict[str, type[pl.DataType]]:
    """Names and types of the columns of `measured`."""
    return dict.fromkeys(COLUMNS, pl.String) | {"value": pl.Float64}


def measured_rows(
    run: Run, links: Collection[str] | None = None, metrics: Collection[str] | None = None
) -> list[Row]:
    """Return the rows of `measured`. Callers build one table from the rows of many runs, because creating a
    polars table takes longer than filling it."""
    whole = Whole(run)
    groups = {name: Group(flows, whole) for name, flows in _parts(whole).items()}
    measures = [measure for measure in MEASURES if metrics is None or measure.name in metrics]
    of_flows: list[Row] = [
        ("flows", name, measure.name, _value(name, group, measure), measure.unit)
        for name, group in groups.items()
        for measure in measures
    ]
    chosen = frozenset(busy_links(run) if links is None else links)
    of_links = [measure for measure in LINK_MEASURES if metrics is None or measure.name in metrics]
    rows = run.rows("links_summary") if chosen and of_links else ()
    return of_flows + [
        ("link", str(row["link"]), measure.name, measure.value(row, run), measure.unit)
        for row in rows
        if row["link"] in chosen
        for measure in of_links
    ]


def _value(name: str, group: Group, measure: Measure) -> float | None:
    """Return the value of a group. Downloads and uploads have values only if all flows together have none."""
    is_senseless = group.goes_both_ways if measure.is_of_one_way else name in (DOWNLOADS, UPLOADS)
    if is_senseless:
        return None
    if measure.is_of_connections:
        return measure.value(group.connected)
    return measure.value(group.datagrams if measure.is_of_datagrams else group)


def busy_links(run: Run) -> list[str]:
    """Links with a mean sojourn time of at least 0.1 ms, or that dropped or marked packets."""
    return [str(row["link"]) for row in run.rows("links_summary") if _is_busy(row)]


def _is_busy(row: Mapping[str, Any]) -> bool:
    is_slow = (row["sojourn_mean_s"] or 0.0) >= _WAIT_S
    return is_slow or (row["dropped_packets"] or 0) > 0 or (row["marked_packets"] or 0) > 0


def _parts(whole: Whole) -> dict[str, pl.DataFrame]:
    run, flows = whole.run, whole.flows
    groups = flow_groups(run)
    several = {ALL: flows.table["flow"].to_list(), **flow_directions(run)} if len(groups) > 1 else {}
    return {name: flows.rows_of(names) for name, names in (groups | several).items()}


# Metrics that are shown by default: the declaration of each metric says when.


_ALL: tuple[Measure | LinkMeasure, ...] = (*MEASURES, *LINK_MEASURES)
_ONE_WAY = frozenset(measure.name for measure in MEASURES if measure.is_of_datagrams)
_GOODPUT = "goodput"
RANKED = tuple(each.name for each in sorted(_ALL, key=lambda each: each.rank) if each.rank)
"""Metrics with a rank, in the order in which users notice them."""
INSTEAD_OF = {each.name: each.instead_of for each in _ALL if each.instead_of}
"""Metrics that are shown only where another metric has no value: keys are their names, values are the names
of the other metrics."""


def leading(names: Collection[str], *, is_bulk: bool) -> list[str]:
    """Order metrics by how soon the users of a group notice them; metrics without a rank are left out.

    Goodput comes first for bulk flows. For calls, pages, transfers and pings, goodput comes last, because
    such flows usually get the rate that they need.

    >>> leading(["goodput", "rtt_mean"], is_bulk=False)
    ['rtt_mean', 'goodput']
    """
    ranked = [name for name in RANKED if name in names and name != _GOODPUT]
    own = [_GOODPUT] if _GOODPUT in names else []
    return [*own, *ranked] if is_bulk else [*ranked, *own]


def names_in(view: View) -> tuple[str, ...]:
    """Return the names of the metrics that a view shows: metrics of flows, then of links, in the order of
    declaration."""
    return tuple(each.name for each in _ALL if view in each.views)


def headlines(names: Iterable[str], scenarios: Iterable[Scenario]) -> list[str]:
    """Return the given names of metrics, without one-way delays if no flow of the scenarios sends datagrams.
    For connections, RTTs describe the delay."""
    has_datagrams = any(flow.datagrams for scenario in scenarios for flow in scenario.flows)
    return [name for name in names if has_datagrams or name not in _ONE_WAY]
