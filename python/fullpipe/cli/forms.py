"""Tables of text on a terminal, and as CSV, Markdown and LaTeX."""

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from io import StringIO
from itertools import groupby
from typing import Any

from fullpipe import markdown
from fullpipe.cli.output import plain

NOTHING = "-"
"""Text of a cell that has no number."""
_MOST_ROWS = 60
"""Maximum number of rows on a terminal. If standard output is no terminal, all rows are printed."""


class Form(StrEnum):
    """Formats of a table."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


@dataclass(frozen=True)
class Grid:
    """A table whose cells are text."""

    names: Sequence[str]
    """Headings of the columns of words, which are left of the columns of numbers."""
    numbers: Sequence[str]
    """Headings of columns of numbers."""
    rows: Sequence[Sequence[str]]
    """A cell for every heading."""

    @property
    def headings(self) -> list[str]:
        """Headings of all columns."""
        return [*self.names, *self.numbers]


def text_of(grid: Grid, form: Form) -> str:
    """A grid as CSV, Markdown or LaTeX."""
    return {Form.CSV: _csv, Form.MARKDOWN: _markdown, Form.LATEX: _latex}[form](grid)


def drawn(grid: Grid, width: int) -> Iterator[Any]:
    """Tables for a terminal of `width` characters. A wide grid is split; each part has the word columns."""
    left = len(grid.names)
    widths = [_width(grid, n) for n in range(len(grid.headings))]
    room = max(width - sum(widths[:left]), 0)
    taken: list[int] = []
    for n in range(left, len(widths)):
        if taken and sum(widths[k] for k in (*taken, n)) > room:
            yield _drawn(grid, taken)
            taken = []
        taken.append(n)
    yield _drawn(grid, taken)


def _width(grid: Grid, n: int) -> int:
    """Width of a column, including the space after the column."""
    return 1 + max(len(line) for row in (grid.headings, *grid.rows) for line in row[n].split("\n"))


def _drawn(grid: Grid, chosen: Sequence[int]) -> Any:
    from fullpipe.cli.console import table  # imported here and below, as other forms need no terminal

    left = len(grid.names)
    made = table(*grid.names[:1], *grid.names[1:], *(grid.headings[n] for n in chosen))
    for column in made.columns[:left]:
        column.justify, column.min_width, column.no_wrap = "left", None, False
    for row in [row for row in grid.rows if _is_shown(row, left, chosen)] or grid.rows:
        made.add_row(*row[:left], *(row[n] for n in chosen))
    return made


def _is_shown(row: Sequence[str], left: int, chosen: Sequence[int]) -> bool:
    """Whether a row has a value in the `chosen` columns, or has no value in any column."""
    is_elsewhere = any(cell != NOTHING for cell in row[left:])
    return any(row[n] != NOTHING for n in chosen) or not is_elsewhere


def show(grid: Grid, form: Form) -> None:
    """Print a grid in a format. On a terminal, a line replaces all rows after the first `_MOST_ROWS`."""
    if form == Form.TABLE:
        from fullpipe.cli.console import terminal
        from fullpipe.report.text import counted

        console, rows = terminal(), len(grid.rows)
        limit = _MOST_ROWS if sys.stdout.isatty() else rows
        for each in drawn(replace(grid, rows=grid.rows[:limit]), console.width):
            console.print(each)
        if rows > limit:
            console.print(f"{counted(rows - limit, 'more row')}: --format csv prints all")
    else:
        print(plain(text_of(grid, form)), end="")


def _csv(grid: Grid) -> str:
    written = StringIO()
    csv.writer(written, lineterminator="\n").writerows([grid.headings, *grid.rows])
    return written.getvalue()


def _markdown(grid: Grid) -> str:
    marks = ["---"] * len(grid.names) + ["--:"] * len(grid.numbers)
    return "".join(f"{line}\n" for line in markdown.table(grid.headings, marks, grid.rows))


def _latex(grid: Grid) -> str:
    """LaTeX in the style of the package booktabs."""
    columns = "l" * len(grid.names) + "r" * len(grid.numbers)
    head, *rows = [" & ".join(map(in_latex, row)) + r" \\" for row in (grid.headings, *grid.rows)]
    body = [r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}", ""])


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " "}


def in_latex(text: str) -> str:
    """Text with special characters of LaTeX escaped."""
    escaped = re.sub(r"[\\~^\n]|[&%$#_{}]", lambda m: _LATEX.get(m[0], "\\" + m[0]), text)
    return escaped.replace("²", r"\textsuperscript{2}")


def spans(left: Sequence[str], tops: Sequence[str]) -> Iterator[str]:
    """A line of headings. Equal neighbours are merged, with a rule below each merged heading."""
    cells, rules, at = [*map(in_latex, left)], [], len(left) + 1
    for words, group in groupby(tops):
        count = len(list(group))
        cells.append(rf"\multicolumn{{{count}}}{{c}}{{{in_latex(words)}}}")
        rules += [rf"\cmidrule(lr){{{at}-{at + count - 1}}}"] if count > 1 else []
        at += count
    yield rf"{' & '.join(cells)} \\"
    if rules:
        yield " ".join(rules)


def number_format(column: Sequence[str]) -> str:
    """siunitx's table-format of a column: the digits before and after the point, and of the uncertainty."""
    numbers = [cell.rstrip(")").split("(") for cell in column if not cell.startswith("{")]
    whole = max((len(number[0].lstrip("-").partition(".")[0]) for number in numbers), default=1)
    decimals = max((len(number[0].partition(".")[2]) for number in numbers), default=0)
    uncertain = max((len(number[1]) for number in numbers if len(number) > 1), default=0)
    sign = "-" if any(number[0].startswith("-") for number in numbers) else ""
    return f"{sign}{whole}.{decimals}" + (f"({uncertain})" if uncertain else "")
