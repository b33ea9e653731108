"""The command `table`: pivoted tables as text, Markdown, CSV or LaTeX."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
import typer

from fullpipe.analysis.limits import TIMES, left_out_of_cells, with_counts
from fullpipe.analysis.metrics.groups import ALL
from fullpipe.analysis.over_seeds import over_seeds, paths_of
from fullpipe.analysis.points import Subject, points_of
from fullpipe.analysis.shown import begun, decimals_of, mean_shown, scale_and_digits
from fullpipe.analysis.values import value_text, values_of
from fullpipe.cli.forms import NOTHING, Form, Grid, in_latex, number_format, spans
from fullpipe.cli.selection import (
    FLOWS,
    changed_entry,
    factor_called,
    filtered,
    filtered_runs,
    labelled,
    labels_of,
    no_value,
    of_groups,
    read_subjects,
    varied,
    with_name,
)
from fullpipe.cli.shared import Content, ContentOption, FormOption, LabelOption
from fullpipe.runs import Run
from fullpipe.scenario.labels import Labels
from fullpipe.scenario.quantities import as_numbers

# The pivoted table: factors on the rows and columns, means of metrics in the cells.


Mean = Mapping[str, Any]
"""A row of the data frame that `over_seeds` returns: a mean over seeds with its interval."""
_CSV = ("mean", "low", "high")
_COUNTS = ("began", "unfinished")


class Column(NamedTuple):
    """A column of numbers: a metric, and one value of each factor on the columns."""

    metric: str
    """The label of the metric, with its unit."""
    in_base_unit: str
    """The label of the metric, with the base unit."""
    values: Sequence[str]
    """The label of the value of each factor."""
    titles: Sequence[str]
    """For each factor, its name and the label of its value."""


@dataclass(frozen=True)
class Pivot:
    """Means over seeds by the values of factors."""

    rows: Sequence[str]
    """Names of the factors on the rows."""
    columns: Sequence[str]
    """Names of the factors on the columns."""
    heads: Sequence[Sequence[str]]
    """The labels of the factor values of every row."""
    numbers: Sequence[Column]
    cells: Sequence[Sequence[Mean | None]]
    """Cells by row and column; None if there is no value."""
    runs: tuple[int, int]
    """The smallest and the largest number of runs per cell."""
    instead: str = ""
    """If metrics cover all flows together, a note with the option for the group that the sweep changes;
    otherwise empty."""
    owned: Mapping[str, str] = field(default_factory=dict)
    """Names of factors with their owner, such as "algorithm of new", by the names of the factors."""

    @property
    def is_of_one_metric(self) -> bool:
        """Whether all columns have the same metric."""
        return len({column.metric for column in self.numbers}) == 1

    def grid(self) -> Grid:
        """The table as text: means with their 95 % intervals. All columns of a metric have the same number of
        decimals."""
        digits = [decimals_of(self.of_metric(column.metric)) for column in self.numbers]
        cells = [
            [
                *head,
                *(
                    NOTHING if cell is None else mean_shown(cell, digits=places)
                    for cell, places in zip(row, digits, strict=True)
                ),
            ]
            for head, row in zip(self.heads, self.cells, strict=True)
        ]
        return Grid(list(self.rows), [self.heading(column) for column in self.numbers], cells)

    def of_metric(self, metric: str) -> list[Mean]:
        """The known cells of the columns of a metric."""
        columns = [n for n, column in enumerate(self.numbers) if column.metric == metric]
        return [cell for row in self.cells for n in columns if (cell := row[n]) is not None]

    def heading(self, column: Column) -> str:
        """The heading of a column: its metric if metrics differ, and every factor with its value."""
        metric = [] if column.titles and self.is_of_one_metric else [column.metric]
        return "\n".join([*metric, *column.titles])

    def numbers_grid(self) -> Grid:
        """The table as numbers in base units. The ends of intervals have columns of their own. Completion
        times also have columns with the number of transfers or pages that began, and that did not finish."""
        heads = [", ".join([column.in_base_unit, *column.titles]) for column in self.numbers]
        ends = [
            (*_CSV, *(_COUNTS if self.of_metric(column.metric)[0].get("metric") in TIMES else ()))
            for column in self.numbers
        ]
        names = [f"{head} {end}" for head, own in zip(heads, ends, strict=True) for end in own]
        cells = [
            [
                *head,
                *(
                    "" if cell is None or cell[end] is None else repr(cell[end])
                    for cell, own in zip(row, ends, strict=True)
                    for end in own
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
    *,
    in_print: bool = True,
) -> Pivot:
    """Make a pivoted table of metrics.

    Args:
        runs: Runs of one scenario, or of scenarios with the same flows and topology.
        subjects: Metrics, with or without a group.
        rows: Factors on the rows; if empty, all paths whose values differ and that are not on the columns.
        columns: Factors on the columns; if empty, the columns are the metrics.
        where: Conditions on the runs, such as "rate=10 Mbit/s".
        given: Labels of paths and values that the user gives.
        in_print: Whether algorithms have the names that papers use instead of their keys.

    Raises:
        BadParameter: If a cell would have runs of several points, or no run has a value.
        UnknownNameError: If a metric, path or group does not exist.
    """
    points = points_of(runs)
    pointed = list(zip(points, runs, strict=True))
    values = filtered(values_of(pointed, with_counts([each.metric for each in subjects])), where)
    labels = labels_of(runs, given or {}, points)
    labels = labels.in_print() if in_print else labels
    subjects = [with_name(each, values, labels) for each in subjects]
    across = [factor_called(word, values) for word in columns]
    free = [path for path in varied(values) if path not in across]
    down = [factor_called(word, values) for word in rows] or [*free]
    _check(down, across, free)
    by_group = FLOWS in (*down, *across)
    raw = {path: _raw(points, values, path) for path in (*down, *across)}
    named = [_named(each, values, by_group=by_group) for each in subjects]
    tables = [
        (labelled(name, labels, runs), _means(values, each, labels, by_group=by_group))
        for name, each in zip(named, subjects, strict=True)
    ]
    in_base_unit = {
        labelled(name, labels, runs): labelled(each, labels, in_base_unit=True)
        for name, each in zip(named, subjects, strict=True)
    }
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
    swept = [path for path in raw if path != FLOWS]
    names = {**labels.names(swept), FLOWS: FLOWS}
    owned = labels.owned_names(swept)

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
        _instead(values, named, runs),
        {names[path]: name for path, name in owned.items()},
    )


def _named(subject: Subject, values: pl.DataFrame, *, by_group: bool) -> Subject:
    """The subject, with the name of the group of all flows if its means cover all flows together."""
    groups = values.filter(metric=subject.metric)["of"].unique()
    are_of_all = subject.of is None and not by_group and len(groups) > 1 and ALL in groups
    return subject._replace(of=ALL) if are_of_all else subject


def _instead(values: pl.DataFrame, subjects: Sequence[Subject], runs: Sequence[Run]) -> str:
    """A note on metrics of all flows that also have a value for the only changed group; or empty.

    Figures draw the changed group by default. Tables print all flows by default, as scripts read their
    numbers.
    """
    entry = changed_entry(paths_of(values), runs)
    if entry is None:
        return ""
    totals = [each.metric for each in subjects if each.of == ALL]
    own = values.filter(pl.col("metric").is_in(totals), entry=entry).drop_nulls("value")
    names = own["of"].unique(maintain_order=True).to_list()
    if len(names) != 1:
        return ""
    told = ", ".join(own["metric"].unique(maintain_order=True))
    return f"note: {told} of all flows; --of {shlex.quote(names[0])} prints the group that the sweep changes"


def _check(down: Sequence[str], across: Sequence[str], free: Sequence[str]) -> None:
    twice = [path for path in down if path in across]
    if twice:
        raise typer.BadParameter(f"{twice[0]} is given as --rows and --columns; leave one out")
    if left := [path for path in free if path not in down]:
        how = f"add --rows or --columns {left[0]}, or --where {left[0]}=VALUE"
        raise typer.BadParameter(f"runs also differ in {', '.join(left)}: {how}")


def _means(values: pl.DataFrame, subject: Subject, labels: Labels, *, by_group: bool) -> list[Mean]:
    """Means over seeds of a metric, without unknown means."""
    rows = of_groups(values, subject, labels, by_group=by_group)
    counts = values.filter(pl.col("metric").is_in(with_counts([subject.metric])[1:]))
    found = over_seeds(pl.concat([rows, counts.join(rows.select("of").unique(), on="of", how="semi")]))
    known = found.filter(pl.col("metric") == subject.metric).drop_nulls("mean")
    if known.is_empty():
        raise no_value(subject, values)
    return list(known.iter_rows(named=True))


def _column(path: str) -> str:
    return "of" if path == FLOWS else path


def _raw(points: Sequence[Mapping[str, Any]], values: pl.DataFrame, path: str) -> dict[Any, Any]:
    """Values of a path in `points`, by their text in the column of `values`. In `values`, TOML tables are
    text."""
    own = {value_text(point[path]): point[path] for point in points if path in point}
    return {value: own.get(value, value) for value in values[_column(path)].unique(maintain_order=True)}


def _ordered(there: Sequence[Any], known: Mapping[Any, Any]) -> list[Any]:
    """The values of `known` that are in `there`: quantities by size, others in the order of the runs."""
    values = [value for value in known if value in there]
    found = as_numbers(values)
    return [value for _, value in sorted(zip(found[0], values, strict=True))] if found else values


# The pivoted table in LaTeX, for the packages booktabs and siunitx.


_SYMMETRIC = 0.01
"""Maximum relative difference between the halves of an interval that counts as symmetric."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
"""Commas between thousands. They are removed, as siunitx prints the other cells of the column without
them."""
_MORE = 3
"""Maximum number of decimals that a small number has beyond those of its column."""
_MOST_UNCERTAIN = 100
"""Upper bound of an uncertainty, in units of its last decimal, so that it has at most two digits."""


def latex_of(pivot: Pivot) -> str:
    """The table in LaTeX, for a document with `\\usepackage{booktabs, siunitx}`.

    A cell is the mean with the half width of its 95 % interval as its uncertainty, which siunitx prints as
    1.23(4) or, with `separate-uncertainty`, as 1.23 ± 0.04. If an interval of the table is truncated at a
    bound of its metric, all intervals of the table are printed with both ends. Notes below the table are as
    wide as the table.
    """
    every = [cell for row in pivot.cells for cell in row if cell is not None]
    is_written_out = any(_half_width(cell) is None for cell in every)
    written = [
        _latex_column(
            [row[n] for row in pivot.cells], pivot.of_metric(column.metric), is_written_out=is_written_out
        )
        for n, column in enumerate(pivot.numbers)
    ]
    kinds = ["l" * len(pivot.rows)]
    for kind, alike in groupby(f"S[table-format={number_format(column)}]" for column in written):
        count = len(list(alike))
        kinds.append(kind if count == 1 else f"*{{{count}}}{{{kind}}}")
    rows = [[*map(in_latex, head), *(column[n] for column in written)] for n, head in enumerate(pivot.heads)]
    lines = [
        rf"% \usepackage{{booktabs, siunitx}}; {_about(pivot)}",
        r"\begingroup\sbox0{%",
        rf"\begin{{tabular}}{{{' '.join(kinds)}}}",
        r"\toprule",
        *_head(pivot),
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}}%",
        r"\begin{minipage}{\wd0}",
        r"\usebox0\par\smallskip\footnotesize\raggedright",
        *_notes(pivot, written),
        r"\end{minipage}\endgroup",
    ]
    return "\n".join([*lines, ""])


def _notes(pivot: Pivot, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines below the table: the number of runs, and the meaning of the numbers in brackets."""
    told = [_runs_told(pivot)]
    cells = [cell for column in columns for cell in column]
    if any(cell.endswith(")") and not cell.startswith("{") for cell in cells):
        told.append("in parentheses: half widths of 95 % confidence intervals in units of the last digit")
    if any(cell.startswith("{") and "[" in cell for cell in cells):
        told.append("in brackets: both ends of 95 % confidence intervals")
    if not any("unfinished" in cell for cell in cells):
        labels = dict.fromkeys(column.metric for column in pivot.numbers)
        told += filter(None, (left_out_of_cells(label, pivot.of_metric(label)) for label in labels))
    for line in told:
        yield rf"{in_latex(begun(line))}.\par"


def _runs_told(pivot: Pivot) -> str:
    least, most = pivot.runs
    count = f"{most}" if least == most else f"{least} to {most}"
    return f"means of {count} runs" if most > 1 else "one run each"


def _about(pivot: Pivot) -> str:
    metric = f"{pivot.numbers[0].metric}, " if pivot.is_of_one_metric else ""
    intervals = ", 95 % confidence intervals" if pivot.runs[1] > 1 else ""
    return f"{metric}{_runs_told(pivot)}{intervals}"


def _head(pivot: Pivot) -> Iterator[str]:
    """The heading lines: one for the metrics if there are several, and one per factor on the columns."""
    left, rows = [""] * len(pivot.rows), [pivot.owned.get(name, name) for name in pivot.rows]
    tops = [column.metric for column in pivot.numbers]
    yield from spans(left if pivot.columns else rows, tops)
    for n, name in enumerate(pivot.columns):
        values = [column.values[n] for column in pivot.numbers]
        is_last = n == len(pivot.columns) - 1
        if is_last:
            count, at, named = len(values), len(left) + 1, pivot.owned.get(name, name)
            yield rf"{' & '.join(left)} & \multicolumn{{{count}}}{{c}}{{{in_latex(named)}}} \\"
            yield rf"\cmidrule(lr){{{at}-{at + count - 1}}}"
            yield from spans(rows, values)
        else:
            yield from spans(left, [column.titles[n] for column in pivot.numbers])


def _latex_column(cells: Sequence[Mean | None], known: Sequence[Mean], *, is_written_out: bool) -> list[str]:
    """Numbers for siunitx, or text in braces, such as intervals with both ends if `is_written_out`.

    All numbers of a metric, `known`, have the same number of decimals: at most that of the metric, and so few
    that the widest uncertainty has at most two digits. A number or interval that would look like 0 has more
    decimals.
    """
    if not known:
        return ["{--}" for _ in cells]
    scale, _ = scale_and_digits(known[0]["unit"], known[0]["metric"])
    decimals = decimals_of(known)
    widest = max((width * scale for cell in known if (width := _half_width(cell))), default=0.0)
    while decimals > 0 and widest * 10**decimals >= _MOST_UNCERTAIN:
        decimals -= 1
    return [
        _number(cell, scale, _enough(cell, scale, decimals), is_written_out=is_written_out) for cell in cells
    ]


def _enough(cell: Mean | None, scale: float, decimals: int) -> int:
    """Decimals of a cell: `decimals`, or the fewest of up to `_MORE` further decimals with which neither the
    mean nor an end of its interval looks like 0."""
    ends = [] if cell is None else [cell[name] for name in ("mean", "low", "high")]
    sizes = [abs(end) * scale for end in ends if end]
    tries = range(decimals, decimals + _MORE + 1)
    return next((places for places in tries if all(round(size, places) for size in sizes)), decimals)


def _number(cell: Mean | None, scale: float, decimals: int, *, is_written_out: bool) -> str:
    if cell is None:
        return "{--}"
    mean, width = f"{cell['mean'] * scale:.{decimals}f}", _half_width(cell)
    if width is None or is_written_out:
        return f"{{{in_latex(_THOUSANDS.sub('', mean_shown(cell, digits=decimals)))}}}"
    return mean if width == 0 else f"{mean}({math.ceil(width * scale * 10**decimals - 1e-9)})"


def _half_width(cell: Mean) -> float | None:
    """Half the width of the interval: 0 without an interval, None if the interval is truncated."""
    if cell["low"] is None or cell["alike"]:
        return 0.0
    below, above = cell["mean"] - cell["low"], cell["high"] - cell["mean"]
    return None if abs(above - below) > _SYMMETRIC * max(above, below) else float(above)


# `fullpipe table`: prints metrics of many finished runs as a pivoted table.


def table(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of runs, or stores (folders of finished runs)."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help='Metric to print, such as goodput or "rtt_mean of ping"; may be repeated.'
        ),
    ] = None,
    of: Annotated[str | None, typer.Option(metavar="NAME", help="Use only this flow group or link.")] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Swept path with a row per value; the value flows gives a row per flow group. May be"
            " repeated (default: all paths whose values differ and that are not in --columns).",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Swept path with a column per value; may be repeated."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=VALUE", help="Use only runs with this value; may be repeated."),
    ] = None,
    label: LabelOption = None,
    content: ContentOption = Content.NEWEST,
    form: FormOption = Form.TABLE,
) -> None:
    """The rows and the columns of the table are values of swept paths. A cell is the mean over seeds with its
    95 % confidence interval.

    With `--format latex`, the table has the rules of booktabs and numbers for siunitx. With `--format csv`,
    numbers are in base units.
    """
    # Imported here, as the help of the command needs none of these modules.
    from fullpipe.cli import forms
    from fullpipe.cli.output import complain, echo, plain
    from fullpipe.cli.selection import of_one_scenario, read_labels
    from fullpipe.cli.stored import each_once, read_runs, runs_in, warn_of_short

    subjects = read_subjects(metric or ["goodput"], of)
    runs, left = of_one_scenario(each_once(read_runs(runs_in(folders, content))), where or ())
    axes, given = (rows or (), columns or (), left), read_labels(label or ())
    found = pivot_of(runs, subjects, *axes, given, in_print=form != Form.CSV)
    if form == Form.LATEX:
        print(plain(latex_of(found)), end="")
    elif form == Form.CSV:
        forms.show(found.numbers_grid(), form)
    else:
        if form == Form.TABLE and found.is_of_one_metric and found.columns:
            echo(found.numbers[0].metric)
        forms.show(found.grid(), form)
    if found.instead:
        complain(found.instead)
    there = filtered_runs(list(zip(points_of(runs), runs, strict=True)), left)
    warn_of_short(points_of(there), there)
