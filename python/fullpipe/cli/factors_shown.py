"""Tests on a terminal: a table per metric, group of flows or link, and point."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from fullpipe.analysis.statistics import Effect
from fullpipe.cli import forms
from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.forms import NOTHING, Form, Grid
from fullpipe.cli.shown import difference_shown, number_shown, point_shown, unit_shown
from fullpipe.validation.factors import Answer, Row

_NUMBERS = ("means", "difference [95 %]", "effect size [95 %]", "p", "corrected", "verdict")


def show(title: str, found: Answer, form: Form) -> None:
    """Print the answer: a table per tested metric on a terminal, or one table for all in other forms."""
    if form != Form.TABLE:
        forms.show(_whole(found.rows), form)
        return
    console = terminal()
    console.print(led(title, "bold", ""))
    for _, rows in groupby(found.rows, key=lambda row: (row.family, row.subject)):
        of_subject = list(rows)
        console.print()
        console.print(styled(", ".join(_about(of_subject[0])), "bold"), soft_wrap=True)
        forms.show(_told(Grid(["test", ""], _NUMBERS, list(map(_cells, of_subject)))), form)
        for line in dict.fromkeys(line for row in of_subject for line in row.assumptions):
            console.print(styled(f"assumed: {line}", "dim"))
    for line in _sentences(found.rows):
        console.print(styled(line, "dim"), soft_wrap=True)


def _whole(rows: Sequence[Row]) -> Grid:
    cells = [[", ".join(_about(row)), *_cells(row)] for row in rows]
    return Grid(["of", "test", "effect"], _NUMBERS, cells)


def _told(grid: Grid) -> Grid:
    """A grid without the columns that say nothing."""
    left = len(grid.names)
    kept = [n for n in range(left, len(grid.headings)) if any(row[n] != NOTHING for row in grid.rows)]
    rows = [[*row[:left], *(row[n] for n in kept)] for row in grid.rows]
    return Grid(grid.names, [grid.headings[n] for n in kept], rows)


def _about(row: Row) -> list[str]:
    subject = row.subject
    unit = unit_shown(subject.unit)
    name = f"{subject.name}{f', {unit}' if unit and unit != '1' else ''}"
    planned = f"family {row.family}, declared beforehand" if row.is_planned else ""
    return [part for part in (name, *point_shown(subject.point), planned) if part]


def _cells(row: Row) -> list[str]:
    unit = row.subject.unit
    means = " / ".join(number_shown(mean, unit, row.subject.metric) for mean in row.means) or NOTHING
    difference = NOTHING
    if row.difference is not None:
        difference = difference_shown(row.difference, row.interval, row.means[0], unit, row.subject.metric)
    return [
        row.test,
        row.effect,
        means,
        difference,
        "\n".join(map(_effect, _shown(row))) or row.statistic or NOTHING,
        _p(row.p),
        _p(row.p_corrected),
        _verdict(row),
    ]


def _shown(row: Row) -> Sequence[Effect]:
    """Effect sizes that are shown: all of a primary test, the first of others."""
    return row.effects if row.is_primary else row.effects[:1]


def _effect(found: Effect) -> str:
    ends = f" [{found.interval.low:.3g}, {found.interval.high:.3g}]" if found.interval else ""
    return f"{found.name} {found.value:.3g}{ends}"


def _p(value: float) -> str:
    return NOTHING if value != value else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _verdict(row: Row) -> str:
    if not row.verdict:
        return NOTHING
    return f"{row.verdict} (about {row.seeds:,} seeds)" if row.seeds else row.verdict


def _sentences(rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    if any(row.is_primary for row in listed):
        yield "corrected: p within its family, on which verdicts rest; the other tests are checks"
        yield "pairs of levels have a verdict by one test, which says that two differ only where levels do"
    if not any(row.is_planned for row in listed):
        yield "nothing was declared beforehand: --family FILE tells what was planned from what was not"
