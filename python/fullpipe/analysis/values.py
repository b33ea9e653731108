"""Values of metrics of runs: measured, and stored beside the runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import flow_groups
from fullpipe.analysis.metrics.table import measured_rows
from fullpipe.runs import Run, values
from fullpipe.runs.population import recordings_in
from fullpipe.runs.values import Packed, Question
from fullpipe.runs.writer import FEW

# Values of many runs: read from their store if it has them, otherwise computed and stored.


RUN = "number of run"
"""Column with the index of a run in a list; no path has this name."""


def measurements(
    runs: Sequence[Run], metrics: Collection[str] | None = None, links: Collection[str] | None = None
) -> pl.DataFrame:
    """Return the measured values of runs, one row per value.

    Args:
        runs: The runs.
        metrics: Names of measures. Default: all.
        links: Names of links. Default: the busy links of every run.

    Returns:
        `number of run`, `kind`, `of`, `metric`, `unit`, `entry` and `value`, in the order of the runs; see
        `fullpipe.analysis.values.values_of`.
    """
    question = Question(*(None if names is None else frozenset(names) for names in (metrics, links)))
    found = list(_stored(runs, question)) if len(runs) > FEW else []
    known = {place for rows, places in found for place in places}
    todo = [place for place in range(len(runs)) if place not in known]
    packed = Packed.from_runs([(place, _of_run(runs[place].apart(), question)) for place in todo])
    made = packed.rows(pl.DataFrame({"id": todo, RUN: todo}, schema={"id": pl.Int64, RUN: pl.Int64}))
    if len(todo) > FEW:
        _store([runs[place] for place in todo], question, packed)
    parts = [rows for rows, _ in found]
    if not parts:
        return made
    table = pl.concat([made, *parts])
    if metrics is not None:
        table = table.filter(pl.col("metric").is_in([*metrics]))
    return table.sort(RUN, maintain_order=True)


def _of_run(run: Run, question: Question) -> list[tuple[tuple[Any, ...], float | None]]:
    """Return the values of a run, each with its kind, group or link, metric, unit and entry."""
    entries = {name: entry for entry, name in enumerate(flow_groups(run))}
    return [
        ((kind, of, metric, unit, entries.get(of) if kind == "flows" else None), value)
        for kind, of, metric, value, unit in measured_rows(run, question.links, question.metrics)
    ]


def _stored(runs: Sequence[Run], question: Question) -> Iterator[tuple[pl.DataFrame, list[int]]]:
    """Yield stored values: rows, and the indices of their runs."""
    by_root: dict[str, list[tuple[int, int]]] = {}
    for place, run in enumerate(runs):
        if run.number is not None and run.root is not None:
            by_root.setdefault(run.root, []).append((run.number, place))
    for root, wanted in by_root.items():
        table = pl.DataFrame(wanted, schema={"id": pl.Int64, RUN: pl.Int64}, orient="row")
        for packed in values.read(Path(root), question, table["id"].to_list()):
            here = table.join(packed.runs, on="id", how="semi")
            yield packed.rows(here), here[RUN].to_list()


def _store(runs: Sequence[Run], question: Question, packed: Packed) -> None:
    """Store the values of runs that are in a store; `packed` has them in their order."""
    by_root: dict[str, list[tuple[int, int]]] = {}
    are_plain: dict[str, bool] = {}
    for place, run in enumerate(runs):
        if run.number is None or run.root is None:
            continue
        if run.place not in are_plain:  # values need the recordings, which may be gone later
            are_plain[run.place] = not any(recordings_in(run.meta.scenario))
        if are_plain[run.place]:
            by_root.setdefault(run.root, []).append((run.number, place))
    for root, kept in by_root.items():
        places = [place for _, place in kept]
        ids = pl.Series("id", [number for number, _ in kept], dtype=pl.Int64)
        own = packed.runs[places].with_columns(ids).unique("id", keep="first", maintain_order=True)
        values.write(Path(root), question, Packed(own, packed.shapes))


# Many runs as one long table: a row per run, group of flows or link, and metric.


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
        metrics: Names of measures. Default: all.
        links: Names of links. Default: the busy links of every run.

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
