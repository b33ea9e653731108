"""Cells that cannot be tested, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from fullpipe.errors import ScenarioError, brief

Cell = tuple[str, ...]
"""A level of every factor."""
Cells = Mapping[Cell, Mapping[int, float]]
"""Values by cell, and by seed within it."""
_MOST_NAMED = 3


def check_cells(cells: Cells, levels: Sequence[Sequence[str]], *, blocked: bool) -> None:
    """Raise ScenarioError if a cell has one run, or one that is needed has none.

    Args:
        cells: Those that have runs.
        levels: Levels of every factor that any run has.
        blocked: Whether every cell has to be there with the same seeds.
    """
    missing = [cell for cell in product(*levels) if cell not in cells]
    if missing and (blocked or len(levels) > 1):
        how = "run the missing cells, or choose runs with --where"
        raise ScenarioError([f"no run has {named(map(shown, missing))}; {how}"])
    for cell, of_cell in cells.items():
        if len(of_cell) < 2:
            raise ScenarioError(
                [f"{shown(cell)} has one run, of which no spread is known; run it with --seeds 20"]
            )
    if blocked:
        _check_seeds(cells)


def _check_seeds(cells: Cells) -> None:
    seeds = {seed for of_cell in cells.values() for seed in of_cell}
    for cell, of_cell in cells.items():
        if lacking := sorted(seeds - set(of_cell)):
            which = f"seed{'s' if len(lacking) > 1 else ''} {named(map(str, lacking))}"
            raise ScenarioError(
                [f"{shown(cell)} has no run of {which}; run the missing cells, or leave out --block seed"]
            )


def shown(cell: Cell) -> str:
    """A cell in words."""
    return brief(" with ".join(cell))


def named(names: Iterable[str]) -> str:
    """Names with commas; of many the first ones."""
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMED} more" if len(listed) > _MOST_NAMED else ""
    return f"{', '.join(listed[:_MOST_NAMED])}{more}"
