"""Runs of two kinds, in tables over seeds: both kinds with their probabilities instead of a mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fullpipe.analysis.bounds import bounds_of
from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.precision import modes_of
from fullpipe.cli.shown import number_shown, point_shown, unit_shown

if TYPE_CHECKING:
    from fullpipe.analysis.statistics import Mode, TwoModes

_NO_PATHS = ("engine", "kind", "of", "metric", "unit")


def marked(
    found: pl.DataFrame, values: pl.DataFrame, metrics: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Means over seeds with a column `modes`, which is null or what a cell shows instead, and a note for
    each."""
    modes = list(modes_of(values, metrics))
    keys = [*paths_of(values), "kind", "of", "metric"]
    schema = pl.Schema({**{key: values.schema[key] for key in keys}, "modes": pl.String()})
    rows = [[*(row[key] for key in keys), _cell(of_row, row)] for row, of_row in modes]
    cells = pl.DataFrame(rows, schema=schema, orient="row")
    table = found.join(cells, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return table, [_told(row, of_row) for row, of_row in modes]


def _cell(found: TwoModes, row: Mapping[str, Any]) -> str:
    of = (row["unit"], row["metric"])
    modes = (found.low, found.high)
    return " or ".join(f"{number_shown(m.mean, *of)} ({100 * m.runs / found.n:.0f} %)" for m in modes)


def _told(row: Mapping[str, Any], found: TwoModes) -> str:
    point = {
        name: value for name, value in row.items() if name not in ("engine", "kind", "of", "metric", "unit")
    }
    name = ", ".join([f"{row['metric']} of {row['of']}", *point_shown(point)])
    modes = " and ".join(_mode(mode, found.n, row) for mode in (found.low, found.high))
    return f"two modes: {name} is {modes}"


def _mode(mode: Mode, n: int, row: Mapping[str, Any]) -> str:
    of = (row["unit"], row["metric"])
    share, low, high = (100 * part for part in (mode.runs / n, mode.share.low, mode.share.high))
    within = mode.interval.clipped(*bounds_of(row["metric"]))
    mean, *ends = (number_shown(v, *of) for v in (mode.mean, within.low, within.high))
    about = f"{mean} [{', '.join(ends)}] {unit_shown(row['unit'], row['metric'])}".rstrip()
    return f"{about} in {share:.0f} % [{low:.0f}, {high:.0f}] of runs"
