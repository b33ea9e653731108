"""The text output of a command: a conclusion, one table and notes, at most 60 lines in total."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text

from fullpipe.analysis.metrics import BY_NAME
from fullpipe.analysis.over_seeds import are_equal_over_seeds
from fullpipe.analysis.precision import SHARE
from fullpipe.analysis.shown import (
    difference_shown,
    difference_unit_shown,
    margin_shown,
    number_shown,
    point_shown,
    shown_in,
    unit_shown,
    widths_shown,
)
from fullpipe.cli.console import led, styled, terminal
from fullpipe.cli.forms import Grid, drawn
from fullpipe.cli.output import complain, in_lines, plain, prose_width
from fullpipe.report.text import counted

if TYPE_CHECKING:
    from fullpipe.analysis.precision import Known
    from fullpipe.sweeps import Enough

__all__ = [
    "LONGEST",
    "difference_shown",
    "difference_unit_shown",
    "heading",
    "margin_shown",
    "number_shown",
    "point_shown",
    "shown_in",
    "unit_shown",
    "widths_shown",
]


# Headings of tables, and texts in their cells.


LONGEST = 20
"""Maximum length of a line of a heading, in characters."""


def heading(name: str, longest: int = LONGEST) -> str:
    """The name of a group of flows or of a link, in several lines if it is long.

    >>> heading("download-from-the-basement").splitlines()
    ['download-from-the-', 'basement']
    """
    return "\n".join(wrap(name, longest))


MOST_LINES = 60
"""Maximum number of lines of an answer; `--all` removes the limit."""
MOST_ROWS = 12
"""Maximum number of rows of the table of an answer."""
_MOST_NOTES = 6
"""Maximum number of notes; warnings have the same limit of their own."""
_RESERVED = 8
"""Lines that a table leaves free for the notes below the table."""
_NARROWEST = 11
"""Minimum width of the last column of a table, in characters."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. A line above the row shows `place`, once for consecutive rows with equal places."""

    place: str
    cells: Sequence[str]
    style: str = ""
    """Style of the last cell, such as "green"."""
    below: Sequence[str] = ()
    """Cells of an extra line below the row."""


class Answer:
    """Conclusion, table and notes of a command, printed in the order of calls.

    With `all_rows`, all rows and notes are printed.
    """

    def __init__(self, *, all_rows: bool = False) -> None:
        self._console, self._all, self._left = terminal(), all_rows, MOST_LINES

    @property
    def width(self) -> int:
        """Width of a line, in characters."""
        return self._console.width

    def conclude(self, sentences: Sequence[str]) -> None:
        """Print sentences as the first paragraph."""
        for n, sentence in enumerate(sentences):
            self._print([styled(line, "" if n else "bold") for line in in_lines(sentence, self.width)])
        if sentences:
            self._print([Text()])

    def title(self, name: str, about: str) -> None:
        """Print the heading of a table: a name in bold, and the description `about`."""
        first, *more = in_lines(f"{name}{about}", prose_width(sys.stdout))
        self._print([led(first[: len(name)], "bold", first[len(name) :]), *map(Text, more)])

    def say(self, text: str) -> None:
        """Print a line about the table."""
        self._print([styled(line, "dim") for line in in_lines(text, prose_width(sys.stdout))])

    def table(
        self,
        headings: Sequence[str],
        found: Sequence[T],
        row: Callable[[T], Row],
        first: Callable[[T], Any] | None = None,
        total: int | None = None,
    ) -> list[T]:
        """Print one table; with many rows, only the first rows that fit.

        Args:
            headings: Headings. The first and the last column have words, all other columns numbers.
            found: One item per row, in the order of the table.
            row: Function that makes the row of an item.
            first: Sort key. If not all rows fit, the items with the lowest keys are shown. Without a key, the
                first items are shown.
            total: Total number of rows, for the line that says how many are left out; if None, the length of
                `found`.

        Returns:
            The items whose rows are shown.
        """
        ranked = sorted(found, key=first) if first else list(found)
        most = len(ranked) if self._all else MOST_ROWS
        while True:
            kept = {id(each) for each in ranked[:most]}
            chosen = [each for each in found if id(each) in kept]
            lines = list(_laid_out(headings, [row(each) for each in chosen], self.width))
            if self._all or most <= 1 or len(lines) <= self._left - _RESERVED:
                break
            most -= 1
        self._print(lines)
        self._print(self._more((len(found) if total is None else total) - len(chosen)))
        return chosen

    def first_of(self, ranked: Sequence[T]) -> Sequence[T]:
        """The first `MOST_ROWS` items of `ranked`, or all items if the answer shows all rows."""
        return ranked if self._all else ranked[:MOST_ROWS]

    def grid(self, found: Grid) -> None:
        """Print as many of the first rows of a grid as fit. A grid wider than the terminal becomes several
        tables."""
        most = len(found.rows) if self._all else MOST_ROWS
        while True:
            parts = list(drawn(replace(found, rows=found.rows[:most]), self.width))
            lines = 0 if self._all else sum(len(self._console.render_lines(part)) for part in parts)
            if most <= 1 or lines <= self._left - _RESERVED:
                break
            most -= 1
        for part in parts:
            self._console.print(part)
        self._left -= lines
        self._print(self._more(len(found.rows) - most))

    def _more(self, left: int) -> list[Text]:
        told = f"{counted(left, 'more row')}: --all prints them"
        return [styled(told, "dim")] if left > 0 and not self._all else []

    def notes(self, notes: Iterable[str], warnings: Iterable[str] = (), command: str = "") -> None:
        """Print notes on standard output and warnings on standard error, as many as fit.

        A line has the number of notes and warnings left out. The last line is a further command, which is
        never wrapped, so that it can be copied.

        Equal lines are printed once. If space is short, warnings take precedence.
        """
        self._left -= bool(command)
        told, warned = list(dict.fromkeys(notes)), list(dict.fromkeys(warnings))
        on_stderr = [in_lines(f"fullpipe: {line}", prose_width(sys.stderr), "  ") for line in warned]
        on_stdout = [in_lines(line, prose_width(sys.stdout)) for line in told]
        loud, quiet = self._fitting(on_stderr, bool(on_stdout)), self._fitting(on_stdout, keep=False)
        self._print([styled(line, "dim") for of_note in on_stdout[:quiet] for line in of_note])
        left = len(told) - quiet + len(warned) - loud
        if left:
            self._print([styled(f"{counted(left, 'more note')}: --all prints them", "dim")])
        self._print([Text(plain(command))] if command else [])
        for line in warned[:loud]:
            complain(line)

    def _fitting(self, notes: Sequence[Sequence[str]], keep: bool) -> int:
        """Reserve lines for the notes that fit, and return the number of these notes.

        If `keep` is true, one more line stays free.
        """
        if self._all:
            return len(notes)
        count = 0
        for of_note in notes[:_MOST_NOTES]:
            if len(of_note) + 1 + keep > self._left:
                break
            self._left -= len(of_note)
            count += 1
        return count

    def _print(self, lines: Sequence[Text]) -> None:
        self._left -= len(lines)
        if lines:
            whole = Text("\n").join(lines)
            self._console.print(whole, no_wrap=True, overflow="ignore")


def fits(headings: Sequence[str], rows: Sequence[Row], width: int) -> bool:
    """Whether every row of a table fits one line of `width` characters."""
    return sum(_longest([headings, *_cells(rows)])) + len(headings) - 1 <= width


def _cells(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    for row in rows:
        yield row.cells
        if row.below:
            yield row.below


def _longest(rows: Sequence[Sequence[str]]) -> list[int]:
    """The length of the longest line of every column, in characters."""
    of_columns = zip_longest(*rows, fillvalue="")
    return [max(len(line) for cell in cells for line in plain(cell).split("\n")) for cells in of_columns]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Column widths at which only cells of the last column wrap."""
    *widths, last = _longest(rows)
    return [*widths, min(last, _NARROWEST)]


def _laid_out(headings: Sequence[str], rows: Sequence[Row], width: int) -> Iterator[Text]:
    """The lines of a table: headings and rows. A line with their common `place` precedes the rows."""
    every = [headings, *_cells(rows)]
    widths = _widths(every)
    room = width - sum(widths) - len(widths) + 1
    if room < 0:  # wrap the words of the first column; numbers are never wrapped
        longest = max(len(word) for row in every for word in plain(row[0]).split(" "))
        widths[0] = max(longest + 1, widths[0] + room)
    widths[-1] += max(room, 0)
    yield from (styled(line, "bold") for line in _lines(headings, widths, at_end=True))
    start, place = sum(widths[:-1]) + len(widths) - 1, ""
    for row in rows:
        if row.place != place:
            place = row.place
            yield from (styled(line, "bold") for line in in_lines(plain(place), width))
        for line in _lines(row.cells, widths):
            yield Text.assemble(line[:start], (line[start:], row.style))
        if row.below:
            yield from map(Text, _lines(row.below, widths))


def _lines(cells: Sequence[str], widths: Sequence[int], *, at_end: bool = False) -> Iterator[str]:
    """The lines of a row, with words aligned left and numbers aligned right.

    Cells with fewer lines are aligned at the top or, with `at_end`, at the bottom.
    """
    of_words = (0, len(widths) - 1)
    parts: list[list[str]] = []
    for n, size in enumerate(widths):
        lines = plain(cells[n]).split("\n") if n < len(cells) else []
        parts.append(
            [part for line in lines for part in in_lines(line, size if n in of_words else None, " ")]
        )
    height = max(map(len, parts))
    for at in range(height):
        texts = [_at(part, at - (height - len(part) if at_end else 0)) for part in parts]
        padded = (
            text.ljust(size) if n in of_words else text.rjust(size)
            for n, (text, size) in enumerate(zip(texts, widths, strict=True))
        )
        yield " ".join(padded).rstrip()


def _at(lines: Sequence[str], place: int) -> str:
    return lines[place] if 0 <= place < len(lines) else ""


# Summary of the seeds that `fullpipe run --until` used.


_MOST_LINES = 5


def tell(found: Enough) -> None:
    """Print on standard error how many seeds were run, and why the command stopped adding seeds."""
    for line in _seeds_used(found):
        complain(line)


def _seeds_used(found: Enough) -> Iterator[str]:
    if not found.known:
        return
    asked = ", ".join(
        dict.fromkeys(f"{each.target.metric} ±{100 * each.target.relative:g} %" for each in found.known)
    )
    runs = [(outcome.job.point, outcome.run) for outcome in found.outcomes]
    if found.is_alike and are_equal_over_seeds(runs):
        yield f"stopped at {found.seeds} seeds, as all seeds gave the same run"
    elif found.is_alike:
        yield f"stopped at {found.seeds} seeds, as {asked} is equal in all seeds"
    elif found.is_precise:
        yield f"stopped at {found.seeds} seeds: {asked} in every group at every point, in two checks in a row"
    else:
        yield f"stopped at {found.seeds} seeds, the maximum (--max-seeds), before {asked} was reached:"
        wide = [each for each in found.known if not each.is_precise]
        yield from map(_wide, wide[:_MOST_LINES])
        if len(wide) > _MOST_LINES:
            yield f"  and {len(wide) - _MOST_LINES} more"


def _wide(found: Known) -> str:
    metric, unit = found.target.metric, BY_NAME[found.target.metric].unit
    point = {path: value for path, value in found.point.items() if path != "engine"}
    name = ", ".join([f"{metric} of {found.of}", *point_shown(point)])
    if found.modes:
        share = 100 * found.modes.low.share.half_width
        return f"  {name}: two modes, whose probability is known to ±{share:.0f} points, not ±{100 * SHARE:g}"
    half, allowed = widths_shown((found.interval.half_width, found.allowed), unit, metric)
    width = f"±{half} {difference_unit_shown(unit, metric)}".rstrip()
    return f"  {name}: {width}, not ±{allowed}"
