"""Tables and styled text on a terminal. It takes a while to import."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from fullpipe.cli.output import plain

_SHORTEST = 11
"""Of a column of words."""


def terminal(*, stderr: bool = False) -> Console:
    """A terminal that takes text as it is: nothing in it is markup, and control characters are escapes."""
    return _Plain(stderr=stderr, highlight=False, markup=False, emoji=False)


def styled(text: str, style: str) -> Text:
    """Text in a style, such as "bold" or "yellow"."""
    return Text(text, style=style)


def led(text: str, style: str, rest: str) -> Text:
    """Text of which the beginning is in a style."""
    return Text.assemble((text, style), rest)


def table(first: str, *numbers: str, last: str | None = None) -> Table:
    """A table without lines: names at the left, numbers at the right of their columns, and words behind.

    Where a terminal is too narrow, names and words go on in the next line. Numbers stay whole.
    """
    made = _bare()
    made.add_column(first, overflow="fold", min_width=_SHORTEST)
    for heading in numbers:
        made.add_column(heading, justify="right", no_wrap=True)
    if last is not None:
        made.add_column(last, overflow="fold", min_width=_SHORTEST)
    return made


def listing(*headings: str) -> Table:
    """A table of words without lines, of which the last column goes on in the next line."""
    made = _bare(show_header=any(headings))
    for heading in headings:
        made.add_column(heading, overflow="fold", no_wrap=True)
    made.columns[-1].no_wrap = False
    return made


def _bare(*, show_header: bool = True) -> Table:
    padding = (0, 1, 0, 0)
    return Table(box=None, pad_edge=False, padding=padding, header_style="bold", show_header=show_header)


class _Plain(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is drawn, piece by piece, without what a terminal would obey."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(plain(piece.text), piece.style)
