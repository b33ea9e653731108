"""Plain text for reports: wrapped prose, and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from fullpipe.studies.verdicts import Verdict


def wrapped(sentences: str) -> str:
    """Prose in lines of a hundred characters."""
    return textwrap.fill(sentences, 100)


def aligned(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Rows of words in columns; the columns of these numbers to the right. The first row is underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

    def line(row: Sequence[str]) -> str:
        cells = [
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([line(rows[0]), "  ".join("-" * w for w in widths), *(line(row) for row in rows[1:])])


def shortened(text: str, width: int = 40) -> str:
    """At most so many characters, an ellipsis for the rest."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def tally(verdicts: Iterable[Verdict | str]) -> str:
    """How often each verdict was given, the best first."""
    given = [str(verdict) for verdict in verdicts]
    return ", ".join(f"{given.count(str(v))} {v}" for v in Verdict if str(v) in given)
