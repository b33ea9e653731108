"""Compact letter display: which of several groups differ, as letters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from string import ascii_letters


def compact_letters(order: Sequence[int], differing: Iterable[tuple[int, int]]) -> list[str]:
    """Letters of groups: two groups share a letter exactly if they are not said to differ.

    Insert, absorb and sweep. At first all groups have one letter in common. Each pair that differs splits
    every letter that both have into two, one without the first and one without the second; letters whose
    groups all have another in common are absorbed; and at last every group loses the letters that it shares
    with none that it does not share another one with.

    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal
    of Computational and Graphical Statistics 13(2).

    Args:
        order: The groups, 0 to n - 1, in the order in which letters are given out: as a rule by falling mean.
        differing: The pairs of groups that differ.

    Returns:
        The letters of every group, in the order of their numbers; of more than 52, numbers in parentheses.

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
    """Each once, without those that another has all groups of."""
    each = list(dict.fromkeys(columns))
    return [one for one in each if not any(one < other for other in each)]


def _swept(columns: Sequence[frozenset[int]], order: Sequence[int]) -> list[frozenset[int]]:
    """Without what says nothing: a group of a letter whose pairs with all others of it have another one."""
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
