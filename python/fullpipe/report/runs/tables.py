"""Tables of runs, with verdicts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import polars as pl

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.metrics.table import headlines
from fullpipe.analysis.shown import axis_shown, decimals_of, mean_shown, number_shown, unit_shown
from fullpipe.analysis.values import value_text
from fullpipe.report.content import Column, Download, Items, Section, Table, Text
from fullpipe.report.findings import VERDICTS, whole_table, widths
from fullpipe.report.rows import HOW_COMPARED, HOW_SHARED, Budget, summary
from fullpipe.report.runs.points import COMPARED, Points, ordered
from fullpipe.report.text import left_out
from fullpipe.runs import Run
from fullpipe.scenario.quantities import as_numbers
from fullpipe.validation.compare import VariantComparison
from fullpipe.validation.compare.comparison import compare_all, rests_on
from fullpipe.validation.compare.contrast import fair_shares
from fullpipe.validation.compare.rules import paired
from fullpipe.validation.compare.sentence import merged, names_of
from fullpipe.validation.compare.side import Side
from fullpipe.validation.over import HEADLINES

# Tables of runs: means over seeds, every run, what metrics mean, and all values as CSV.


_DIGITS = 10
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of cells that a spreadsheet would evaluate as a formula."""


def headed(metric: str) -> Column:
    """The column of a metric by its label, with its unit."""
    return Column(axis_shown(metric)[1], is_number=True)


def means(found: Points, kind: str, budget: Budget) -> Table | None:
    """A row per point and group of flows, or link: mean over seeds and 95 % interval."""
    metrics = found.measured(kind)
    rows = found.means.filter(pl.col("kind") == kind)
    named = [
        found.with_flows(found.flows_of(*row), row[1]) for row in rows.select("metric", "of").iter_rows()
    ]
    rows = rows.with_columns(of=pl.Series(named, dtype=pl.String))
    if not metrics:
        return None
    of = "flows" if kind == "flows" else "link"
    columns = [
        *(Column(found.words[path]) for path in found.paths),
        Column(of),
        Column("runs", is_number=True),
    ]
    digits = {each: decimals_of(rows.filter(metric=each).iter_rows(named=True)) for each in metrics}
    told = [
        [*(found.said(path, row[path]) for path in found.paths), row["of"], *_cells(by_metric, digits)]
        for row, by_metric in by_row(rows, [*found.paths, "of"], "metric")
    ]
    what = "groups of flows" if kind == "flows" else "links"
    return Table(
        f"Means over seeds of {what}, with 95 % intervals of the mean (Student's t)",
        [*columns, *map(headed, metrics)],
        told[: budget.rows],
        left_out(budget.rows, len(told), "rows"),
    )


def _cells(by_metric: Mapping[str, Mapping[str, Any]], digits: Mapping[str, int]) -> Iterator[str]:
    """The number of runs, and the means with the decimals of their column."""
    yield f"{max(row['n'] for row in by_metric.values())}"
    for metric, places in digits.items():
        row = by_metric.get(metric)
        yield "-" if row is None else mean_shown(row, digits=places)


def every_run(found: Points, budget: Budget) -> Table:
    """Return a table with a row per run, for all flows of the run together.

    If a metric covers only connections, or only datagrams, its heading says so.
    """
    is_whole = pl.col("entry" if isinstance(found.whole, int) else "of") == found.whole
    whole = found.values.filter(pl.col("kind") == "flows", is_whole)
    known = whole.drop_nulls("value")["metric"].unique(maintain_order=True).to_list()
    keys = [*found.paths, *(["engine"] if "engine" not in found.paths else []), "seed"]
    told = []
    for row, by_metric in by_row(whole, keys, "metric"):
        cells = [number_shown(by_metric[each]["value"], by_metric[each]["unit"], each) for each in known]
        told.append([*(found.said(key, row[key]) for key in keys), *cells])
    columns = [Column(found.words.get(key, key), is_number=key == "seed") for key in keys]
    return Table(
        f"Every run: {_whole(found)}",
        [*columns, *(_of_flows(found, each) for each in known)],
        told[: budget.rows],
        left_out(budget.rows, len(told), "runs", "here"),
    )


def _whole(found: Points) -> str:
    return found.called(found.whole) if isinstance(found.whole, int) else found.whole


def _of_flows(found: Points, metric: str) -> Column:
    """The column of a metric of all flows. The heading names the flows if the metric covers only connections,
    or only datagrams."""
    column, flows = headed(metric), found.flows_of(metric, found.whole)
    return column if flows == _whole(found) else replace(column, name=f"{column.name}, {flows}")


def meanings(found: Points) -> Table:
    """Table of the metrics of means and verdicts with name, unit, better direction and meaning."""
    judged = found.every_value.filter(pl.col("metric").is_in(COMPARED)).drop_nulls("value")["metric"]
    shown = [*found.measured("flows"), *found.measured("link"), *judged.unique(maintain_order=True)]
    names = list(dict.fromkeys(shown))
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
    return Table("What the metrics mean", columns, rows)


def _better(name: str) -> str:
    return BY_NAME[name].better or "neither"


def values_file(found: Points, budget: Budget) -> Download:
    """All values in base units, a row per run and group of flows or link."""
    metrics = [*found.measured("flows"), *found.measured("link")]
    engine = ["engine"] if (found.values["engine"] != "").any() else []
    keys = [*(path for path in found.paths if path != "engine"), *engine, "seed", "kind", "of"]
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
    """A cell whose text a spreadsheet never runs as a formula."""
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
    """Combinations of the keys in order of appearance, each with its rows by the value of column `name`."""
    found: dict[str, tuple[dict[str, Any], dict[Any, dict[str, Any]]]] = {}
    for row in rows.iter_rows(named=True):
        key = {each: row[each] for each in keys}
        found.setdefault(repr(key), (key, {}))[1][row[name]] = row
    yield from found.values()


# Comparisons of variants with the same seeds: verdicts in words and in a table.


Comparisons = Sequence[VariantComparison]
_Pair = tuple[Mapping[str, Any], Side, Side]
_MOST_VARIANTS, _MOST_COMPARISONS = 6, 40


def compared(found: Points) -> list[VariantComparison]:
    """Compare every value of a path with the first value, at every point of the other paths.

    Only paths with at most `_MOST_VARIANTS` values are compared, and only if no value is a quantity. Paths of
    algorithms come first; other paths follow up to `_MOST_COMPARISONS` comparisons. All comparisons are one
    family: see `compare_all`. The metrics are the metrics that the user names, or the metrics of `fullpipe
    compare`.

    Returns:
        Empty for several engines, for a single seed, or if the two sides have different seeds or metrics.
    """
    if len(found.seeds) < 2 or "engine" in found.paths:
        return []
    pairs: list[_Pair] = []
    first = _first_runs(found)
    for path in named_paths(found):
        more = list(_pairs(found, path, first))
        if len(pairs) + len(more) <= _MOST_COMPARISONS:
            pairs += more
    try:
        shown = found.metrics or headlines(HEADLINES, (run.scenario for run in found.runs))
        return compare_all(pairs, shown) if pairs else []
    except ValueError:  # the sides differ in metrics or seeds
        return []


def named_paths(found: Points) -> list[str]:
    """The paths whose values `compared` compares: those with few values, none of them a quantity."""
    few = [path for path in found.paths if _are_few_names(found.values[path].unique().to_list())]
    return sorted(few, key=lambda path: not path.endswith("cca"))


def _are_few_names(values: Sequence[Any]) -> bool:
    return len(values) <= _MOST_VARIANTS and as_numbers(values) is None


def _first_runs(found: Points) -> dict[tuple[str, ...], Run]:
    """The first run of every point, by the values of its paths."""
    runs: dict[tuple[str, ...], Run] = {}
    for point, run in zip(found.points, found.runs, strict=True):
        runs.setdefault(_key(found, point), run)
    return runs


def _key(found: Points, point: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of all paths as text. A row of values and the point of its run have the same key."""
    return tuple(value_text(point[path]) for path in found.paths)


def _pairs(found: Points, path: str, runs: Mapping[tuple[str, ...], Run]) -> Iterator[_Pair]:
    others = [each for each in found.paths if each != path]
    values = found.every_value
    for part in values.partition_by(others, maintain_order=True) if others else [values]:
        point = {found.words[each]: found.said(each, part[each][0]) for each in others}
        first, *rest = [_variant(found, part, path, value, runs) for value in ordered(part[path].to_list())]
        yield from ((point, first, other) for other in rest)


def _variant(
    found: Points, part: pl.DataFrame, path: str, value: Any, runs: Mapping[tuple[str, ...], Run]
) -> Side:
    rows = part.filter(pl.col(path).eq_missing(pl.lit(value)), found.is_asked())
    return Side(_side(found, path, value), runs[_key(found, rows.row(0, named=True))].scenario, rows)


def _side(found: Points, path: str, value: Any) -> str:
    """Return the name of a value, preceded by the name of its path if another path has a value in common with
    this path."""
    own = set(map(repr, found.values[path].unique().to_list()))
    others = (found.values[each].unique().to_list() for each in found.paths if each != path)
    is_shared = any(not own.isdisjoint(map(repr, values)) for values in others)
    return found.at(path, value) if is_shared else found.said(path, value)


def by_sides(made: Comparisons) -> dict[str, list[VariantComparison]]:
    """Comparisons at all points, grouped by the names of both sides."""
    sides: dict[str, list[VariantComparison]] = {}
    for one in made:
        sides.setdefault(f"{one.other} against {one.reference}", []).append(one)
    return sides


def sentences(made: Comparisons) -> Iterator[str]:
    """A sentence per variant, over all points."""
    for sides, at in by_sides(made).items():
        rows = [{"verdict": each.verdict, "metric": each.metric} for one in at for each in one.findings]
        yield f"{sides}: {summary(rows)}."


def section(made: Comparisons, rows: int) -> Section:
    """All verdicts, with the rules of the verdicts."""
    told = merged((note for one in made for note in one.notes), names_of(made), in_words=True)
    more = [Items(told)] if told else []
    findings = [finding for one in made for finding in one.findings]
    how = Text(f"{HOW_COMPARED} {widths(findings)}".rstrip())
    return Section(VERDICTS, [how, whole_table(findings, rows), *more])


def is_doubtful(found: Points, row: Mapping[str, Any]) -> bool:
    """Whether a warning is about the mean in a row of `Points.means`."""
    runs = [
        run
        for point, run in zip(found.points, found.runs, strict=True)
        if all(point[path] == row[path] for path in found.paths if path in point)
    ]
    at = {(run.meta.digest, run.engine.name) for run in runs}
    means = [mean for each in at for mean in found.doubts.means.get(each, ())]
    named = [mean._replace(group=found.labels.group(mean.group)) for mean in means]
    return row["kind"] == "flows" and any(rests_on(row["metric"], row["of"], mean) for mean in named)


def of_shares(found: Points, rows: int) -> Iterator[Section]:
    """The tests of goodput shares against fair shares; nothing if no group shares a path with another."""
    findings = paired(fair_shares(found.every_value)) if len(found.seeds) > 1 else []
    if findings:
        yield Section("Fair shares", [Text(HOW_SHARED), whole_table(findings, rows, found.labels)])
