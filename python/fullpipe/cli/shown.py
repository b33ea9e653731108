"""Tables and headings for a terminal, and the numbers in them."""

from textwrap import wrap
from typing import Any

from rich.table import Table

from fullpipe.analysis.shown import (
    difference_shown,
    margin_shown,
    number_shown,
    point_shown,
    shown_in,
    unit_shown,
)

__all__ = [
    "LONGEST",
    "difference_shown",
    "heading",
    "listing",
    "margin_shown",
    "number_shown",
    "point_shown",
    "shown_in",
    "table",
    "unit_shown",
]
_SHORTEST = 11
"""Of a column of words."""
LONGEST = 20
"""Of a line of a heading."""


def heading(name: str) -> str:
    """The name of a group of flows or of a link, in several lines if it is long.

    >>> heading("download-from-the-basement").splitlines()
    ['download-from-the-', 'basement']
    """
    return "\n".join(wrap(name, LONGEST))


def table(first: str, *numbers: str, last: str | None = None) -> Any:
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


def listing(*headings: str) -> Any:
    """A table of words without lines, of which the last column goes on in the next line."""
    made = _bare(show_header=any(headings))
    for heading in headings:
        made.add_column(heading, overflow="fold", no_wrap=True)
    made.columns[-1].no_wrap = False
    return made


def _bare(*, show_header: bool = True) -> Any:
    padding = (0, 1, 0, 0)
    return Table(box=None, pad_edge=False, padding=padding, header_style="bold", show_header=show_header)
