"""Compact letter display: letters that show which groups differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from string import ascii_letters


def compact_letters(order: Sequence[int], differing: Iterable[tuple[int, int]]) -> list[str]:
    """Letters of groups: two groups share a letter exactly if they are not listed as different.

    The steps are insert, absorb and sweep. At first all groups share one letter. Insert: each pair that
    differs splits every letter that both have into two, one without the first group and one without the
    second. Absorb: a letter is dropped if all its groups share another one. Sweep: a group loses a letter if
    it shares another letter with every group of it.

    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal
    of Computational and Graphical Statistics 13(2).

    Args:
        order: The groups, 0 to n - 1, in the order in which they get letters, usually by falling mean.
        differing: The pairs of groups that differ.

    Returns:
        The letters of every group, by its number; beyond 52 letters, numbers in parentheses.

    >>> compact_letters([0, 1, 2], [(0, 2)])
    ['a', 'ab', 'b']
    """
    pairs = [frozenset(pair) for pair in differing]
    columns = [frozenset(order)]
    for pair in pairs:
        split = [part for column in columns for part in _without(column, pair)]
        columns = _absorbed(split)
    rank = {group: place for place, group in enumerate(order)}
    swept = sorted(_swept(columns, order), key=lambda column: sorted(rank[group] for group in column))
    names = [_name(n) for n in range(len(swept))]
    return [
        "".join(name for name, column in zip(names, swept, strict=True) if group in column)
        for group in sorted(order)
    ]


def _without(column: frozenset[int], pair: frozenset[int]) -> list[frozenset[int]]:
    return [column - {group} for group in sorted(pair)] if pair <= column else [column]


def _absorbed(columns: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Remove duplicates, and columns whose groups are all in another column."""
    each = list(dict.fromkeys(columns))
    return [one for one in each if not any(one < other for other in each)]


def _swept(columns: Sequence[frozenset[int]], order: Sequence[int]) -> list[frozenset[int]]:
    """Remove a group from a column if it shares another column with every other group of it."""
    found = [set(column) for column in columns]
    for column in found:
        for group in reversed(order):
            others = [other for other in found if other is not column]
            if group in column and _is_said_elsewhere(group, column, others):
                column.remove(group)
    return [frozenset(column) for column in found if column]


def _is_said_elsewhere(group: int, column: Collection[int], others: Iterable[Collection[int]]) -> bool:
    with_group = [other for other in others if group in other]
    return bool(with_group) and all(any(each in other for other in with_group) for each in column)


def _name(number: int) -> str:
    return ascii_letters[number] if number < len(ascii_letters) else f"({number + 1})"
