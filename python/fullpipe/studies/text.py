"""Text of reports and of papers: digits of printed numbers, bounds of quantities, and tables in plain
text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from textwrap import wrap

from fullpipe.analysis.metrics.measure import NO_LESS_THAN_0, PART, Bounds
from fullpipe.analysis.statistics import Interval, t_interval
from fullpipe.studies.verdicts import Verdict

# Comparison of computed numbers with the digits of printed numbers.


ZERO = "0"
"""A printed zero. It does not mean a number that rounds to zero: the value underflowed on the computer that
printed it."""


def as_printed(value: float, printed: str) -> str:
    """Return a number as text, with as many digits after the point as a printed number.

    >>> as_printed(162_530_024.0, "1.63E+08")
    '1.63E+08'
    >>> as_printed(2.31999, "2.3200")
    '2.3200'
    """
    digits, exponent, _ = printed.upper().partition("E")
    if printed == ZERO:
        return ZERO if value == 0 else f"{value:.2E}"
    places = len(digits.partition(".")[2])
    return f"{value:.{places}{'E' if exponent else 'f'}}"


def is_as_printed(value: float, printed: str) -> bool:
    """Whether a number equals a printed number to the last printed digit.

    >>> is_as_printed(92.09931076, "92.0993107"), is_as_printed(92.09931074, "92.0993107")
    (False, True)
    """
    return as_printed(value, printed) == printed


def is_cut_off(value: float, printed: str) -> bool:
    """Whether a number, truncated instead of rounded, equals a printed number.

    >>> is_cut_off(92.09931076, "92.0993107"), is_cut_off(1.23461e-173, "1.2346E-17")
    (True, True)
    >>> is_cut_off(92.09931066, "92.0993107")
    False
    """
    digits, exponent, _ = printed.upper().partition("E")
    places = len(digits.partition(".")[2])
    whole = as_printed(value, printed) if exponent else f"{value:.{places + 6}f}"
    return whole.startswith(printed) and not is_as_printed(value, printed)


# Smallest and largest possible values of the quantities of studies. Intervals of means are truncated at these
# bounds.


_PERCENT, _SIGNED = (0.0, 100.0), (-inf, inf)
_BOUNDS: Mapping[str, Bounds] = {
    "jain": PART,
    "share": PART,
    "short_share": PART,
    "share_change": (-1.0, 1.0),
    "lost_percent": _PERCENT,
    "cubic_lost_percent": _PERCENT,
    "bbr_lost_percent": _PERCENT,
    "retransmitted_percent": _PERCENT,
    "regular_drops_percent": _PERCENT,
    "cuts_percent": _PERCENT,
    "long_share_percent": _PERCENT,
    "link": _PERCENT,
    "growth_percent": (-100.0, 100.0),
    "growth_ms": _SIGNED,
    "lead_mbps": _SIGNED,
    "drop": (-inf, 1.0),
    "cut": (-inf, 1.0),
    "change": _SIGNED,
}
"""Bounds of quantities, by the name of the quantity without its trailing number. All other quantities have
the lower bound 0."""


def bounds_of(quantity: str) -> Bounds:
    """Return the smallest and largest possible value of a quantity, in its unit.

    >>> bounds_of("drop_2"), bounds_of("jain_cubic"), bounds_of("rtt_ms")
    ((-inf, 1.0), (0.0, 1.0), (0.0, inf))
    """
    name = quantity.rstrip("0123456789").removesuffix("_")
    return _BOUNDS.get("jain" if name.startswith("jain_") else name, NO_LESS_THAN_0)


def interval_of(quantity: str, values: Sequence[float]) -> Interval | None:
    """Return Student's 95 % interval of the mean, truncated at the quantity's bounds; None for fewer than two
    values."""
    return t_interval(values).clipped(*bounds_of(quantity)) if len(values) > 1 else None


# Plain text of reports: prose in lines, and tables that fit into a terminal.


_PROSE = 100
"""Width of prose, in characters, if the terminal's width is unknown."""
_ROOM = 18
"""Smallest width, in characters, to which a column with longer text is narrowed."""
_BETWEEN = "  "


@dataclass(frozen=True, slots=True)
class Aligned:
    """A table in plain text with aligned columns."""

    rows: Sequence[Sequence[str]]
    right: Collection[int] = ()
    """Indices of columns that are right-aligned and never wrapped."""
    cut: Mapping[int, int] = field(default_factory=dict)
    """Largest width of a column in characters if the terminal's width is unknown, by the index of the
    column."""
    has_heads: bool = True
    """Whether the first row has the column heads, below which a line is drawn."""

    def __str__(self) -> str:
        """Return the table at its full width."""
        if not self.has_heads:
            return self.fitted(_PROSE)
        rows = [
            [shortened(cell, self.cut[i]) if i in self.cut else cell for i, cell in enumerate(row)]
            for row in self.rows
        ]
        columns = range(len(rows[0]))
        return self._drawn(rows, columns, [max(len(row[i]) for row in rows) for i in columns])

    def fitted(self, columns: int) -> str:
        """Return the table in lines of at most `columns` characters, without breaking words.

        A table that is too wide becomes several tables, each of which repeats the first column.
        """
        widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
        words = [
            max((len(word) for row in self.rows for word in row[i].split()), default=0)
            for i in range(len(widths))
        ]
        least = [
            width if i in self.right else min(width, max(word, _ROOM))
            for i, (width, word) in enumerate(zip(widths, words, strict=True))
        ]
        blocks: list[list[int]] = [[0]]
        for i in range(1, len(widths)):
            if len(blocks[-1]) > 1 and _total([least[k] for k in (*blocks[-1], i)]) > columns:
                blocks.append([0])
            blocks[-1].append(i)
        return "\n\n".join(self._squeezed(block, widths, least, columns) for block in blocks)

    def _squeezed(
        self, block: Sequence[int], widths: Sequence[int], least: Sequence[int], columns: int
    ) -> str:
        """Draw the columns in `block` with at most `columns` characters. The text of the widest columns is
        wrapped."""
        room = [widths[i] for i in block]
        while _total(room) > columns and (wide := [k for k, i in enumerate(block) if room[k] > least[i]]):
            room[max(wide, key=lambda k: room[k])] -= 1
        return self._drawn(self.rows, block, room)

    def _drawn(self, rows: Sequence[Sequence[str]], block: Sequence[int], room: Sequence[int]) -> str:
        lines = []
        for n, row in enumerate(rows):
            cells = [_wrapped(row[i], width) for i, width in zip(block, room, strict=True)]
            for k in range(max(map(len, cells))):
                parts = [cell[k] if k < len(cell) else "" for cell in cells]
                aligned = [
                    part.rjust(width) if i in self.right else part.ljust(width)
                    for part, i, width in zip(parts, block, room, strict=True)
                ]
                lines.append(_BETWEEN.join(aligned).rstrip())
            if n == 0 and self.has_heads:
                lines.append(_BETWEEN.join("-" * width for width in room))
        return "\n".join(lines)


def written(parts: Iterable[str | Aligned]) -> str:
    """Join the parts of a report: prose in lines of at most 100 characters, and tables at their full
    width."""
    return "\n\n".join(str(part) if isinstance(part, Aligned) else _filled(part, _PROSE) for part in parts)


def fitted(parts: Iterable[str | Aligned], columns: int) -> str:
    """Join the parts of a report for a terminal with this number of columns."""
    return "\n\n".join(
        part.fitted(columns) if isinstance(part, Aligned) else _filled(part, columns) for part in parts
    )


def shortened(text: str, width: int = 40) -> str:
    """Shorten text to at most `width` characters. Shortened text ends with an ellipsis."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def tally(verdicts: Iterable[Verdict | str]) -> str:
    """Return the number of each verdict as text, with the best verdict first."""
    given = [str(verdict) for verdict in verdicts]
    return ", ".join(f"{given.count(str(v))} {v}" for v in Verdict if str(v) in given)


def _filled(prose: str, columns: int) -> str:
    """Wrap prose without breaking words. Existing line breaks stay."""
    return "\n".join("\n".join(_wrapped(line, columns)) for line in prose.split("\n"))


def _wrapped(cell: str, width: int) -> list[str]:
    return wrap(cell, width, break_long_words=False, break_on_hyphens=False) if len(cell) > width else [cell]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_BETWEEN) * (len(widths) - 1)
