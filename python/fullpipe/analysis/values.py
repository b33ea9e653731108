"""Many runs as one long table: a row per run, group of flows or link, and metric."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from fullpipe.analysis.measurements import RUN, measurements
from fullpipe.runs import Run

IDENTITY = ("seed", "engine")
"""Columns that distinguish the runs of a point."""
MEASURED = ("kind", "entry", "of", "metric", "value", "unit")
"""Columns of measured values, after those of swept paths and of `IDENTITY`."""
_PLAIN = (bool, int, float, str)


def values_of(
    runs: Iterable[tuple[Mapping[str, Any], Run]],
    metrics: Collection[str] | None = None,
    links: Collection[str] | None = None,
) -> pl.DataFrame:
    """Return the measured values of runs with their points in a sweep, one row per value.

    Args:
        runs: Points, such as `Job.point`, and their runs.
        metrics: Names of measures. Left out: all.
        links: Names of links. Left out: the busy links of every run.

    Returns:
        A column for every swept path or key of variants, `seed`, `engine`, and `kind` ("flows" or "link"),
        `entry` (the index in the scenario's `flows`; null for all flows together and for links), `of` (the
        name of the group or link), `metric`, `value` (null if there is none) and `unit`.
    """
    pairs = list(runs)
    if not pairs:
        return pl.DataFrame(schema=dict.fromkeys((*IDENTITY, *MEASURED), pl.String))
    told = _table([_identity(point, run) for point, run in pairs])
    made = measurements([run for _, run in pairs], metrics, links)
    table = made.join(told, on=RUN, how="left", maintain_order="left")
    return table.select(*(name for name in told.columns if name != RUN), *MEASURED)


def identities(runs: Iterable[tuple[Mapping[str, Any], Run]]) -> pl.DataFrame:
    """Return one row per run, in their order: the columns of `values_of` before the measured values."""
    return _table([_identity(point, run) for point, run in runs]).drop(RUN)


def _identity(point: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return {**point, "seed": run.seed, "engine": run.engine.name}


def _table(points: list[dict[str, Any]]) -> pl.DataFrame:
    """Return one row per run and one column per path. Tables and values of mixed types become text."""
    names = dict.fromkeys(name for point in points for name in point)
    columns = {name: column([point.get(name) for point in points]) for name in names}
    return pl.DataFrame({RUN: range(len(points)), **columns}, schema_overrides={RUN: pl.Int64})


def column(values: list[Any]) -> list[Any]:
    """Return the values of a swept path as a column of one type: integers and floats as floats, other mixed
    types as text."""
    kinds = {type(value) for value in values if value is not None}
    if (len(kinds) <= 1 and kinds <= set(_PLAIN)) or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else value_text(value) for value in values]


def value_text(value: Any) -> str:
    """Return a value of a sweep as text; a table becomes its values without keys.

    >>> value_text({"kind": "drop_tail", "packets": 50})
    'drop_tail 50'
    """
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
