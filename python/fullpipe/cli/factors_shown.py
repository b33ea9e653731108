"""Tests of factors on a terminal: the conclusion, and a table of the tests that it rests on."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import isnan
from textwrap import wrap
from typing import Any

from fullpipe.analysis.points import short_names
from fullpipe.analysis.statistics import Effect
from fullpipe.cli import forms
from fullpipe.cli.console import led, styled, table, terminal
from fullpipe.cli.findings import MOST_ROWS, show_conclusion
from fullpipe.cli.forms import NOTHING, Form, Grid
from fullpipe.cli.shown import difference_shown, number_shown, point_shown, unit_shown
from fullpipe.validation.factors import Answer, Factor, Row, conclusion
from fullpipe.validation.factors.conclusion import weight
from fullpipe.validation.factors.factor import INTERACTION

_NUMBERS = ("means", "difference [95 %]", "effect size [95 %]", "p (raw)", "p (corrected)", "verdict")
_SHORT = ("effect size [95 %]", "p\n(raw)", "p\n(corrected)")
_INTERACTION = {"different": "significant"}
"""Words of interactions."""
_LONGEST_EFFECT = 24
"""Characters of a line of an effect beside all columns."""
_VERDICT = 11
"""Characters of the narrowest column of verdicts."""


def show(title: str, found: Answer, form: Form, *, all_rows: bool = False) -> None:
    """Print an answer: on a terminal its conclusion and the tests that it rests on, else all rows.

    Args:
        title: Scenario and factors.
        found: The answer.
        form: Form of the tables.
        all_rows: Also print pairs of levels and checks on a terminal.
    """
    if form != Form.TABLE:
        forms.show(_whole(found.rows), form)
        return
    show_conclusion(conclusion(found))
    terminal().print(led(title, "bold", ""))
    if all_rows:
        _show_all(found.rows)
    else:
        _show_primary(found)


def _show_primary(found: Answer) -> None:
    """The tests that the conclusion rests on."""
    primary = [row for row in found.rows if row.is_primary]
    of_test = {id(factor.test): factor for factor in found.factors}
    chosen = sorted(primary, key=weight(found))[:MOST_ROWS]
    chosen = [row for row in primary if any(row is one for one in chosen)]
    console = terminal()
    cells = [_short(row, of_test.get(id(row))) for row in chosen]
    widths = _widths([("", *_SHORT, "verdict"), *cells], console.width)
    console.print(_table(widths, None))
    for _, group in groupby(zip(chosen, cells, strict=True), key=lambda each: _about(each[0])):
        of_subject = list(group)
        console.print(styled(", ".join(_about(of_subject[0][0])), "bold"))
        for _, (effect, *numbers) in of_subject:
            if max(map(len, effect.split())) > widths[0]:  # a long name has a line of its own
                console.print(effect)
                effect = ""
            console.print(_table(widths, [effect, *numbers]))
    left = len(found.rows) - len(chosen)
    if left:
        console.print(styled(f"{left:,} more rows: --all prints them", "dim"))


def _table(widths: Sequence[int], row: Sequence[str] | None) -> Any:
    """A row, or the headings."""
    made = table("", *_SHORT, last="verdict")
    made.show_header = row is None
    for column, width in zip(made.columns, widths, strict=True):
        column.width, column.min_width = width, None
    if row:
        made.add_row(*row)
    return made


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Widths of columns: numbers are whole, and effects and verdicts share the rest."""
    longest = [max(len(line) for row in rows for line in row[n].split("\n")) for n in range(len(rows[0]))]
    room = width - sum(longest[1:-1]) - len(longest)
    verdict = max(min(longest[-1], room - longest[0]), min(longest[-1], _VERDICT))
    return [max(min(longest[0], room - verdict), 1), *longest[1:-1], verdict]


def _short(row: Row, factor: Factor | None) -> list[str]:
    """Effect, its size, both p values, and verdict or status; `factor`: that of a main effect."""
    if row.difference is not None:
        unit, metric = row.subject.unit, row.subject.metric
        size = difference_shown(row.difference, row.interval, row.means[0], unit, metric)
    else:
        size = next((_effect(effect) for effect in reversed(row.effects)), NOTHING)
    word = row.verdict if row.difference is not None or factor is None else factor.status
    verdict = _with_seeds(_INTERACTION.get(word, word), factor.seeds if factor else None)
    return [f" {_named(row)}", size, _p(row.p_raw), _p(row.p_corrected), verdict]


def _show_all(rows: Sequence[Row]) -> None:
    """A table for each subject, of all its tests."""
    console = terminal()
    for _, of_rows in groupby(rows, key=lambda row: (row.family, row.subject)):
        of_subject = list(of_rows)
        console.print()
        console.print(styled(", ".join(_about(of_subject[0])), "bold"), soft_wrap=True)
        cells = [[row.test, _in_lines(_named(row)), *_cells(row)] for row in of_subject]
        forms.show(_told(Grid(["test", ""], _NUMBERS, cells)), Form.TABLE)
        for line in dict.fromkeys(line for row in of_subject for line in row.assumptions):
            console.print(styled(f"assumed: {line}", "dim"))
    for line in _sentences(rows):
        console.print(styled(line, "dim"), soft_wrap=True)


def _in_lines(text: str) -> str:
    """Text that is broken between words."""
    return "\n".join(wrap(text, _LONGEST_EFFECT, break_long_words=False, break_on_hyphens=False))


def _whole(rows: Sequence[Row]) -> Grid:
    cells = [[", ".join(_about(row)), row.test, row.effect, *_cells(row)] for row in rows]
    return Grid(["of", "test", "effect"], _NUMBERS, cells)


def _told(grid: Grid) -> Grid:
    """A grid without the columns that have no value."""
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


def _named(row: Row) -> str:
    """The effect with the last words of paths."""
    if len(row.levels) == 2 or not row.factors:
        return row.effect
    names = short_names(row.factors)
    return INTERACTION.join(names[path] for path in row.factors)


def _cells(row: Row) -> list[str]:
    unit = row.subject.unit
    means = " / ".join(number_shown(mean, unit, row.subject.metric) for mean in row.means) or NOTHING
    difference = NOTHING
    if row.difference is not None:
        difference = difference_shown(row.difference, row.interval, row.means[0], unit, row.subject.metric)
    return [
        means,
        difference,
        "\n".join(map(_effect, _shown(row))) or row.statistic or NOTHING,
        _p(row.p_raw),
        _p(row.p if row.is_corrected and isnan(row.p_corrected) else row.p_corrected),
        _verdict(row),
    ]


def _shown(row: Row) -> Sequence[Effect]:
    """All effect sizes of a primary test, the first of another."""
    return row.effects if row.is_primary else row.effects[:1]


def _effect(found: Effect) -> str:
    ends = f" [{found.interval.low:.3g}, {found.interval.high:.3g}]" if found.interval else ""
    return f"{found.name} {found.value:.3g}{ends}"


def _p(value: float) -> str:
    return NOTHING if isnan(value) else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _verdict(row: Row) -> str:
    return _with_seeds(row.verdict, row.seeds) or NOTHING


def _with_seeds(verdict: str, seeds: int | None) -> str:
    return f"{verdict} (about {seeds:,} seeds)" if seeds else verdict


def _sentences(rows: Iterable[Row]) -> Iterator[str]:
    listed = list(rows)
    if any(row.is_primary for row in listed):
        yield "p (corrected): within the family, on which verdicts rest; the other tests are checks"
        yield "pairs of levels have a verdict by one test, which says that two differ only where levels do"
    if not any(row.is_planned for row in listed):
        yield "nothing was declared beforehand: --family FILE tells what was planned from what was not"
