"""Tables of runs: means over seeds, every run, what metrics mean, and all values as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.shown import axis_shown, mean_shown, number_shown, unit_shown
from fullpipe.analysis.values import value_text
from fullpipe.report.budget import Budget
from fullpipe.report.content import Column, Download, Table
from fullpipe.report.runs.points import Points
from fullpipe.report.text import left_out

_DIGITS = 10
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of cells that a spreadsheet would run."""


def headed(metric: str) -> Column:
    """The column of a metric by its label, with its unit."""
    return Column(axis_shown(metric)[1], is_number=True)


def means(found: Points, kind: str, budget: Budget) -> Table | None:
    """A row per point and group of flows, or link: mean over seeds and 95 % interval."""
    metrics = found.measured(kind)
    rows = found.means.filter(pl.col("kind") == kind)
    if not metrics:
        return None
    of = "flows" if kind == "flows" else "link"
    columns = [
        *(Column(found.words[path]) for path in found.paths),
        Column(of),
        Column("runs", is_number=True),
    ]
    told = [
        [*(found.said(path, row[path]) for path in found.paths), row["of"], *_cells(by_metric, metrics)]
        for row, by_metric in by_row(rows, [*found.paths, "of"], "metric")
    ]
    what = "groups of flows" if kind == "flows" else "links"
    return Table(
        f"Means over seeds of {what}, with 95 % intervals of the mean (Student's t)",
        [*columns, *map(headed, metrics)],
        told[: budget.rows],
        left_out(budget.rows, len(told), "rows"),
    )


def _cells(by_metric: Mapping[str, Mapping[str, Any]], metrics: Sequence[str]) -> Iterator[str]:
    yield f"{max(row['n'] for row in by_metric.values())}"
    for metric in metrics:
        row = by_metric.get(metric)
        yield "-" if row is None else mean_shown(row)


def every_run(found: Points, budget: Budget) -> Table:
    """A row per run, of all its flows together."""
    whole = found.values.filter((pl.col("kind") == "flows") & (pl.col("of") == found.whole))
    known = whole.drop_nulls("value")["metric"].unique(maintain_order=True).to_list()
    keys = [*found.paths, *(["engine"] if "engine" not in found.paths else []), "seed"]
    told = []
    for row, by_metric in by_row(whole, keys, "metric"):
        cells = [number_shown(by_metric[each]["value"], by_metric[each]["unit"], each) for each in known]
        told.append([*(found.said(key, row[key]) for key in keys), *cells])
    columns = [Column(found.words.get(key, key), is_number=key == "seed") for key in keys]
    return Table(
        f"Every run: {found.whole}",
        [*columns, *map(headed, known)],
        told[: budget.rows],
        left_out(budget.rows, len(told), "runs", "here"),
        is_folded=True,
    )


def meanings(found: Points) -> Table:
    """Table of metrics with name, unit, better direction and meaning."""
    names = [*found.measured("flows"), *found.measured("link")]
    rows = [
        [
            BY_NAME[name].label or name,
            name,
            unit_shown(BY_NAME[name].unit, name) or "1",
            _better(name),
            BY_NAME[name].meaning,
        ]
        for name in names
    ]
    columns = [Column("metric"), Column("name"), Column("unit"), Column("better"), Column("meaning")]
    return Table("What the metrics mean", columns, rows, is_folded=True)


def _better(name: str) -> str:
    return BY_NAME[name].better or "neither"


def values_file(found: Points, budget: Budget) -> Download:
    """All values in base units, a row per run and group of flows or link."""
    metrics = [*found.measured("flows"), *found.measured("link")]
    keys = [*(path for path in found.paths if path != "engine"), "engine", "seed", "kind", "of"]
    head = [*keys, *(f"{name} ({BY_NAME[name].unit})" for name in metrics)]
    lines, size, rows = [_line(head)], 0, 0
    for row, by_metric in by_row(found.values, keys, "metric"):
        rows += 1
        values = (by_metric[name]["value"] if name in by_metric else None for name in metrics)
        numbers = ["" if value is None else f"{value:.{_DIGITS}g}" for value in values]
        line = _line([*(_cell(row[key]) for key in keys), *numbers])
        size += len(line.encode())
        if size <= budget.csv_bytes:
            lines.append(line)
    note = (
        left_out(len(lines) - 1, rows, "rows")
        or f"A row per run and group of flows or link, in base units, {rows:,} rows."
    )
    return Download("values.csv", "text/csv", "".join(lines), note)


def _cell(value: Any) -> str:
    """Text that a spreadsheet takes as text."""
    text = value_text(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text


def _line(cells: Sequence[str]) -> str:
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    return written.getvalue()


def csv_of(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as CSV; no cell is a formula."""
    return "".join(_line([_cell(text) for text in row]) for row in rows)


def by_row(
    rows: pl.DataFrame, keys: Sequence[str], name: str
) -> Iterator[tuple[dict[str, Any], dict[Any, dict[str, Any]]]]:
    """Every combination of the keys as it comes, with its rows by the values of a column."""
    found: dict[str, tuple[dict[str, Any], dict[Any, dict[str, Any]]]] = {}
    for row in rows.iter_rows(named=True):
        key = {each: row[each] for each in keys}
        found.setdefault(repr(key), (key, {}))[1][row[name]] = row
    yield from found.values()
