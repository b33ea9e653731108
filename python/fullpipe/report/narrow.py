"""Wide tables made narrower: what is the same in every row is said once."""

from __future__ import annotations

from dataclasses import replace

from fullpipe.report.content import Table

WIDE = 6
"""Columns of a table that needs no more than a page."""


def narrowed(table: Table) -> Table:
    """A wide table without the columns of which every row says the same, which its caption says instead.

    The first column, which names rows, and verdicts stay.

    >>> from fullpipe.report.content import Column
    >>> columns = [Column(name) for name in ("flow", "runs", "a", "b", "c", "d", "e")]
    >>> found = narrowed(Table("Means", columns, [["x", "10", *"12345"], ["y", "10", *"67890"]]))
    >>> found.caption, [column.name for column in found.columns]
    ('Means. In every row: runs 10', ['flow', 'a', 'b', 'c', 'd', 'e'])
    """
    if len(table.columns) <= WIDE or len(table.rows) < 2:
        return table
    same = {
        place: table.rows[0][place]
        for place, column in enumerate(table.columns)
        if place and not column.is_verdict and len({row[place] for row in table.rows}) == 1
    }
    if not same:
        return table
    left = [place for place in range(len(table.columns)) if place not in same]
    told = "; ".join(f"{table.columns[place].name} {value}" for place, value in same.items() if value != "-")
    return replace(
        table,
        caption=f"{table.caption}. In every row: {told}" if told else table.caption,
        columns=[table.columns[place] for place in left],
        rows=[[row[place] for place in left] for row in table.rows],
    )
