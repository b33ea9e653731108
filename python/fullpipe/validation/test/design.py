"""Designs: one metric of a group of flows or a link, by the levels of factors, with one value per run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

from fullpipe.analysis.over_seeds import paths_of
from fullpipe.analysis.points import path_called
from fullpipe.analysis.values import value_text
from fullpipe.errors import ScenarioError, UnknownNameError, brief
from fullpipe.scenario.quantities import as_numbers
from fullpipe.validation.compare.finding import Note, Subject

Cell = tuple[str, ...]
"""One level of every factor."""
Cells = Mapping[Cell, Mapping[int, float]]
"""Values by cell, and by seed within the cell."""
_MOST_NAMED = 3
_TIMES = ("time", "time_s", "sample", "samples")


@dataclass(frozen=True)
class Design:
    """The values of a subject, by cell and by seed within the cell."""

    subject: Subject
    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    """Levels of every factor, the reference first."""
    cells: Mapping[Cell, Mapping[int, float]]

    @property
    def is_blocked(self) -> bool:
        """Whether every cell has the same seeds."""
        return len({frozenset(of_cell) for of_cell in self.cells.values()}) == 1

    @property
    def seeds(self) -> list[int]:
        """Seeds of the first cell, in ascending order."""
        return sorted(next(iter(self.cells.values())))

    def values(self, cell: Cell) -> list[float]:
        """Values of a cell in the order of its seeds."""
        of_cell = self.cells[cell]
        return [of_cell[seed] for seed in sorted(of_cell)]

    @property
    def is_constant(self) -> bool:
        """Whether all seeds of a cell give the same value, in every cell."""
        return all(len(set(of_cell.values())) == 1 for of_cell in self.cells.values())


def factor_called(word: str, values: pl.DataFrame) -> str:
    """Return the column that a word names: a path, the end of a path, the key of variants, or the engine.

    Raises:
        ScenarioError: If the word means time or samples.
        UnknownNameError: If runs do not differ in such a column.
    """
    known = [path for path in paths_of(values) if values[path].n_unique() > 1]
    if word in _TIMES:
        raise ScenarioError([f"{word}: samples of one run are not replicates, so time cannot be a factor"])
    path = path_called(word, known)
    if path is None:
        raise (
            UnknownNameError("factor", word, known)
            if known
            else ScenarioError(
                [f"{brief(word)}: runs differ in nothing but their seeds; sweep it in the scenario"]
            )
        )
    return path


def designs(
    values: pl.DataFrame,
    factors: Sequence[str],
    *,
    blocked: bool = False,
    of: Sequence[str] = (),
    reference: str | None = None,
) -> tuple[list[Design], list[str]]:
    """Return the designs of a table of values.

    Args:
        values: Values as `values_of` returns them.
        factors: One to three columns of `values`, as `factor_called` finds them.
        blocked: Whether every cell must have the same seeds.
        of: Groups of flows or links; default: all.
        reference: The level of the first factor that other levels are compared with; default: its first
            level.

    Returns:
        One design per subject, and notes on left-out subjects.

    Raises:
        ScenarioError: If a cell is missing or has one run, seeds change nothing, or there is nothing to test.
        UnknownNameError: If a group, link or level is unknown.
    """
    chosen = _of_groups(values, of)
    levels = {factor: _levels(values[factor]) for factor in factors}
    if reference is not None:
        levels[factors[0]] = _first(levels[factors[0]], reference)
    others = [path for path in paths_of(values) if path not in factors and values[path].n_unique() > 1]
    found, notes = [], dict[str, None]()
    keys = [*others, "kind", pl.coalesce(pl.col("entry").cast(pl.String), "of").alias("place"), "metric"]
    for key, rows in chosen.group_by(keys, maintain_order=True):
        point = {path: value for path, value in zip(others, key, strict=False) if value is not None}
        if rows["value"].is_null().all():
            continue
        design = _design(rows, factors, levels, point)
        problem = _left_out(design, rows, blocked=blocked)
        if problem:
            notes[problem] = None
            continue
        _check_cells(design.cells, list(levels.values()), blocked=blocked)
        found.append(design)
    if not found:
        raise ScenarioError([_nothing(others, factors, list(notes))])
    if all(design.is_constant for design in found):
        metrics = ", ".join(dict.fromkeys(design.subject.metric for design in found))
        raise ScenarioError(
            [
                f"all seeds gave the same values of {metrics}, so that there is one value per cell; test"
                " another metric, or, if runs are equal, give flows a start_jitter, such as"
                ' "100 ms", or random loss'
            ]
        )
    constant = [design.subject.name for design in found if design.is_constant]
    notes.update({f"{name} is left out: seeds change nothing": None for name in constant})
    return [design for design in found if not design.is_constant], list(notes)


def _of_groups(values: pl.DataFrame, of: Sequence[str]) -> pl.DataFrame:
    """The rows of groups and links, given by name or, for entries of `flows`, as `flows.0`."""
    if not of:
        return values
    place = "flows." + pl.col("entry").cast(pl.String)
    known = [
        *values["of"].unique(maintain_order=True),
        *values.select(place).to_series().drop_nulls().unique(),
    ]
    for name in of:
        if name not in known:
            raise UnknownNameError("group of flows or link", name, known)
    entries = values.filter(pl.col("of").is_in(of) | place.is_in(of))["entry"].drop_nulls().unique()
    return values.filter(
        pl.col("entry").is_in(entries.implode()) | (pl.col("entry").is_null() & pl.col("of").is_in(of))
    )


def _levels(column: pl.Series) -> list[str]:
    """Levels, sorted by size if they are quantities, else in the order of runs."""
    distinct = column.drop_nulls().unique(maintain_order=True).to_list()
    found = as_numbers(distinct)
    if found:
        distinct = [
            value for _, value in sorted(zip(found[0], distinct, strict=True), key=lambda pair: pair[0])
        ]
    return [value_text(value) for value in distinct]


def _first(levels: list[str], reference: str) -> list[str]:
    if reference not in levels:
        raise UnknownNameError("reference", reference, levels)
    return [reference, *(level for level in levels if level != reference)]


def _design(
    rows: pl.DataFrame, factors: Sequence[str], levels: Mapping[str, Sequence[str]], point: Mapping[str, Any]
) -> Design:
    cells: dict[Cell, dict[int, float]] = {}
    labels = dict.fromkeys(rows["of"])
    for row in rows.iter_rows(named=True):
        cell = tuple(value_text(row[factor]) for factor in factors)
        if row["value"] is None:
            continue
        _add(cells.setdefault(cell, {}), row, cell)
    here = tuple(
        tuple(level for level in levels[factor] if any(cell[n] == level for cell in cells))
        for n, factor in enumerate(factors)
    )
    first = rows.row(0, named=True)
    of = first["of"] if len(labels) == 1 else f"flows.{first['entry']}"
    subject = Subject(first["kind"], first["entry"], of, first["metric"], first["unit"], point)
    ordered = {cell: cells[cell] for cell in product(*here) if cell in cells}
    return Design(subject, tuple(factors), here, ordered)


def _add(of_cell: dict[int, float], row: Mapping[str, Any], cell: Cell) -> None:
    """Add a value to a cell. Runs of one seed with the same value count once."""
    seed, value = row["seed"], row["value"]
    if of_cell.setdefault(seed, value) != value:
        raise ScenarioError(
            [
                f"{_shown(cell)}: two runs of seed {seed} differ in {row['metric']}, and one number per"
                " seed is needed; delete those of the older version, or name what differs as a factor"
            ]
        )


def _left_out(design: Design, rows: pl.DataFrame, *, blocked: bool) -> Note:
    """Reason why a subject is not tested; empty if it is tested."""
    lacking, runs = int(rows["value"].is_null().sum()), rows.height
    if lacking:
        text = f"{design.subject.name} is left out: {lacking} of {runs} runs have no value"
        return Note(text, design.subject.metric, {"": (runs - lacking, runs)})
    if not blocked and any(len(levels) < 2 for levels in design.levels):
        return Note(f"points with one level of {', '.join(design.factors)} are left out")
    return Note("")


def _nothing(others: Sequence[str], factors: Sequence[str], notes: Sequence[str]) -> str:
    if any(note.startswith("points with one level") for note in notes):
        apart = _named(path for path in others)
        return f"{', '.join(factors)}: no two runs differ in it alone; all also differ in {apart}"
    return "; ".join(notes) or "no run has a value of the requested metrics and groups"


def _check_cells(cells: Cells, levels: Sequence[Sequence[str]], *, blocked: bool) -> None:
    """Raise ScenarioError if a cell has one run, or a needed cell has no run.

    Args:
        cells: Cells with runs.
        levels: Levels of every factor that any run has.
        blocked: Whether every cell must exist and have the same seeds.
    """
    missing = [cell for cell in product(*levels) if cell not in cells]
    if missing and (blocked or len(levels) > 1):
        how = "run the missing cells, or choose runs with --where"
        raise ScenarioError([f"no run has {_named(map(_shown, missing))}; {how}"])
    for cell, of_cell in cells.items():
        if len(of_cell) < 2:
            raise ScenarioError(
                [f"{_shown(cell)} has one run, so its spread is unknown; run it with --seeds 20"]
            )
    if blocked:
        _check_seeds(cells)


def _check_seeds(cells: Cells) -> None:
    seeds = {seed for of_cell in cells.values() for seed in of_cell}
    for cell, of_cell in cells.items():
        if lacking := sorted(seeds - set(of_cell)):
            which = f"seed{'s' if len(lacking) > 1 else ''} {_named(map(str, lacking))}"
            raise ScenarioError(
                [f"{_shown(cell)} has no run of {which}; run the missing cells, or leave out --block seed"]
            )


def _shown(cell: Cell) -> str:
    """A cell in words."""
    return brief(" with ".join(cell))


def _named(names: Iterable[str]) -> str:
    """Names with commas; if there are many, only the first names and the number of further names."""
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMED} more" if len(listed) > _MOST_NAMED else ""
    return f"{', '.join(listed[:_MOST_NAMED])}{more}"
