"""A metric of many runs as a table with factors along its rows and its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import polars as pl
import typer

from fullpipe.analysis.over_seeds import over_seeds
from fullpipe.analysis.points import points_of
from fullpipe.analysis.shown import mean_shown
from fullpipe.analysis.subjects import Subject
from fullpipe.analysis.unfinished import with_counts
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.forms import NOTHING, Grid
from fullpipe.cli.selection import (
    FLOWS,
    factor_called,
    filtered,
    labelled,
    labels_of,
    no_value,
    of_groups,
    varied,
)
from fullpipe.runs import Run
from fullpipe.scenario.quantities import as_numbers

Mean = Mapping[str, Any]
"""A row of `over_seeds`."""
_CSV = ("mean", "low", "high")


class Column(NamedTuple):
    """A column of numbers: a metric, and values of the factors along the columns."""

    metric: str
    """The label of the metric, with its unit."""
    in_base_unit: str
    """This label with the base unit."""
    values: Sequence[str]
    """A value for every factor, in words."""
    titles: Sequence[str]
    """These values with the names of their factors."""


@dataclass(frozen=True)
class Pivot:
    """Means over seeds by the values of factors."""

    rows: Sequence[str]
    """Words for the factors along the rows."""
    columns: Sequence[str]
    """Words for those along the columns."""
    heads: Sequence[Sequence[str]]
    """The values of every row, in words."""
    numbers: Sequence[Column]
    cells: Sequence[Sequence[Mean | None]]
    """A cell for every row and column; None without a value."""
    runs: tuple[int, int]
    """The fewest and the most runs of a cell."""

    @property
    def is_of_one_metric(self) -> bool:
        """Whether all columns are of the same metric."""
        return len({column.metric for column in self.numbers}) == 1

    def grid(self) -> Grid:
        """The table as text: means with their 95 % intervals."""
        cells = [
            [*head, *(NOTHING if cell is None else mean_shown(cell) for cell in row)]
            for head, row in zip(self.heads, self.cells, strict=True)
        ]
        return Grid(list(self.rows), [self.heading(column) for column in self.numbers], cells)

    def heading(self, column: Column) -> str:
        """A column in words: its metric, and every factor with its value."""
        metric = [] if column.titles and self.is_of_one_metric else [column.metric]
        return "\n".join([*metric, *column.titles])

    def numbers_grid(self) -> Grid:
        """The table as numbers in base units, with columns for the ends of the interval."""
        heads = [", ".join([column.in_base_unit, *column.titles]) for column in self.numbers]
        names = [f"{head} {end}" for head in heads for end in _CSV]
        cells = [
            [
                *head,
                *(
                    "" if cell is None or cell[end] is None else repr(cell[end])
                    for cell in row
                    for end in _CSV
                ),
            ]
            for head, row in zip(self.heads, self.cells, strict=True)
        ]
        return Grid(list(self.rows), names, cells)


def pivot_of(
    runs: Sequence[Run],
    subjects: Sequence[Subject],
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    where: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
) -> Pivot:
    """The table of metrics of runs.

    Args:
        runs: Of one scenario, or of alike ones.
        subjects: What is measured.
        rows: Factors along the rows; left out, all that differ and are not along the columns.
        columns: Factors along the columns; left out, only the metrics are.
        where: Conditions, such as "rate=10 Mbit/s".
        given: Words for paths and values.

    Raises:
        BadParameter: If a cell would have runs of several points, or no run has a value.
        UnknownNameError: If there is no such metric, path or group.
    """
    points = points_of(runs)
    pointed = list(zip(points, runs, strict=True))
    values = filtered(values_of(pointed, with_counts([each.metric for each in subjects])), where)
    labels = labels_of(runs, given or {}, points)
    across = [factor_called(word, values) for word in columns]
    free = [path for path in varied(values) if path not in across]
    down = [factor_called(word, values) for word in rows] or [*free]
    _check(down, across, free)
    by_group = FLOWS in (*down, *across)
    raw = {path: _raw(points, values, path) for path in (*down, *across)}
    tables = [(labelled(each, labels), _means(values, each, by_group=by_group)) for each in subjects]
    in_base_unit = {labelled(each, labels): labelled(each, labels, in_base_unit=True) for each in subjects}
    order = {
        path: _ordered([row[_column(path)] for _, found in tables for row in found], raw[path])
        for path in raw
    }
    cells = {
        (label, *(row[_column(path)] for path in (*down, *across))): row
        for label, found in tables
        for row in found
    }
    every = list(product(*(order[path] for path in down)))
    tops = [(label, top) for label, _ in tables for top in product(*(order[path] for path in across))]
    wanted = [(label, top) for label, top in tops if any((label, *head, *top) in cells for head in every)]
    heads = [head for head in every if any((label, *head, *top) in cells for label, top in wanted)]
    names = {**labels.names([path for path in raw if path != FLOWS]), FLOWS: FLOWS}

    def said(paths: Sequence[str], values: Sequence[Any], *, named: bool) -> list[str]:
        return [
            labels.at(path, raw[path][value], names[path])
            if named and path != FLOWS
            else labels.value(path, raw[path][value])
            for path, value in zip(paths, values, strict=True)
        ]

    counts = [row["n"] for row in cells.values()]
    return Pivot(
        [names[path] for path in down],
        [names[path] for path in across],
        [said(down, head, named=False) for head in heads],
        [
            Column(label, in_base_unit[label], said(across, top, named=False), said(across, top, named=True))
            for label, top in wanted
        ],
        [[cells.get((label, *head, *top)) for label, top in wanted] for head in heads],
        (min(counts), max(counts)),
    )


def _check(down: Sequence[str], across: Sequence[str], free: Sequence[str]) -> None:
    twice = [path for path in down if path in across]
    if twice:
        raise typer.BadParameter(f"{twice[0]} is along the rows; leave it out of --columns")
    if left := [path for path in free if path not in down]:
        how = f"use --rows or --columns for it, or --where {left[0]}=VALUE"
        raise typer.BadParameter(f"runs differ in {', '.join(left)}, too: {how}")


def _means(values: pl.DataFrame, subject: Subject, *, by_group: bool) -> list[Mean]:
    """Means over seeds of a metric that are known."""
    rows = of_groups(values, subject, by_group=by_group)
    counts = values.filter(pl.col("metric").is_in(with_counts([subject.metric])[1:]))
    found = over_seeds(pl.concat([rows, counts.join(rows.select("of").unique(), on="of", how="semi")]))
    known = found.filter(pl.col("metric") == subject.metric).drop_nulls("mean")
    if known.is_empty():
        raise no_value(subject, values)
    return list(known.iter_rows(named=True))


def _column(path: str) -> str:
    return "of" if path == FLOWS else path


def _raw(points: Sequence[Mapping[str, Any]], values: pl.DataFrame, path: str) -> dict[Any, Any]:
    """Every value of a column, as the points have it: tables are text in the column."""
    own = {value_text(point[path]): point[path] for point in points if path in point}
    return {value: own.get(value, value) for value in values[_column(path)].unique(maintain_order=True)}


def _ordered(there: Sequence[Any], known: Mapping[Any, Any]) -> list[Any]:
    """The values that are there: quantities by size, all else as runs have it."""
    values = [value for value in known if value in there]
    found = as_numbers(values)
    return [value for _, value in sorted(zip(found[0], values, strict=True))] if found else values
