"""Many runs as one long table: a row per run, group of flows or link, and metric."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from fullpipe.analysis.measurements import RUN, measurements
from fullpipe.runs import Run

IDENTITY = ("seed", "engine")
"""Columns that tell runs of a point apart."""
MEASURED = ("kind", "entry", "of", "metric", "value", "unit")
"""Columns of what is measured; those of the swept paths come before, with `IDENTITY`."""
_PLAIN = (bool, int, float, str)


def values_of(
    runs: Iterable[tuple[Mapping[str, Any], Run]],
    metrics: Collection[str] | None = None,
    links: Collection[str] | None = None,
) -> pl.DataFrame:
    """What is measured of runs, each with the point of the sweep that it is of.

    Args:
        runs: Points, such as `Job.point`, and their runs.
        metrics: Names of measures. Left out: all.
        links: Names of links. Left out: of every run, those that did something.

    Returns:
        A column for every swept path or key of variants, `seed`, `engine`, and `kind` ("flows" or "link"),
        `entry` (the place in the scenario's `flows`; null of all flows and of links), `of` (the name of the
        group or link), `metric`, `value` (null if there is none) and `unit`.
    """
    pairs = list(runs)
    if not pairs:
        return pl.DataFrame(schema=dict.fromkeys((*IDENTITY, *MEASURED), pl.String))
    told = _table([_identity(point, run) for point, run in pairs])
    made = measurements([run for _, run in pairs], metrics, links)
    table = made.join(told, on=RUN, how="left", maintain_order="left")
    return table.select(*(name for name in told.columns if name != RUN), *MEASURED)


def identities(runs: Iterable[tuple[Mapping[str, Any], Run]]) -> pl.DataFrame:
    """A row per run, in their order: the columns of `values_of` before what is measured."""
    return _table([_identity(point, run) for point, run in runs]).drop(RUN)


def _identity(point: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return {**point, "seed": run.seed, "engine": run.engine.name}


def _table(points: list[dict[str, Any]]) -> pl.DataFrame:
    """A row per run and a column per path; a table, or values of several kinds, as text."""
    names = dict.fromkeys(name for point in points for name in point)
    columns = {name: column([point.get(name) for point in points]) for name in names}
    return pl.DataFrame({RUN: range(len(points)), **columns}, schema_overrides={RUN: pl.Int64})


def column(values: list[Any]) -> list[Any]:
    """Values of a swept path as a column: of one type, or as text; numbers may be whole or not."""
    kinds = {type(value) for value in values if value is not None}
    if (len(kinds) <= 1 and kinds <= set(_PLAIN)) or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else value_text(value) for value in values]


def value_text(value: Any) -> str:
    """A value of a sweep as text; of a table only what is in it.

    >>> value_text({"kind": "drop_tail", "packets": 50})
    'drop_tail 50'
    """
    return " ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
