"""Means over seeds with their intervals, from a table of values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import polars as pl

from fullpipe.analysis.limits import bounds_of, counted
from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.table import INSTEAD_OF
from fullpipe.analysis.values import MEASURED, RUN
from fullpipe.scenario.quantities import natural

if TYPE_CHECKING:
    from fullpipe.analysis.over_time import Tables
    from fullpipe.runs import Run

LEVEL = 0.95
FEW = 5
"""Up to this number of runs, figures draw points instead of a box: quartiles of 5 values or fewer mean
little."""
_BOUNDS = {name: bounds_of(name) for name in BY_NAME}


def paths_of(values: pl.DataFrame) -> list[str]:
    """Columns that identify the points of a table of values or runs: swept paths, keys of variants, and the
    engine."""
    before = takewhile(lambda name: name not in (MEASURED[0], RUN), values.columns)
    return [name for name in before if name != "seed"]


def spellings(value: str, known: pl.Series) -> list[str]:
    """Spellings under which a value may be in a column. The user may write 0 for the number 0.0, and a value
    as figures print it, such as 2 BDP for 2 bdp."""
    try:
        same = [str(each) for each in known.unique() if known.dtype.is_numeric() and each == float(value)]
    except ValueError:
        same = []
    texts = known.cast(pl.String).drop_nulls().unique().to_list()
    alike = [text for text in texts if text.lower() == natural(value).lower()]
    return [natural(value), *same, *([] if natural(value) in texts else alike)]


def over_seeds(values: pl.DataFrame, level: float = LEVEL) -> pl.DataFrame:
    """Means over the seeds of every point, group of flows or link, and metric.

    Args:
        values: Values as `fullpipe.analysis.values.values_of` returns them.
        level: Confidence level of Student's interval: see `fullpipe.statistics.t_interval`.

    Returns:
        The columns of `values` except seed and value; `n`, the number of seeds with a value; `mean`; `low`
        and `high`, the interval truncated at the bounds of the metric, null for fewer than two values;
        `alike`, whether all values are equal; and, for completion times, the counts `began` and `unfinished`
        over all seeds, if `values` has the metrics with these counts.
    """
    keys = [*paths_of(values), *(name for name in MEASURED if name != "value")]
    counts = counted(values).group_by(keys, maintain_order=True).agg(sums("began"), sums("unfinished"))
    return (
        means(values, keys, level)
        .with_columns(_bounded("low"), _bounded("high"))
        .hstack(counts.select("began", "unfinished"))
    )


def _bounded(end: str) -> pl.Expr:
    """Return the column with the lower or the upper end of intervals, truncated at the bounds of the
    metric."""
    least, most = (
        pl.col("metric").replace_strict(
            {name: bounds[side] for name, bounds in _BOUNDS.items()}, default=None, return_dtype=pl.Float64
        )
        for side in (0, 1)
    )
    return pl.col(end).clip(least, most)


def bounded(found: pl.DataFrame) -> list[str]:
    """The metrics for which some interval of `over_seeds` is truncated at a bound of the metric."""
    names = []
    for name, (least, most) in _BOUNDS.items():
        rows = found.filter(pl.col("metric") == name, ~pl.col("alike"))
        if ((rows["low"] == least) | (rows["high"] == most)).any():
            names.append(name)
    return names


def are_equal_over_seeds(runs: Iterable[tuple[Mapping[str, Any], Run]]) -> bool:
    """Whether several seeds were run at a point, and all runs of every point are equal.

    Runs are equal if they have the same packets and the same rows of flows and links.

    Args:
        runs: Every run with its point.
    """
    first: dict[tuple[str, str], Run] = {}
    is_several = False
    for point, run in runs:
        key = (str(point), run.engine.name)
        is_several |= key in first
        other = first.setdefault(key, run)
        if other is not run and not _are_equal(other, run):
            return False
    return is_several


def _are_equal(one: Run, other: Run) -> bool:
    """Whether two runs have equal packets and rows. If their checksums differ or are missing, the rows are
    compared."""
    if one.fingerprint and one.fingerprint == other.fingerprint:
        return True
    return _summary(one) == _summary(other)


def _summary(run: Run) -> tuple[object, ...]:
    return run.meta.data_packets, run.meta.packet_hops, run.rows("flows"), run.rows("links_summary")


def sums(column: str) -> pl.Expr:
    """The sum of a column; null if all rows are null."""
    return pl.when(pl.col(column).count() > 0).then(pl.col(column).sum())


def means(rows: pl.DataFrame, keys: Sequence[str], level: float = LEVEL) -> pl.DataFrame:
    """The columns `n`, `mean`, `low`, `high` and `alike` of `value`, per group of rows with equal keys."""
    from fullpipe.analysis.statistics.intervals import t_half_width  # imported here, as the import is slow

    value = pl.col("value")
    found = rows.group_by(keys, maintain_order=True).agg(
        n=value.count().cast(pl.Int64),
        mean=value.mean(),
        deviation=value.std(ddof=1),
        alike=value.n_unique() == 1,
    )
    half = pl.Series(t_half_width(found["deviation"].to_numpy(), found["n"].to_numpy(), level))
    known = pl.col("n") > 1
    return found.with_columns(
        low=pl.when(known).then(pl.col("mean") - half), high=pl.when(known).then(pl.col("mean") + half)
    ).select(*keys, "n", "mean", "low", "high", "alike")


def without_stand_ins(found: pl.DataFrame, column: str, asked: Collection[str] = ()) -> pl.DataFrame:
    """Leave out every substitute metric (`Measure.instead_of`) if the metric that it replaces is known for
    the same groups and points.

    Args:
        found: Values, or means over seeds.
        column: Name of the column with the values or means.
        asked: Metrics that are kept in any case.
    """
    known = found.drop_nulls(column)
    keys = [*paths_of(found), "of"]
    of = {metric: {*rows.select(keys).rows()} for (metric,), rows in known.group_by("metric")}
    needless = [name for name, other in INSTEAD_OF.items() if of.get(name, set()) <= of.get(other, set())]
    return found.filter(~pl.col("metric").is_in([name for name in needless if name not in asked]))


# Means over runs at every instant, for figures over time.


_EDGE = 1e-6
"""Tolerance of times, in steps between samples."""


def over_instants(data: pl.DataFrame, means_of: Mapping[str, str]) -> pl.DataFrame:
    """Return means over the runs of every group with Student's 95 % interval: run (the group), actor, time_s,
    value, low, high, runs. Samples of pings are first averaged over the median time between samples, because
    pings of different seeds have different send times."""
    steps_s = data.select(pl.col("time_s").diff().over("run", "actor").alias("step")).drop_nulls()["step"]
    step_s = float(steps_s.median() or 1.0)  # type: ignore[arg-type]
    at_s = ((pl.col("time_s") / step_s - _EDGE).ceil() * step_s).round(9)
    each = data.group_by("run", "actor", at_s.alias("time_s"), maintain_order=True).agg(
        pl.col("value").mean()
    )
    grouped = each.with_columns(pl.col("run").replace_strict(means_of))
    keys = ["run", "actor", "time_s"]
    found = means(grouped.drop_nulls("value"), keys).select(*keys, "low", "high", runs="n", value="mean")
    every = grouped.select(keys).unique(maintain_order=True)
    return (
        every.join(found, on=keys, how="left", maintain_order="left")
        .sort("time_s", maintain_order=True)
        .select(*keys, "value", pl.col("low").clip(0), "high", "runs")
    )


def in_groups(runs: Mapping[str, Tables], means_of: Mapping[str, str]) -> dict[str, Tables]:
    """Return the tables of the first run of every group, with the events that all its runs have, and with its
    capacities if these are equal in all its runs."""
    groups: dict[str, list[Tables]] = {}
    for run, tables in runs.items():
        groups.setdefault(means_of[run], []).append(tables)
    found: dict[str, Tables] = {}
    for group, (first, *others) in groups.items():
        events, capacity = first["events"], first["capacities"]
        for other in others:
            events = events.join(other["events"], on=["time_s", "event"], how="semi", maintain_order="left")
        are_equal = all(capacity.equals(other["capacities"]) for other in others)
        own = {"events": events, "capacities": capacity if are_equal else capacity.clear()}
        found[group] = {name: own.get(name, first[name]) for name in ("flows", "links", *own)}
    return found


def told_of_runs(runs: Sequence[Run]) -> str:
    """The line below a figure whose lines are single runs: their number and their common seed."""
    if all(run.meta.engine.is_of_a_file for run in runs):
        return "one measurement" if len(runs) == 1 else "one measurement per line"
    seeds = {run.meta.seed for run in runs}
    told = "one run" if len(runs) == 1 else "one run per line"
    return f"{told}, seed {seeds.pop()}" if len(seeds) == 1 else told
