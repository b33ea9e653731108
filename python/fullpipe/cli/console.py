"""Tables and styled text on a terminal. Importing this module is slow, as it imports rich."""

import re
import sys
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from fullpipe.cli.output import has_colours, in_lines, plain, prose_width, width

_SHORTEST = 11
"""Minimum width of a column of words, in characters."""
_INDENT = "  "
"""Indent of continuation lines."""
_SPACE = re.compile(r"\s")
_LONGEST_WORD = 40
"""Maximum length of a word, in characters; longer words, such as paths, may be broken."""


def terminal(*, stderr: bool = False) -> Console:
    """A terminal that prints text literally, without markup, with control characters escaped."""
    colours: Any = "auto" if has_colours(sys.stderr if stderr else sys.stdout) else None
    columns = None if stderr else width()  # if None, rich uses the current width of the terminal
    return _Plain(
        stderr=stderr, width=columns, color_system=colours, highlight=False, markup=False, emoji=False
    )


def styled(text: str, style: str) -> Text:
    """Text in a style, such as "bold" or "yellow"."""
    return Text(text, style=style)


def led(text: str, style: str, rest: str) -> Text:
    """`text` in a style, followed by `rest` in plain style."""
    return Text.assemble((text, style), rest)


def table(first: str, *numbers: str, last: str | None = None) -> Table:
    """A table without ruled lines: names aligned left, numbers aligned right, and a last column of words.

    On a narrow terminal, names and words wrap between words. Numbers never wrap.
    """
    made = _bare()
    made.add_column(first, overflow="fold", min_width=_SHORTEST)
    for heading in numbers:
        made.add_column(heading, justify="right", no_wrap=True)
    if last is not None:
        made.add_column(last, overflow="fold", min_width=_SHORTEST)
    return made


def listing(*headings: str) -> Table:
    """A table of words without ruled lines, whose last column wraps."""
    made = _bare(show_header=any(headings))
    for heading in headings:
        made.add_column(heading, overflow="fold", no_wrap=True)
    made.columns[-1].no_wrap = False
    return made


def _bare(*, show_header: bool = True) -> Table:
    padding = (0, 1, 0, 0)
    return _Whole(box=None, pad_edge=False, padding=padding, header_style="bold", show_header=show_header)


class _Whole(Table):
    """A table that never breaks words or numbers, even if the table is then wider than the terminal."""

    def add_row(self, *cells: Any, **more: Any) -> None:
        """Add a row; each column is at least as wide as its longest unbreakable part."""
        pairs = list(zip(self.columns, cells, strict=False))
        for column, cell in pairs:
            longest = max(_longest(cell, column.no_wrap), _longest(column.header, column.no_wrap))
            column.min_width = max(column.min_width or 0, min(longest, column.max_width or _LONGEST_WORD))
        super().add_row(*(cell if column.no_wrap else _Words(cell) for column, cell in pairs), **more)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines of the table."""
        least = sum((column.min_width or 0) + 1 for column in self.columns)
        yield from super().__rich_console__(console, options.update_width(max(least, options.max_width)))


def _longest(cell: Any, no_wrap: bool) -> int:
    """The length of the longest unbreakable part of a cell."""
    parts = str(cell).split("\n") if no_wrap else _Words(cell).parts()
    return max((len(plain(part)) for part in parts), default=0)


class _Words:
    """Styled text that wraps at spaces and after hyphens."""

    def __init__(self, text: str | Text) -> None:
        self.text, self.style = str(text), text.style if isinstance(text, Text) else ""

    def parts(self) -> list[str]:
        """Unbreakable parts of the text."""
        return re.split(r"\s+|(?<=\w-)(?=\w)", self.text)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Minimum and maximum width of the text, in characters."""
        lines = self.text.split("\n")
        return Measurement(max(map(len, self.parts())), max(map(len, lines)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines of the text."""
        lines = (wrap(line, options.max_width) or [""] for line in self.text.split("\n"))
        yield Text("\n".join(part for of_line in lines for part in of_line), style=self.style)


class _Plain(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments with control characters escaped."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(plain(piece.text), piece.style)

    def print(self, *objects: Any, soft_wrap: bool | None = None, **more: Any) -> None:
        """Print. With `soft_wrap`, lines to a pipe are not wrapped unless COLUMNS is set: see `prose_width`.

        Nothing is cropped: text that is too wide for a terminal continues in the next line.
        """
        columns = prose_width(self.file) if soft_wrap else None
        if columns is not None:
            objects = tuple(_in_lines(each, columns) for each in objects)
        super().print(*objects, soft_wrap=bool(soft_wrap) and columns is None, **{"crop": False, **more})


def _in_lines(text: Any, columns: int) -> Any:
    """`text` wrapped between words into lines of at most `columns` characters. Styles are preserved."""
    if not isinstance(text, str | Text) or len(text) <= columns:
        return text
    whole = Text(text) if isinstance(text, str) else text.copy()
    whole.expand_tabs(1)
    lines: list[Text] = []
    for line in whole.split("\n", allow_blank=True):
        words, at = _SPACE.sub(" ", line.plain), 0
        for n, part in enumerate(in_lines(words, columns, _INDENT)):
            shown = part.removeprefix(_INDENT) if n else part
            at = words.index(shown, at)
            lines.append(Text(_INDENT if n else "") + line[at : at + len(shown)])
            at += len(shown)
    return Text("\n").join(lines)
