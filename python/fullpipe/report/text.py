"""Untrusted text made safe to show, and words that several sections use."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fullpipe.analysis.shown import listed
from fullpipe.errors import visible

__all__ = ["counted", "folded", "left_out", "lines_visible", "listed", "told_apart"]


def lines_visible(text: str) -> str:
    """Text with control and invisible characters escaped, such as marks that change the text direction.

    >>> lines_visible("a\\u202eb\\nc")
    'a\\\\u202eb\\nc'
    """
    return re.sub(r"[^\n]+", lambda line: visible(line[0].replace("\t", "    ")), text)


def counted(number: int, thing: str) -> str:
    """A number with its noun in the singular or plural.

    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def folded(shown: int, total: int, things: str, where: str) -> str:
    """A sentence on the number of rows in the details; empty if all rows are shown.

    >>> folded(10, 56, "findings", "All verdicts")
    '46 more findings are in Details, under All verdicts.'
    """
    return f"{total - shown:,} more {things} are in Details, under {where}." if shown < total else ""


def left_out(shown: int, total: int, things: str, where: str = "") -> str:
    """A sentence on the number of rows that are left out; empty if all rows are shown.

    >>> left_out(10, 12, "rows")
    'The first 10 of 12 rows are shown; 2 are left out.'
    """
    if shown >= total:
        return ""
    rest = total - shown
    there = f" {where}" if where else ""
    verb = "is" if rest == 1 else "are"
    return f"The first {shown:,} of {total:,} {things} are shown; {rest:,} {verb} left out{there}."


def told_apart(rows: Sequence[Sequence[str]]) -> tuple[list[str], str]:
    """Names of rows without the words that all rows share, and a sentence with the shared words.

    >>> told_apart([["goodput", "mine", "5 Mbit/s"], ["goodput", "beside", "5 Mbit/s"]])
    (['mine', 'beside'], ' In every row: goodput, 5 Mbit/s.')
    """
    columns = list(zip(*rows, strict=True))
    shared = {place: words[0] for place, words in enumerate(columns) if len({*words}) == 1 < len(rows)}
    names = [[word for place, word in enumerate(row) if place not in shared and word] for row in rows]
    if not all(names):
        shared, names = {}, [list(filter(None, row)) for row in rows]
    told = ", ".join(filter(None, shared.values()))
    return [", ".join(name) for name in names], f" In every row: {told}." if told else ""
