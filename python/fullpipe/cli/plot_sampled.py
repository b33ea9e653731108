"""Samples within runs, whose cumulative shares `fullpipe plot --kind cdf` draws: transfers, pages, RTTs. Also
columns that figures add to the values of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl
import typer

from fullpipe.analysis.metrics.applications import begun_pages_s, measured_transfers
from fullpipe.analysis.metrics.groups import ALL, flow_directions, flow_groups
from fullpipe.analysis.values import RUN, identities
from fullpipe.runs import Run

SAMPLES = "samples of the run"
"""Name of the column with the list of samples. The name contains spaces, so no path is equal to it."""


class Sampled(NamedTuple):
    """A quantity with many samples per run."""

    metric: str
    """The metric with the same groups and the same unit, whose values the samples replace."""
    words: str
    """Label of the quantity."""
    each: str
    """Name of several samples, such as "transfers"."""
    read: Callable[[Run, Collection[str]], pl.Series]
    """Samples of some flows or links after the warm-up."""


def _of_transfers(run: Run, names: Collection[str]) -> pl.Series:
    return measured_transfers(run).filter(pl.col("flow").is_in(names))["fct_s"]


def _of_pages(run: Run, names: Collection[str]) -> pl.Series:
    return begun_pages_s(measured_transfers(run).filter(pl.col("flow").is_in(names)))


def _over_time(table: str, actor: str, column: str) -> Callable[[Run, Collection[str]], pl.Series]:
    def read(run: Run, names: Collection[str]) -> pl.Series:
        rows = run.tables[table].filter(pl.col("time_s") >= run.scenario.warmup_s)
        return rows.filter(pl.col(actor).is_in(names))[column]

    return read


SAMPLED: Mapping[str, Sampled] = {
    "fct": Sampled("fct_p50", "completion time", "transfers", _of_transfers),
    "page": Sampled("page_p50", "page load time", "pages", _of_pages),
    "srtt": Sampled("srtt_mean", "smoothed RTT", "samples", _over_time("series", "flow", "srtt_s")),
    "ping": Sampled("rtt_mean", "RTT", "pings", _over_time("probes", "flow", "rtt_s")),
    "sojourn": Sampled("sojourn_mean", "sojourn time", "samples", _over_time("links", "link", "sojourn_s")),
}
"""Quantities that `--kind cdf` takes as `--metric`, by name."""


def read_sampled(metrics: Sequence[str]) -> tuple[list[str], dict[str, Sampled]]:
    """The metrics with sampled quantities replaced by their metrics, and the sampled quantities by metric.

    Raises:
        BadParameter: If a quantity and its metric are both given.
    """
    names, found = list[str](), dict[str, Sampled]()
    for text in metrics:
        name, of, group = text.partition(" of ")
        if sampled := SAMPLED.get(name.strip()):
            found[sampled.metric] = sampled
            names.append(f"{sampled.metric}{of}{group}")
        else:
            names.append(text)
    for name in metrics:
        if name.partition(" of ")[0].strip() in found:
            raise typer.BadParameter(f"{name} and samples do not fit one figure", param_hint="--metric")
    return names, found


def with_samples(
    values: pl.DataFrame, runs: Sequence[tuple[Mapping[str, Any], Run]], sampled: Mapping[str, Sampled]
) -> pl.DataFrame:
    """Values with the list of samples of each sampled quantity; null for all other metrics."""
    rows = [
        (number, of, metric, quantity.read(run, names).drop_nulls().to_list())
        for number, (_, run) in enumerate(runs)
        for metric, quantity in sampled.items()
        for of, names in {**_links(run), **flows_by_group(run)}.items()
    ]
    return with_columns_of(values, runs, rows, ("of", "metric"), {SAMPLES: pl.List(pl.Float64())})


def _links(run: Run) -> dict[str, list[str]]:
    return {name: [name] for name in run.tables["links_summary"]["link"].to_list()}


# Columns that figures add to the values of runs.


def with_columns_of(
    values: pl.DataFrame,
    runs: Sequence[tuple[Mapping[str, Any], Run]],
    rows: Sequence[tuple[Any, ...]],
    keys: Sequence[str],
    columns: Mapping[str, pl.DataType],
) -> pl.DataFrame:
    """Values with further columns, which are null where no row is known.

    Args:
        values: Values of the runs.
        runs: Runs with their points.
        rows: The index of the run, the keys and the new columns.
        keys: Columns of text that identify a row of a run, such as "of".
        columns: Names and types of the new columns.
    """
    told = identities(runs).with_row_index(RUN)
    schema = pl.Schema({RUN: told.schema[RUN], **dict.fromkeys(keys, pl.String()), **columns})
    on = [*told.columns[1:], *keys]
    known = pl.DataFrame(rows, schema, orient="row").join(told, on=RUN).drop(RUN).unique(on)
    return values.join(known, on=on, how="left", nulls_equal=True, maintain_order="left")


def flows_by_group(run: Run) -> dict[str, list[str]]:
    """The flows of every group, of both directions, and of the run."""
    return {**flow_groups(run), **flow_directions(run), ALL: run.flows["flow"].to_list()}
