"""Runs of several variants with the same seeds: what is better, in words, in a table and in a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from fullpipe.analysis.values import value_text
from fullpipe.report.content import Items, Section, Text
from fullpipe.report.rows import table_of, with_sides
from fullpipe.report.runs.points import Points, ordered
from fullpipe.report.said import HOW_COMPARED, summary
from fullpipe.scenario.quantities import as_numbers
from fullpipe.validation.compare.matching import Variant
from fullpipe.validation.compare.variants import VariantComparison, compare_all
from fullpipe.validation.over import HEADLINES

Comparisons = Sequence[VariantComparison]
_MOST_VARIANTS, _MOST_COMPARISONS = 6, 40
_FOLDED = 30


def compared(found: Points) -> list[VariantComparison]:
    """Every value of one path against the first, at every point of the others; nothing if that says little.

    The path is that of an algorithm, or else the first that has few values, which are names. Runs of several
    engines, of one seed, or of other seeds on the two sides are not compared. All are one family: see
    `compare_all`.
    """
    path = _compared_path(found)
    if path is None or len(found.seeds) < 2:
        return []
    others = [each for each in found.paths if each != path]
    sides = []
    for part in found.values.partition_by(others, maintain_order=True) if others else [found.values]:
        point = {found.words[each]: part[each][0] for each in others}
        first, *rest = [_variant(found, part, path, value) for value in ordered(part[path].to_list())]
        sides += [(point, first, other) for other in rest]
    try:
        made = compare_all(sides, HEADLINES)
    except ValueError:  # they do not measure the same, or have other seeds
        return []
    return made if len(made) <= _MOST_COMPARISONS else []


def _compared_path(found: Points) -> str | None:
    few = [path for path in found.paths if _are_few_names(found.values[path].unique().to_list())]
    named = [path for path in few if path.endswith("cca")]
    return None if "engine" in found.paths else next(iter([*named, *few]), None)


def _are_few_names(values: Sequence[Any]) -> bool:
    return len(values) <= _MOST_VARIANTS and as_numbers(values) is None


def _variant(found: Points, part: pl.DataFrame, path: str, value: Any) -> Variant:
    rows = part.filter(pl.col(path) == value)
    point = {each: rows[each][0] for each in found.paths}
    place = next(n for n, each in enumerate(found.points) if _same(each, point))
    return Variant(value_text(value), found.runs[place].scenario, rows)


def _same(point: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    return all(value_text(point[path]) == value_text(row[path]) for path in row if path in point)


def sentences(made: Comparisons) -> Iterator[str]:
    """A sentence per variant, over all points."""
    sides: dict[tuple[str, str], list[VariantComparison]] = {}
    for one in made:
        sides.setdefault((one.other, one.reference), []).append(one)
    for (other, reference), of in sides.items():
        yield f"{other} against {reference}: {summary(_rows(of))}."


def _rows(made: Comparisons) -> list[dict[str, Any]]:
    """The rows of all comparisons as files have them."""
    return [row for one in made for row in with_sides(one.to_dict())]


def section(made: Comparisons, rows: int) -> Section:
    """All verdicts, and how they come about."""
    notes = list(dict.fromkeys(note for one in made for note in one.notes))
    more = [Items(notes)] if notes else []
    table = table_of(_rows(made), "Differences and verdicts", rows, folded_from=_FOLDED)
    return Section("Verdicts", [Text(HOW_COMPARED), table, *more])
