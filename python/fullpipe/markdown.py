"""Text and tables in Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from fullpipe.errors import visible


def escaped(text: str) -> str:
    """Return text on one line with all markup and unprintable characters escaped.

    >>> escaped("<b> a|b\\n*c*")
    '&lt;b&gt; a\\\\|b \\\\*c\\\\*'
    """
    shown = html.escape(visible(" ".join(text.split())), quote=False)
    return re.sub(r"([|\\`*_{}\[\]~])|^([#+])(?=\s|$)|^(-)(?=\s)|^(\d+)([.)])(?=\s)", _marked, shown)


def _marked(found: re.Match[str]) -> str:
    number, mark = found[4], found[1] or found[2] or found[3] or found[5]
    return f"{number or ''}\\{mark}"


def table(head: Sequence[str], marks: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table with escaped cells. The mark of a column is `---` for text and `--:` for
    numbers."""
    written = (map(escaped, head), marks, *(map(escaped, row) for row in rows))
    return [f"| {' | '.join(cells)} |" for cells in written]
